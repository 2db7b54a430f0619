/** Time as something handed in, so that a test can move it. */
export interface Clock {
  /** Milliseconds that only rise, from an arbitrary start; setting the date of the machine does not move them. */
  now(): number
  /** Runs once, not before `ms` have passed. The returned function cancels, and does nothing after the run. */
  after(ms: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  }
}
