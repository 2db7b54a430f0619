import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long reads continue in one turn of the event loop; the one in progress at that time is the last. */
const mostMsPerTurn = 5

/**
 * Answers requests that read stored data, one after another, with all accounts taking turns. A read blocks the event
 * loop until it is done, and its answer counts against the memory budget only once it exists: hundreds of long lists
 * requested at the same moment would delay everyone else, and all of them would be in memory before the first is
 * counted.
 */
export class ReadQueue {
  /** The first account is the next. */
  readonly #waiting = new Map<string, (() => Promise<unknown>)[]>()
  readonly #onError: (error: unknown) => void
  #isBusy = false

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Runs `read` at once if none is in progress. While it waits for something itself, other reads run. */
  run(account: string, read: () => Promise<unknown>): void {
    const own = this.#waiting.get(account)
    if (own) own.push(read)
    else this.#waiting.set(account, [read])
    if (!this.#isBusy) this.#readAll().catch(this.#onError)
  }

  async #readAll(): Promise<void> {
    this.#isBusy = true
    while (this.#waiting.size > 0) {
      const turn = nextTurn()
      const endsAt = performance.now() + mostMsPerTurn
      do await Promise.race([this.#readNext(), turn])
      while (this.#waiting.size > 0 && performance.now() < endsAt)
      await turn
    }
    this.#isBusy = false
  }

  async #readNext(): Promise<void> {
    const [[account, [read, ...others]] = ['', []]] = this.#waiting
    this.#waiting.delete(account)
    if (others.length > 0) this.#waiting.set(account, others)
    try {
      await read?.()
    } catch (error) {
      this.#onError(error)
    }
  }
}
