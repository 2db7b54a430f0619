import t, { type Test } from 'tap'
import { Refused, Unreachable } from '../../../../lib/client/index.ts'
import { type NotificationSettings, notificationSettings } from '../../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../../lib/schema.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import {
  isOutOfDate,
  notificationsOf,
  removeChannel,
  sendTest,
  tomorrowMorning
} from '../../../../web/model/notifications/notifications.ts'

const defaults = v.parse(notificationSettings, {})

/** A server that stores the settings of one device. */
function server(t: Test) {
  const kept: { settings: NotificationSettings | null; fails: Error | undefined; writes: NotificationSettings[] } = {
    settings: null,
    fails: undefined,
    writes: []
  }
  const call = async (name: string, { body }: { body?: { settings: NotificationSettings } }) => {
    if (kept.fails) throw kept.fails
    if (name === 'readNotifications') return { settings: kept.settings, channels: [] }
    t.equal(name, 'writeNotifications')
    kept.settings = body?.settings ?? null
    if (body) kept.writes.push(body.settings)
    return { success: true }
  }
  // The only member of the link that is used.
  const link = { rest: { server: '', call } } as unknown as Pick<Live, 'rest'>
  return { kept, book: notificationsOf(link), link }
}

function settingsIn({ book }: ReturnType<typeof server>): NotificationSettings {
  const now = book.reading.peek()
  if (now.type !== 'loaded') throw new Error(now.type)
  return now.settings
}

t.test("a device that never chose has the protocol's defaults, and a choice is stored with its zone and language", async t => {
  const there = server(t)
  await there.book.read()
  t.same(settingsIn(there), defaults)
  await there.book.change(() => ({ finished: 'silent' }))
  t.equal(there.book.saving.peek(), 'saved')
  t.equal(there.kept.settings?.finished, 'silent')
  t.equal(there.kept.settings?.timeZone, Intl.DateTimeFormat().resolvedOptions().timeZone)
  t.equal(there.kept.settings?.language, 'en')
})

t.test('settings stored meanwhile by another tab stay', async t => {
  const there = server(t)
  await there.book.read()
  there.kept.settings = { ...defaults, machine: 'off', sessions: { s1: 'off' } }
  await there.book.change(({ sessions }) => ({ sessions: { ...sessions, s2: 'decisions' } }))
  t.equal(there.kept.settings?.machine, 'off')
  t.same(there.kept.settings?.sessions, { s1: 'off', s2: 'decisions' })
})

t.test('a choice that could not be stored stays selected, says why, and is stored on retry', async t => {
  const there = server(t)
  await there.book.read()
  there.kept.fails = new Unreachable('network')
  await there.book.change(() => ({ finished: 'off' }))
  await there.book.change(() => ({ failed: 'silent' }))
  t.equal(there.book.saving.peek(), 'unreached')
  t.match(settingsIn(there), { finished: 'off', failed: 'silent' })
  t.equal(there.kept.settings, null)

  there.kept.fails = undefined
  await there.book.again()
  t.equal(there.book.saving.peek(), 'saved')
  t.match(there.kept.settings, { finished: 'off', failed: 'silent' })
  await there.book.again()
  t.equal(there.kept.writes.length, 1, 'both in one, and once')
})

t.test('a choice made while another is being stored is stored after it', async t => {
  const there = server(t)
  await there.book.read()
  await Promise.all([there.book.change(() => ({ finished: 'off' })), there.book.change(() => ({ machine: 'sound' }))])
  t.match(there.kept.settings, { finished: 'off', machine: 'sound' })
  t.equal(there.kept.writes.length, 1)
  t.equal(there.book.saving.peek(), 'saved')
})

t.test('a rejection, a sign-in without a device and an outdated server are distinguished', async t => {
  const there = server(t)
  there.kept.fails = new Refused(404, 'Not found')
  await there.book.read()
  t.equal(there.book.reading.peek().type, 'unsupported')
  there.kept.fails = undefined
  await there.book.read()
  there.kept.fails = new Refused(404, 'Device not found')
  await there.book.change(() => ({ finished: 'off' }))
  t.equal(there.book.saving.peek(), 'no-device')
  there.kept.fails = new Refused(400, 'Error')
  await there.book.again()
  t.equal(there.book.saving.peek(), 'refused')
  there.kept.fails = new Unreachable('timeout')
  await there.book.read()
  t.equal(there.book.reading.peek().type, 'loaded', 'the previous settings are still shown')
})

t.test('all screens of one link share a store, and another link has its own', async t => {
  const [one, other] = [server(t), server(t)]
  t.equal(notificationsOf(one.link), one.book)
  t.not(notificationsOf(other.link), one.book)
})

t.test("settings with another zone or language than the device's are out of date", async t => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const here = { ...defaults, timeZone }
  t.notOk(isOutOfDate(here))
  t.ok(isOutOfDate({ ...here, timeZone: timeZone === 'Asia/Tokyo' ? 'UTC' : 'Asia/Tokyo' }))
  t.ok(isOutOfDate({ ...here, language: 'zh' }))
})

t.test('until tomorrow means seven in the morning after the next night, also late at night', async t => {
  t.equal(tomorrowMorning(new Date(2026, 4, 20, 22, 15)), new Date(2026, 4, 21, 7).getTime())
  t.equal(tomorrowMorning(new Date(2026, 4, 21, 1, 30)), new Date(2026, 4, 21, 7).getTime())
  t.equal(tomorrowMorning(new Date(2026, 4, 21, 6, 0)), new Date(2026, 4, 22, 7).getTime())
})

t.test('a test goes to one channel and says how it went; a channel is removed by its id', async t => {
  const asked: unknown[] = []
  const call = async (...of: unknown[]) => {
    asked.push(of)
    return { channels: [{ id: 'c1' }, { id: 'c2', state: 'sent' }] }
  }
  const link = { rest: { call } } as unknown as Pick<Live, 'rest'>
  t.match(await sendTest(link, 'c2'), { id: 'c2', state: 'sent' })
  t.equal(await sendTest(link, 'gone'), undefined)
  await removeChannel(link, { id: 'c1' } as Parameters<typeof removeChannel>[1])
  t.same(asked, [
    ['testNotification', { body: { channel: 'c2' } }],
    ['testNotification', { body: { channel: 'gone' } }],
    ['removeChannel', { params: { id: 'c1' } }]
  ])
})
