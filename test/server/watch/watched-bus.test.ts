import t from 'tap'
import { type BusEvent, limitsTopic } from '../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../lib/bus/local.ts'
import { watchBus } from '../../../lib/server/watch/watched-bus.ts'
import { failingBus } from '../../bus/failing-bus.ts'

t.test('what is published is counted and arrives as on the bus itself', async t => {
  const onError = (error: unknown) => t.error(error)
  const counted: BusEvent[] = []
  const own = openLocalBus({ onError })
  const bus = watchBus(own, { published: event => counted.push(event) })
  t.equal(bus.isShared, false)
  const heard: BusEvent[] = []
  const leave = await bus.subscribe(limitsTopic, event => heard.push(event))
  const event: BusEvent = { type: 'call-dropped', id: '1' }
  bus.publish(limitsTopic, event)
  t.same([counted, heard], [[event], [event]])
  await leave()
  bus.publish(limitsTopic, event)
  t.equal(heard.length, 1)
  await bus.close()
})

t.test('a watched bus passes on what was lost and whether it is shared, and closing it closes the bus', async t => {
  const failing = failingBus()
  const bus = watchBus(failing.open({ onError: error => t.error(error) }), { published() {} })
  t.equal(bus.isShared, true)
  const lost: unknown[] = []
  const leave = bus.onLost(topic => lost.push(topic))
  failing.lose(limitsTopic)
  leave()
  failing.lose(limitsTopic)
  t.same(lost, [limitsTopic])
  await bus.subscribe(limitsTopic, () => {})
  await bus.close()
  t.equal(failing.listeners(limitsTopic), 0)
})
