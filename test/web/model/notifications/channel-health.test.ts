import t from 'tap'
import { causeOf, healthOf } from '../../../../web/model/notifications/channel-health.ts'
import type { Channel } from '../../../../web/model/notifications/notifications.ts'

const now = Date.UTC(2026, 4, 20, 12)
const minute = 60_000

type Sent = Channel['health']['last'][number]
const sent = (ago: number, given: Partial<Sent> = {}): Sent => ({
  ...{ at: now - ago * minute, kind: 'permission', outcome: 'arrived', reason: null, arrivedAfterMs: 1200 },
  ...given
})
const missed = (ago: number) => sent(ago, { outcome: 'accepted', arrivedAfterMs: null })
const healthWith = (last: Sent[], acknowledges = true) =>
  healthOf({ acknowledges, health: { sent: 0, arrived: 0, typicalMs: null, slowestMs: null, last } }, now)

t.test('the newest comes last, with its delay, and a missed one has no delay', async t => {
  const { arrivals, state, last } = healthWith([sent(3), missed(10), sent(20, { arrivedAfterMs: 3100 })])
  t.same(
    arrivals.map(each => (each.has === 'arrived' ? each.delayMs : 'missed')),
    [3100, 'missed', 1200]
  )
  t.equal(state, 'reaching')
  t.same(last, { at: now - 3 * minute, has: 'arrived', delayMs: 1200 })
})

t.test('two in a row that did not arrive are a miss; one is not, nor two with another in between', async t => {
  t.equal(healthWith([missed(3), missed(9), sent(20)]).state, 'missing')
  t.equal(healthWith([missed(3), sent(9), missed(20)]).state, 'reaching')
  t.equal(healthWith([missed(3)]).state, 'reaching')
  t.equal(healthWith([sent(1), missed(3), missed(9)]).state, 'reaching', 'one that arrives ends it')
})

t.test('one that may still arrive, was seen live, settled or collected does not count', async t => {
  const others = (['watched', 'settled', 'collected', 'waiting'] as const).map(outcome => sent(5, { outcome, arrivedAfterMs: null }))
  t.equal(healthWith(others).state, 'untried')
  t.equal(healthWith([missed(1)]).state, 'untried')
  t.equal(healthWith([missed(1 + 1 / minute)]).state, 'reaching', 'a minute is over')
  t.equal(healthWith([...others, missed(9), missed(12)]).state, 'missing')
  t.same(healthWith([sent(5, { outcome: 'settled', arrivedAfterMs: 900 })]).last, { at: now - 5 * minute, has: 'arrived', delayMs: 900 })
})

t.test('a channel without acknowledgements is trusted once it was handed over', async t => {
  t.same(healthWith([missed(3), missed(9)], false).arrivals.length, 2)
  t.equal(healthWith([missed(3), missed(9)], false).state, 'reaching')
  t.equal(
    healthWith([sent(3, { outcome: 'refused', arrivedAfterMs: null }), sent(9, { outcome: 'expired', arrivedAfterMs: null })], false).state,
    'missing'
  )
})

t.test('the cause follows from the results of the newest ones', async t => {
  t.equal(healthWith([missed(3), missed(9)]).cause, 'held-back')
  t.equal(healthWith([sent(3), missed(9)]).cause, undefined)
  t.equal(causeOf({ outcome: 'refused', reason: 'address not allowed' }), 'not-allowed')
  t.equal(causeOf({ outcome: 'refused', reason: 'HTTP 403' }), 'wants-token')
  t.equal(causeOf({ outcome: 'refused', reason: 'HTTP 500' }), 'refused')
  t.equal(causeOf({ outcome: 'gone', reason: 'HTTP 410' }), 'gone')
  t.equal(causeOf({ outcome: 'waiting', reason: 'no answer' }), 'no-answer')
})
