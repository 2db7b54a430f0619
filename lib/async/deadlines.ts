import type { Clock } from './clock.ts'

/**
 * Many deadlines of the same length. They expire in the order in which they started, so one timer
 * serves all.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #afterMs: number
  readonly #dueAt = new Map<() => void, number>()
  #cancel: (() => void) | undefined

  constructor(clock: Clock, afterMs: number) {
    this.#clock = clock
    this.#afterMs = afterMs
  }

  /** Runs it once at the deadline unless it ended before. The same function cannot have two. */
  begin(run: () => void): void {
    this.#dueAt.set(run, this.#clock.now() + this.#afterMs)
    // The timer keeps running when nothing waits: usually the next one starts before it fires.
    this.#cancel ??= this.#clock.after(this.#afterMs, () => this.#look())
  }

  end(run: () => void): void {
    this.#dueAt.delete(run)
  }

  /** Forgets all of them. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#dueAt.clear()
  }

  #look(): void {
    this.#cancel = undefined
    const now = this.#clock.now()
    for (const [run, dueAt] of this.#dueAt) {
      if (dueAt > now) {
        this.#cancel ??= this.#clock.after(dueAt - now, () => this.#look())
        return
      }
      this.#dueAt.delete(run)
      run()
    }
  }
}
