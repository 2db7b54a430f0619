import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { notificationSettings } from '../../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../../lib/schema.ts'
import { noteLink } from '../../../../web/core/connection.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { startLock } from '../../../../web/core/lock.ts'
import { go } from '../../../../web/core/router.ts'
import { setWatchedMinutes, watchedForMs, watchTouches } from '../../../../web/model/account/user-activity.ts'
import { updateHome } from '../../../../web/model/home.ts'
import { hideAlert, shownAlert } from '../../../../web/model/notifications/alerts.ts'
import { startPageNotifications } from '../../../../web/model/notifications/page-notifications.ts'
import { readWorkerSettings } from '../../../../web/model/notifications/worker-settings.ts'
import { emptyHome } from '../../../../web/model/store.ts'
import { alerts } from '../../../../web/words/alerts.ts'
import { pageGlobals } from '../../kit/page-globals.ts'
import { sessionRow } from '../../kit/session-row.ts'

interface Notified {
  readonly notice?: string
  readonly kind?: string
  readonly session?: string
}

/** A page in use that shows `at`, with these notifications beside it. */
function openPage(t: Test, { shown = [], settings, at = 's0' }: { shown?: Notified[]; settings?: object; at?: string } = {}) {
  const page = pageGlobals(t)
  startLock()
  go({ name: 'session', id: at, view: [] })
  setWatchedMinutes(1)
  t.teardown(watchTouches(() => {}))
  t.teardown(hideAlert)

  const closed: string[] = []
  const registration = {
    async getNotifications(filter?: { tag: string }) {
      return shown
        .filter(({ session }) => filter === undefined || session === filter.tag)
        .map(data => ({ data, close: () => closed.push(data.notice ?? '') }))
    }
  }
  const listeners = new Set<(event: object) => void>()
  const reported: unknown[] = []
  const isReported = Promise.withResolvers<void>()
  const call = async (name: string, { body }: { body?: { receipt: string } }) => {
    if (name === 'readNotifications' && settings) return { settings, channels: [] }
    if (name === 'readNotifications') throw new Error('no network')
    reported.push([name, body?.receipt])
    isReported.resolve()
    return { success: true }
  }
  const socket = {
    onEphemeral(listener: (event: object) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
  // Only the members that are used.
  const [link, there] = [{ rest: { call }, socket }, registration] as unknown as Parameters<typeof startPageNotifications>
  const stop = startPageNotifications(link, there)
  t.teardown(stop)
  const hear = (kind: string, sessionId = 's1', more = {}) => {
    for (const listener of listeners) listener({ type: 'notice', kind, sessionId, noticeId: 'n1', ...more })
  }
  return { ...page, closed, hear, stop, settle: () => new Promise(setImmediate), reported, isReported: isReported.promise }
}

const silent = v.parse(notificationSettings, { decision: 'silent', finished: 'silent', failed: 'silent' })

t.test('a notice shows in the app, unless its session is on screen or nobody looks', async t => {
  const metadata = { path: '/work/pears', host: 'h', summary: { text: 'Pears', updatedAt: 1 } }
  const sessions = new Map([['s1', { ...sessionRow, id: 's1', metadata, last: undefined }]])
  updateHome({ type: 'restored', home: { ...emptyHome, sessions } })
  const rows: [string, { at?: string; isHidden?: boolean; minutes?: number; sessionId?: string; kind?: string }, string | undefined][] = [
    ['another session is on screen', {}, 'Pears'],
    ['a session that is not known', { sessionId: 's9' }, ''],
    ['the session is on screen', { at: 's1' }, undefined],
    ['the page is hidden', { isHidden: true }, undefined],
    ['the page is not in use', { minutes: 0 }, undefined],
    ['it is turned off', { kind: 'done' }, undefined]
  ]
  for (const [what, { at = 's0', isHidden = false, minutes = 1, sessionId = 's1', kind = 'question' }, body] of rows) {
    const page = openPage(t, { at, settings: { ...silent, finished: 'off', watchedMinutes: minutes } })
    await page.settle()
    if (isHidden) page.show(false)
    page.hear('seen', sessionId, { type: 'other' })
    page.hear(kind, sessionId)
    t.equal(shownAlert.value?.body, body, what)
    if (body !== undefined) t.same(shownAlert.value, { title: alerts.alert.question, body, path: `/s/${sessionId}`, isSilent: true })
    hideAlert()
    page.stop()
    page.hear(kind, sessionId)
    t.equal(shownAlert.value, undefined, 'nothing is heard after the end')
  }
})

t.test('settings that could not be read have their defaults, and change nothing', async t => {
  const page = openPage(t)
  setWatchedMinutes(3)
  await page.settle()
  t.ok(watchedForMs() > 60_000)
  page.hear('done')
  t.equal(shownAlert.value?.title, alerts.alert.done)
})

t.test('the page counts as in use for as long as the settings say', async t => {
  const page = openPage(t, { settings: { ...silent, watchedMinutes: 5 } })
  await page.settle()
  t.ok(watchedForMs() > 240_000)
})

t.test('a notice that is over closes its notification, without an alert', async t => {
  const page = openPage(t, {
    shown: [
      { notice: 'n1', session: 's1' },
      { notice: 'n2', session: 's1' }
    ]
  })
  page.hear('settled')
  await page.settle()
  t.same([page.closed, shownAlert.value], [['n1'], undefined])
})

t.test('a session on screen closes its notifications once it is seen', async t => {
  const shown = [
    { notice: 'n0', session: 's0' },
    { notice: 'n1', session: 's1' }
  ]
  const page = openPage(t, { shown })
  await page.settle()
  t.same(page.closed, ['n0'])
  page.show(false)
  go({ name: 'session', id: 's1', view: [] })
  await page.settle()
  t.same(page.closed, ['n0'], 'a hidden page does not show it')
  page.show(true)
  await page.settle()
  t.same(page.closed, ['n0', 'n1'])
  page.stop()
  go({ name: 'session', id: 's0', view: [] })
  page.show(true)
  await page.settle()
  t.same(page.closed, ['n0', 'n1'], 'nothing is closed after the end')
})

t.test('once the data is current, answered decisions close and missed arrivals are reported', async t => {
  t.teardown(() => noteLink({ socket: 'none', feed: 'none' }))
  const db = await deviceDb()
  await db.write('push-receipts', ['r1'])
  const page = openPage(t, { shown: [{ notice: 'n1', kind: 'permission', session: 's1' }] })
  await page.settle()
  t.same([page.closed, page.reported], [[], []], 'the device may know less than the server')
  noteLink({ socket: 'live', feed: 'live' })
  await page.isReported
  t.same([page.closed, page.reported], [['n1'], [['acknowledgePush', 'r1']]])
})

t.test('the worker is told whether the app has a lock, and its language', async t => {
  const db = await deviceDb()
  const page = openPage(t)
  await page.settle()
  t.match(await readWorkerSettings(db), { isLocked: false, language: 'en' })
  page.storeElsewhere('afield-lock', JSON.stringify({ choice: 'after5', id: 'AAAA' }))
  await page.settle()
  t.match(await readWorkerSettings(db), { isLocked: true, language: 'en' })
})
