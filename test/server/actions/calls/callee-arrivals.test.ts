import t, { type Test } from 'tap'
import { accountTopic, type BusEvent } from '../../../../lib/bus/bus.ts'
import * as ids from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import { CalleeArrivals, unusedMs } from '../../../../lib/server/actions/calls/callee-arrivals.ts'
import { failingBus } from '../../../bus/failing-bus.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const topic = accountTopic(v.parse(ids.accountId, 'ada'))
const settled = () => new Promise(setImmediate)

function openWorld(t: Test) {
  const errors: unknown[] = []
  const bus = failingBus()
  const end = bus.open({ onError: error => t.error(error) })
  const clock = manualClock()
  const arrivals = new CalleeArrivals(end, clock, error => errors.push(error))
  const arrive = (method: string) => {
    const event: BusEvent = {
      ...{ type: 'callee-here', method, connection: v.parse(ids.connectionId, 'c'), stamp: 1, heldForMs: 0 }
    }
    end.publish(topic, event)
  }
  return { arrivals, arrive, bus, clock, end, errors, listeners: () => bus.listeners(topic) }
}

t.test('who waits for a method is told when its callee arrives, until it ends', async t => {
  const { arrivals, arrive, end, listeners } = openWorld(t)
  const told: string[] = []
  const [one, two, other] = [
    arrivals.await(topic, 'm', () => told.push('one')),
    arrivals.await(topic, 'm', () => told.push('two')),
    arrivals.await(topic, 'other', () => told.push('other'))
  ]
  await Promise.all([one.subscribed, two.subscribed, other.subscribed])
  t.equal(listeners(), 1, 'one subscription for all')
  arrive('m')
  t.same(told.splice(0), ['one', 'two'])
  one.end()
  arrive('m')
  arrive('none')
  end.publish(topic, { type: 'call-dropped', id: '1' })
  t.same(told.splice(0), ['two'])
  two.end()
  arrive('m')
  arrive('other')
  t.same(told, ['other'])
})

t.test('a subscription is used again until nothing needed it for a while', async t => {
  const { arrivals, clock, listeners } = openWorld(t)
  const first = arrivals.await(topic, 'm', () => {})
  t.equal(first.isOpen, false)
  await first.subscribed
  first.end()
  clock.advance(unusedMs - 1)
  await settled()
  t.equal(listeners(), 1)
  const second = arrivals.await(topic, 'm', () => {})
  t.equal(second.isOpen, true)
  clock.advance(unusedMs)
  await settled()
  t.equal(listeners(), 1, 'it is in use')
  const third = arrivals.await(topic, 'm', () => {})
  second.end()
  clock.advance(unusedMs)
  await settled()
  t.equal(listeners(), 1, 'and by another call of the method')
  third.end()
  clock.advance(unusedMs)
  await settled()
  t.equal(listeners(), 0)
  t.equal(arrivals.await(topic, 'm', () => {}).isOpen, false, 'the next one is new')
})

t.test('a subscription that the bus has not confirmed is not kept for later calls', async t => {
  const { arrivals, bus, listeners } = openWorld(t)
  bus.subscriptions.push('hangs')
  arrivals.await(topic, 'm', () => {}).end()
  const next = arrivals.await(topic, 'm', () => {})
  await next.subscribed
  t.equal(listeners(), 1, 'the next call has its own')
  bus.endHanging()
  await settled()
  t.equal(listeners(), 1, 'and the one that came too late is gone')
})

t.test('a failed subscription is reported, keeps nobody waiting, and the next call tries again', async t => {
  const { arrivals, arrive, bus, errors, listeners } = openWorld(t)
  bus.subscriptions.push('fails')
  const told: string[] = []
  const failed = arrivals.await(topic, 'm', () => told.push('failed'))
  await failed.subscribed
  t.equal(errors.length, 1)
  const next = arrivals.await(topic, 'm', () => told.push('next'))
  await next.subscribed
  failed.end()
  arrive('m')
  t.same(told, ['next'])
  t.equal(listeners(), 1)
})

t.test('an unsubscription that fails is reported', async t => {
  const { arrivals, bus, clock, errors } = openWorld(t)
  bus.leavingFails = true
  const { subscribed, end } = arrivals.await(topic, 'm', () => {})
  await subscribed
  end()
  clock.advance(unusedMs)
  await settled()
  t.equal(errors.length, 1)
})

t.test('closing ends all subscriptions and leaves no timer', async t => {
  const { arrivals, clock, listeners } = openWorld(t)
  const [used, unused] = [arrivals.await(topic, 'm', () => {}), arrivals.await(accountTopic(v.parse(ids.accountId, 'bob')), 'm', () => {})]
  await Promise.all([used.subscribed, unused.subscribed])
  unused.end()
  arrivals.close()
  await settled()
  t.same([listeners(), clock.pending], [0, 0])
  used.end()
  t.equal(clock.pending, 0, 'a call that ends afterwards starts none')
})
