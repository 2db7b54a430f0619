import t, { type Test } from 'tap'
import { Unreachable } from '../../../lib/client/index.ts'
import type { ReplyOf } from '../../../lib/protocol/wire/routes.ts'
import type { Live } from '../../../web/model/account/live.ts'
import { testOf } from '../../../web/notifications/notification-test.ts'

type Channel = ReplyOf<'readNotifications'>['channels'][number]
type Tried = ReplyOf<'testNotification'>['channels'][number]

/** A server and a clock: each poll takes a second, and after `arrivesAfter` polls the test has arrived. */
function run(
  t: Test,
  { tried, arrivesAfter = 0, acknowledges = true }: { tried: Partial<Tried> | Error; arrivesAfter?: number; acknowledges?: boolean }
) {
  let looks = 0
  let now = 1
  t.intercept(Date, 'now', { value: () => now })
  const channel = (): Channel => ({
    ...{ id: 'c1', kind: 'web-push', isOwn: true, device: 'Phone', createdAt: 1, updatedAt: 1, acknowledges },
    health: {
      sent: 1,
      arrived: 0,
      typicalMs: null,
      slowestMs: null,
      last: [{ at: 1, kind: 'test', outcome: 'accepted', reason: null, arrivedAfterMs: looks > arrivesAfter ? 1200 : null }]
    }
  })
  const call = async (name: string) => {
    if (name === 'readNotifications') return { settings: null, channels: [channel()] }
    if (tried instanceof Error) throw tried
    return { channels: [{ id: 'c1', outcome: 'accepted', reason: null, ...tried }] }
  }
  const link = { rest: { server: '', call } } as unknown as Pick<Live, 'rest'>
  const seen: unknown[] = []
  const test = testOf(link, channel(), async ms => {
    seen.push(test.run.peek())
    looks++
    now += ms
  })
  return { test, seen }
}

t.test('a test is sent, and then shown once the device has acknowledged it', async t => {
  const { test, seen } = run(t, { tried: {}, arrivesAfter: 2 })
  const sending = test.send()
  t.same(test.run.peek(), { type: 'sending' })
  await sending
  t.match(seen[0], { type: 'sent', isLate: false })
  t.match(test.run.peek(), { type: 'shown', shownMs: 1200 })
})

t.test('after half a minute it says that nothing was shown, and keeps checking for a while', async t => {
  const { test, seen } = run(t, { tried: {}, arrivesAfter: 1000 })
  await test.send()
  t.match(seen[29], { isLate: false })
  t.match(seen[31], { isLate: true })
  t.match(test.run.peek(), { type: 'sent', isLate: true })
  t.equal(seen.length, 120)
})

t.test('for a service without receipts it says that the test was handed over', async t => {
  const { test } = run(t, { tried: {}, acknowledges: false })
  await test.send()
  t.same(test.run.peek(), { type: 'handed-over' })
})

t.test('a test that fails says why', async t => {
  const refused = run(t, { tried: { outcome: 'refused', reason: 'address not allowed' } }).test
  await refused.send()
  t.same(refused.run.peek(), { type: 'failed', why: 'not-allowed' })
  const offline = run(t, { tried: new Unreachable('network') }).test
  await offline.send()
  t.same(offline.run.peek(), { type: 'failed', why: 'unreached' })
})
