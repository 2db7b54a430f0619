import t, { type Test } from 'tap'
import { CallQueue, mostCallsInFlight } from '../../../../lib/server/actions/calls/call-queue.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const mostWaiting = 256

function fill(t: Test, queue: CallQueue, caller: string) {
  for (let call = 0; call < mostCallsInFlight; call += 1) t.equal(queue.enter(caller), 'go')
}

/** What has become of waiting calls, in the order in which it did. */
function watch(turns: ReturnType<CallQueue['enter']>[]): string[] {
  const became: string[] = []
  turns.forEach((turn, index) => {
    void Promise.resolve(turn).then(as => became.push(`${index} ${as}`))
  })
  return became
}
const settled = () => new Promise(setImmediate)

t.test('calls above the limit wait, and take their turns in order; others do not wait for them', async t => {
  const queue = new CallQueue(manualClock())
  fill(t, queue, 'ada')
  const became = watch([queue.enter('ada'), queue.enter('ada')])
  t.equal(queue.enter('bob'), 'go')
  await settled()
  t.same(became, [])
  queue.leave('ada')
  await settled()
  t.same(became, ['0 go'])
  queue.leave('ada')
  await settled()
  t.same(became, ['0 go', '1 go'])
  queue.leave('ada')
  t.equal(queue.enter('ada'), 'go', 'one has left')
  t.not(queue.enter('ada'), 'go')
})

t.test('the number of calls that wait is limited', async t => {
  const queue = new CallQueue(manualClock())
  fill(t, queue, 'ada')
  for (let call = 0; call < mostWaiting; call += 1) t.type(queue.enter('ada'), Promise)
  t.equal(queue.enter('ada'), 'too-many')
  queue.leave('ada')
  t.type(queue.enter('ada'), Promise, 'one of them has its turn')
  t.equal(queue.enter('ada'), 'too-many')
})

t.test('a call waits no longer than an answer may take, and then has no turn', async t => {
  const clock = manualClock()
  const queue = new CallQueue(clock)
  fill(t, queue, 'ada')
  const early = queue.enter('ada')
  clock.advance(10_000)
  const late = queue.enter('ada')
  const became = watch([early, late])
  clock.advance(19_999)
  await settled()
  t.same(became, [])
  clock.advance(1)
  await settled()
  t.same(became, ['0 timed-out'])
  queue.leave('ada')
  await settled()
  t.same(became, ['0 timed-out', '1 go'])
  clock.advance(60_000)
  await settled()
  t.same(became, ['0 timed-out', '1 go'])
})

t.test('a call that leaves frees its place, and leaving without a place changes nothing', async t => {
  const queue = new CallQueue(manualClock())
  queue.leave('nobody')
  fill(t, queue, 'ada')
  for (let call = 0; call < mostCallsInFlight; call += 1) queue.leave('ada')
  queue.leave('ada')
  fill(t, queue, 'ada')
  t.not(queue.enter('ada'), 'go')
})

t.test('closing times out the calls that wait, and leaves no timer', async t => {
  const clock = manualClock()
  const queue = new CallQueue(clock)
  fill(t, queue, 'ada')
  const became = watch([queue.enter('ada'), queue.enter('ada')])
  queue.close()
  await settled()
  t.same(became, ['0 timed-out', '1 timed-out'])
  t.equal(clock.pending, 0)
})
