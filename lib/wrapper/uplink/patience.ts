const firstMs = 6_000
const longestMs = 120_000

/**
 * How long something may wait to be delivered before the line is asked for a sign of life. Each time that it was asked for the
 * same thing in vain it may wait twice as long: a large message on a slow line is not cut off for ever.
 */
export function createPatience() {
  let waitsFor: string | undefined
  let since = 0
  let ms = firstMs
  return {
    /** Told again and again what has waited longest, undefined for nothing; `now` in milliseconds. True once for each time it took too long. */
    isOver(oldest: string | undefined, now: number): boolean {
      if (oldest === undefined || oldest !== waitsFor) {
        waitsFor = oldest
        since = now
        ms = firstMs
        return false
      }
      if (now - since < ms) return false
      since = now
      ms = Math.min(2 * ms, longestMs)
      return true
    }
  }
}
