import { type Clock, systemClock } from '../../lib/async/clock.ts'

/**
 * A time that a test controls: `at` is the date, and the monotonic clock moves with it, as on a machine whose
 * date is never set. Timers are those of the system.
 */
export interface MovingTime {
  at: number
  readonly now: () => number
  readonly clock: Clock
}

export function movingTime(at = Date.now()): MovingTime {
  const began = at
  const time = {
    at,
    now: () => time.at,
    clock: { now: () => time.at - began, after: systemClock.after }
  }
  return time
}
