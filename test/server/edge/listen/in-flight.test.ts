import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { InFlight } from '../../../../lib/server/edge/listen/in-flight.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

t.test('a stop waits for the last of what is in progress, and no longer [L1]', async t => {
  const clock = manualClock()
  const inFlight = new InFlight()
  const ends = [inFlight.begin(), inFlight.begin()]
  let isSettled = false
  const settled = inFlight.settled(10_000, clock).then(() => {
    isSettled = true
  })
  ends[0]?.()
  ends[0]?.()
  await turnEnds()
  t.notOk(isSettled, 'one that ends twice counts once')
  ends[1]?.()
  // The clock stands still: a stop that waited for its limit would hang here.
  await settled
  t.equal(clock.pending, 0, 'nothing of the limit is left')
})

t.test('a stop ends at its limit when something never does, and at once with nothing in progress [L1]', async t => {
  const clock = manualClock()
  const inFlight = new InFlight()
  await inFlight.settled(10_000, clock)
  inFlight.begin()
  const settled = inFlight.settled(10_000, clock)
  clock.advance(9_999)
  t.equal(clock.pending, 1)
  clock.advance(1)
  await settled
})
