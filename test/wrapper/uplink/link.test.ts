import t from 'tap'
import { createStallCheck } from '../../../lib/wrapper/uplink/link.ts'

/** When it was over, looked at each second of a day in which the same thing waits. */
function timesOver(oldestAt: (second: number) => string | undefined, seconds: number): number[] {
  const stall = createStallCheck()
  return Array.from({ length: seconds }, (_, second) => second).filter(second => stall.isStalled(oldestAt(second), 1000 * second))
}

t.test('a silent line with pending data is probed soon, then less and less often, so that a slow line has time', async t => {
  t.strictSame(
    timesOver(() => 'a', 400),
    [6, 18, 42, 90, 186, 306]
  )
})

t.test('a line that makes progress is not probed', async t => {
  t.strictSame(
    timesOver(second => `${Math.floor(second / 5)}`, 400),
    []
  )
  t.strictSame(
    timesOver(() => undefined, 400),
    []
  )
})
