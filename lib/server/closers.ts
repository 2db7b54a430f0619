import type { Clock } from '../async/clock.ts'
import { withDeadline } from '../async/deadline.ts'

/** A release may take this long; foreign objects, such as a bus, may never answer. */
const closeWithinMs = 10_000

/** Resources opened in sequence, and closed in reverse: all of them, even if some fail. */
export class Closers {
  readonly #clock: Clock
  readonly #steps: { close: () => Promise<void>; limitMs: number | undefined }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(close: () => Promise<void> | void): void {
    this.#steps.push({ close: async () => close(), limitMs: closeWithinMs })
  }

  /** For a release that must be waited for, however long it takes. */
  addWithoutDeadline(close: () => Promise<void>): void {
    this.#steps.push({ close, limitMs: undefined })
  }

  /** When all are done, rejects if some failed: with the reason, or with all of them. */
  async close(): Promise<void> {
    const errors: unknown[] = []
    for (const { close, limitMs } of this.#steps.splice(0).toReversed()) {
      const closed = limitMs === undefined ? close() : withDeadline(limitMs, close, { clock: this.#clock })
      await closed.catch(error => errors.push(error))
    }
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} parts of the server could not be closed.`)
    if (errors.length > 0) throw errors[0]
  }
}
