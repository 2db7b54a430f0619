import t from 'tap'
import { notificationSettings } from '../../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../../lib/schema.ts'
import { act } from '../../../../web/app/worker/actions.ts'
import { push as words } from '../../../../web/words/push.ts'

type Around = Parameters<typeof act>[0]

/** A worker on an unlocked device, and what it showed and requested. */
function world({ isLocked = false, mayAllow = false, fails = false } = {}) {
  const said: (string | undefined)[] = []
  const written: unknown[] = []
  let isClosed = false
  const rest = {
    async call(name: string, request: { body?: { settings: unknown } }) {
      if (fails) throw new Error('no network')
      if (name === 'readNotifications') return { settings: v.parse(notificationSettings, { finished: 'off' }), channels: [] }
      written.push(request.body?.settings)
      return { success: true }
    }
  }
  const worker = { registration: { showNotification: async (_: string, { body }: NotificationOptions) => void said.push(body) } }
  const known = { device: { rest, name: 'Phone' }, choices: { isLocked, mayAllow, language: 'en' } }
  const notification = { title: 'orchard', tag: 's1', close: () => (isClosed = true) }
  // Only the members of a worker that are used.
  const around = { worker, known, words } as unknown as Around
  const tap = (action: string) => act(around, { notification, about: { path: '/s/s1', session: 's1', notice: 'n1' }, action, reply: '' })
  return { said, written, tap, isClosed: () => isClosed }
}

t.test('snoozing changes no other setting of this device', async t => {
  const { said, written, tap } = world()
  const before = Date.now()
  t.equal(await tap('snooze'), true)
  const [settings] = written.map(each => v.parse(notificationSettings, each))
  t.equal(settings?.finished, 'off')
  t.ok((settings?.snoozedUntil ?? 0) - before >= 3600_000)
  t.same(said, [words.snoozed])
})

t.test('a snooze that did not reach the server says so', async t => {
  const { said, tap } = world({ fails: true })
  await tap('snooze')
  t.same(said, [words.notSnoozed])
})

t.test('on a locked device every button opens the app, and does nothing else', async t => {
  for (const action of ['snooze', 'deny', 'allow', 'reply']) {
    const { said, written, tap, isClosed } = world({ isLocked: true })
    t.equal(await tap(action), false, action)
    t.same([said, written, isClosed()], [[], [], true])
  }
})

t.test('without a preview nothing can be allowed, and it says that nothing was delivered', async t => {
  const { said, tap } = world({ mayAllow: true })
  await tap('allow')
  t.same(said, [words.sending, words.undelivered])
})
