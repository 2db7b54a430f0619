import type { Clock } from '../../lib/async/clock.ts'

export interface ManualClock extends Clock {
  /** Advances the time and runs due timers in order, each at its own time. Awaits inside them need their own turns. */
  advance(ms: number): void
  /** Timers that neither ran nor were cancelled. */
  readonly pending: number
}

export function manualClock(): ManualClock {
  let time = 0
  const timers = new Set<{ due: number; run: () => void }>()
  const nextDueBy = (end: number) => [...timers].filter(timer => timer.due <= end).sort((one, other) => one.due - other.due)[0]

  return {
    now: () => time,
    after(ms, run) {
      const timer = { due: time + ms, run }
      timers.add(timer)
      return () => {
        timers.delete(timer)
      }
    },
    advance(ms) {
      const end = time + ms
      for (let timer = nextDueBy(end); timer; timer = nextDueBy(end)) {
        timers.delete(timer)
        time = Math.max(time, timer.due)
        timer.run()
      }
      time = end
    },
    get pending() {
      return timers.size
    }
  }
}
