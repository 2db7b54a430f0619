import t from 'tap'
import { accountTopic, type BusEvent } from '../../lib/bus/bus.ts'
import * as ids from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { busContract } from './contract.ts'
import { failingBus } from './failing-bus.ts'

// Between its failures it keeps what every bus keeps; else a test could blame it for what a real one would do.
busContract(
  t,
  t => {
    const bus = failingBus()
    return {
      async open(on = { onError: error => t.fail(String(error)) }) {
        const end = bus.open(on)
        t.teardown(() => end.close())
        return end
      },
      async cut() {
        setImmediate(bus.lose)
      },
      send: async (topic, content) => bus.send(topic, content)
    }
  },
  { instances: 'many' }
)

const topic = accountTopic(v.parse(ids.accountId, 'ada'))
const event: BusEvent = { type: 'call-dropped', id: '1' }

t.test('a failed subscription gets nothing, and the next one gets everything', async t => {
  const bus = failingBus()
  const end = bus.open({ onError: error => t.error(error) })
  bus.subscriptions.push('fails')
  const heard: string[] = []
  await t.rejects(end.subscribe(topic, () => heard.push('failed')))
  await end.subscribe(topic, () => heard.push('whole'))
  end.publish(topic, event)
  t.same(heard, ['whole'])
})

t.test('delayed events reach other instances late and in order, and this one at once', async t => {
  const bus = failingBus()
  const [here, there] = [bus.open({ onError: error => t.error(error) }), bus.open({ onError: error => t.error(error) })]
  const heard: string[] = []
  await here.subscribe(topic, told => heard.push(`here ${told.type}`))
  await there.subscribe(topic, told => heard.push(`there ${told.type}`))
  bus.hold()
  here.publish(topic, event)
  here.publish(topic, { type: 'call-taken', id: '1', instance: 'i' })
  t.same(heard.splice(0), ['here call-dropped', 'here call-taken'])
  bus.release()
  t.same(heard, ['there call-dropped', 'there call-taken'])
})

t.test('events between instances are dropped, repeated and reordered as a test says, and losses are said', async t => {
  const bus = failingBus()
  const [here, there] = [bus.open({ onError: error => t.error(error) }), bus.open({ onError: error => t.error(error) })]
  const heard: BusEvent[] = []
  await there.subscribe(topic, told => heard.push(told))
  const publish = (id: string) => here.publish(topic, { type: 'call-dropped', id })
  const ids = () => heard.splice(0).map(told => ('id' in told ? told.id : told.type))
  bus.fates.push('dropped', 'repeated')
  for (const id of ['1', '2', '3']) publish(id)
  t.same(ids(), ['2', '2', '3'])
  bus.hold()
  for (const id of ['4', '5']) publish(id)
  bus.release('last first')
  t.same(ids(), ['5', '4'])
  const lost: unknown[] = []
  there.onLost(topic => lost.push(topic))
  bus.lose(topic)
  t.same(lost, [topic])
})
