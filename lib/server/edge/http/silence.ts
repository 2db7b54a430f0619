import type { Clock } from '../../../async/clock.ts'

/** Shorter than the library waits: it hangs up without a word. */
const mostSilentMs = 7_000

/**
 * Ends a body in chunks that falls silent. The library takes an extension of a chunk for part of its length, and then
 * waits for bytes that nobody will send.
 */
export class Silence {
  private readonly clock: Clock
  private readonly onTooLong: () => void
  private cancel: () => void = () => {}

  constructor(clock: Clock, onTooLong: () => void) {
    this.clock = clock
    this.onTooLong = onTooLong
    this.begin()
  }

  begin(): void {
    this.cancel()
    this.cancel = this.clock.after(mostSilentMs, this.onTooLong)
  }

  end(): void {
    this.cancel()
  }
}
