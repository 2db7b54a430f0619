import t from 'tap'
import { type BusEvent, instanceTopic, type Topic } from '../../../../lib/bus/bus.ts'
import { CalleeInstances } from '../../../../lib/server/actions/calls/callee-instances.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

function openWorld() {
  const published: [topic: Topic, event: BusEvent][] = []
  const clock = manualClock()
  const instances = new CalleeInstances({ publish: (topic, event) => published.push([topic, event]) }, clock, 'self')
  return { instances, clock, published, asked: () => published.splice(0).length }
}
const question: [Topic, BusEvent] = [instanceTopic('there'), { type: 'instance-asked', replyTo: instanceTopic('self') }]

t.test('an instance says that it runs to whoever asks', async t => {
  const { instances, published } = openWorld()
  instances.hear({ type: 'instance-asked', replyTo: instanceTopic('other') })
  t.same(published, [[instanceTopic('other'), { type: 'instance-here', instance: 'self' }]])
})

t.test('an instance that left three questions unanswered is gone, and all who watch it are told once [R5]', async t => {
  const { instances, clock, published } = openWorld()
  const told: string[] = []
  instances.watch('there', () => told.push('one'))
  instances.watch('there', () => told.push('two'))
  t.same(published, [])
  clock.advance(3_000)
  t.same(published, [question, question, question], 'one question a second, for both')
  clock.advance(999)
  t.same(told, [])
  clock.advance(1)
  t.same(told, ['one', 'two'])
  t.equal(clock.pending, 0)
  t.equal(published.length, 3)
  instances.watch('there', () => told.push('later'))
  clock.advance(1_000)
  t.equal(published.length, 4, 'who watches it later asks anew')
})

t.test('an instance that answers is not given up, and the answer of another one does not count for it', async t => {
  const { instances, clock } = openWorld()
  let isGone = false
  instances.watch('there', () => {
    isGone = true
  })
  for (let times = 0; times < 5; times += 1) {
    clock.advance(3_000)
    instances.hear({ type: 'instance-here', instance: 'there' })
    instances.hear({ type: 'instance-here', instance: 'unknown' })
  }
  t.equal(isGone, false)
  clock.advance(3_000)
  instances.hear({ type: 'instance-here', instance: 'another' })
  instances.hear({ type: 'call-dropped', id: 'there' })
  clock.advance(1_000)
  t.equal(isGone, true)
})

t.test('an instance is asked only while a call needs it, and never itself', async t => {
  const { instances, clock, asked } = openWorld()
  const ends = [instances.watch('there', () => t.fail('it is not watched')), instances.watch('there', () => t.fail('it is not watched'))]
  ends[0]?.()
  clock.advance(1_000)
  t.equal(asked(), 1)
  ends[1]?.()
  t.equal(clock.pending, 0)
  clock.advance(10_000)
  t.equal(asked(), 0)
  instances.watch('self', () => t.fail('it runs'))()
  t.equal(clock.pending, 0)
})

t.test('closing ends all questions', async t => {
  const { instances, clock } = openWorld()
  instances.watch('there', () => t.fail('it was closed'))
  instances.watch('elsewhere', () => t.fail('it was closed'))
  t.equal(clock.pending, 2)
  instances.close()
  t.equal(clock.pending, 0)
})
