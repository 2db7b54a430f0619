import type { Clock } from '../../../async/clock.ts'

/**
 * Work in progress: requests from their head to the last byte of their answer, events until they are
 * answered, and data that clients have not read yet. The server waits for it before it ends [L1].
 */
export class InFlight {
  isClosing = false
  #count = 0
  #onNone: (() => void) | undefined

  /** The returned function ends it, once. */
  begin(): () => void {
    this.#count += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#count -= 1
      if (this.#count === 0) this.#onNone?.()
    }
  }

  /** Counts each call of these functions until it is settled, whether or not anyone still waits for it. */
  watch<Handlers extends object>(handlers: Handlers): Handlers {
    const entries = Object.entries(handlers).map(([name, handler]) => {
      const watched = (asked: unknown) => {
        const work: Promise<unknown> = handler(asked)
        const end = this.begin()
        work.then(end, end)
        return work
      }
      return [name, watched]
    })
    return Object.fromEntries(entries) as Handlers
  }

  /** Resolves when nothing is in progress, or after a timeout. */
  async settled(withinMs: number, clock: Clock): Promise<void> {
    if (this.#count === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onNone = resolve
    const cancel = clock.after(withinMs, resolve)
    await promise
    cancel()
  }
}
