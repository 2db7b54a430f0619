import t, { type Test } from 'tap'
import { accountTopic, type BusEvent, instanceTopic } from '../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../lib/bus/local.ts'
import { answerPresentWithinMs, OtherInstances } from '../../../lib/server/hub/other-instances.ts'
import { failingBus } from '../../bus/failing-bus.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { account } from '../ear.ts'

async function openWorld(t: Test) {
  const clock = manualClock()
  const bus = failingBus()
  const [end, other] = [bus.open({ onError: error => t.error(error) }), bus.open({ onError: error => t.error(error) })]
  let count = 0
  const others = new OtherInstances({ bus: end, clock, newId: () => `${++count}` }, 'here')
  await others.open()
  const asked: BusEvent[] = []
  await other.subscribe(accountTopic(account), event => asked.push(event))
  const answer = (id: string) => other.publish(instanceTopic('here'), { type: 'present', id })
  return { others, clock, bus, asked, answer }
}

t.test('another instance that has something answers, each question for itself', async t => {
  const { others, clock, asked, answer } = await openWorld(t)
  const [app, none] = [others.has(account, 'watching-app'), others.has(account, 'watching-app')]
  t.same(asked, [
    { type: 'present-asked', id: '1', replyTo: instanceTopic('here'), of: 'watching-app' },
    { type: 'present-asked', id: '2', replyTo: instanceTopic('here'), of: 'watching-app' }
  ])
  answer('unknown')
  answer('1')
  t.equal(await app, true)
  t.equal(clock.pending, 1)
  clock.advance(answerPresentWithinMs)
  t.equal(await none, false, 'no answer in time means no')
  t.equal(clock.pending, 0)
})

t.test('who waits for an answer at the end has none, and nothing is heard any more', async t => {
  const { others, clock, bus } = await openWorld(t)
  const asked = others.has(account, 'watching-app')
  t.equal(bus.listeners(instanceTopic('here')), 1)
  await others.close()
  t.equal(await asked, false)
  t.equal(clock.pending, 0)
  t.equal(bus.listeners(instanceTopic('here')), 0)
})

t.test('a single instance asks nobody', async t => {
  const clock = manualClock()
  const bus = openLocalBus({ onError: error => t.error(error) })
  const newId = () => t.fail('nobody is asked') as never
  const others = new OtherInstances({ bus, clock, newId }, 'here')
  await others.open()
  t.equal(await others.has(account, 'watching-app'), false)
  t.equal(clock.pending, 0)
  await others.close()
})
