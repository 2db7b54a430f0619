/** Injected time, so that tests can control it. */
export interface Clock {
  /**
   * Milliseconds that only rise, from an arbitrary start; changing the machine's date does not affect
   * them.
   */
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
