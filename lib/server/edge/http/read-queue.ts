import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long reads go on in one turn of the event loop; the one that is under way then is the last. */
const mostMsPerTurn = 5

/**
 * Answers requests that read what is stored, one after another, of all accounts in turns. A read keeps the event loop until it is
 * over, and its answer counts only when it is made: hundreds of long lists asked for at the same moment would keep everybody else
 * waiting, and all be in memory before the first of them is counted.
 */
export class ReadQueue {
  /** The first account is the next. */
  readonly #waiting = new Map<string, (() => Promise<unknown>)[]>()
  readonly #onError: (error: unknown) => void
  #isBusy = false

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Runs `read` at once where none is under way. What it waits for itself keeps nobody else. */
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
