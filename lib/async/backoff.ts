interface Backoff {
  /** How long to wait before the next attempt. */
  nextMs(): number
  /** After a success: the next failure waits as briefly as the first. */
  reset(): void
}

/**
 * Doubles from `firstMs` up to `longestMs` and picks a random wait between zero and that (full
 * jitter), so that thousands of clients that lost one server do not return together. `random` gives
 * numbers from 0 up to, but not including, 1.
 */
export function createBackoff(limits: { firstMs: number; longestMs: number; random?: () => number }): Backoff {
  const { firstMs, longestMs, random = Math.random } = limits
  let failures = 0
  return {
    nextMs: () => random() * Math.min(longestMs, firstMs * 2 ** failures++),
    reset() {
      failures = 0
    }
  }
}
