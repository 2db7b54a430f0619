import type { ChangesReply } from '../../protocol/wire/routes/changes.ts'
import { Refused } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'
import type { Retrier } from '../link/retry.ts'

export type ChangedRows = Extract<ChangesReply, { complete: true }>

/** Receives what was read. */
interface ChangeSink {
  /** Some of what changed, in order; rows as they are now. */
  take(page: ChangedRows): void
  /**
   * The server was restored to an older state: what was seen before belongs to another epoch.
   * `readAll` follows.
   */
  startOver(): void
  /** Nothing is known yet, or this server does not list changes: reads everything needed. */
  readAll(): Promise<void>
}

/** The clock up to which everything is known. */
interface Place {
  epoch: string
  clock: number
}

/**
 * Reads everything the first time, and only changes from then on. From a Happy server, which does not
 * list changes, everything each time.
 */
export class ChangeReader {
  readonly #rest: Pick<Rest, 'call'>
  readonly #retrier: Retrier
  #place: Place | undefined
  #tellsChanges = true

  constructor(rest: Pick<Rest, 'call'>, retrier: Retrier) {
    this.#rest = rest
    this.#retrier = retrier
  }

  /** Another server may now answer at the same address. */
  reconnected(): void {
    this.#tellsChanges = true
  }

  /** One call at a time. Rejects like `Retrier.attempt`. */
  async read(sink: ChangeSink): Promise<void> {
    if (this.#place && (await this.#readOn(this.#place, sink))) return
    // Read before everything else, so that concurrent changes come with the next read.
    const first = await this.#ask({ since: 0, limit: 1 })
    await sink.readAll()
    this.#place = first?.complete ? { epoch: first.epoch, clock: first.began } : undefined
  }

  /** False if everything has to be read. */
  async #readOn({ epoch, clock: began }: Place, sink: ChangeSink): Promise<boolean> {
    for (let since = began; ; ) {
      const page = await this.#ask({ since, began, epoch, limit: mostRows })
      if (!page?.complete) {
        if (page) sink.startOver()
        return false
      }
      sink.take(page)
      since = page.clock
      this.#place = { epoch, clock: since }
      if (!page.more) return true
    }
  }

  /** Undefined if the server does not have the route. */
  async #ask(query: { since: number; began?: number; epoch?: string; limit: number }): Promise<ChangesReply | undefined> {
    if (!this.#tellsChanges) return undefined
    try {
      return await this.#retrier.attempt(signal => this.#rest.call('readChanges', { query }, { signal }))
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error
      this.#tellsChanges = false
      return undefined
    }
  }
}

const mostRows = 500
