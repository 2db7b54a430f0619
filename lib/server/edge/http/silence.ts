import type { Clock } from '../../../async/clock.ts'

/** Shorter than the library's timeout, which hangs up silently. */
const mostSilentMs = 7_000

/**
 * Ends a chunked body that goes silent. The library mistakes a chunk extension for part of its length, and
 * then waits for bytes that nobody will send.
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
