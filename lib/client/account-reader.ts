import type { ChangesReply } from '../protocol/wire/routes/changes.ts'
import type { Persistence } from './persist.ts'
import { Refused } from './refusals.ts'
import type { Rest } from './rest.ts'
import type { AccountRows, Meanwhile } from './rows.ts'

/** Up to where the rows are known. */
interface Place {
  epoch: string
  clock: number
}

/**
 * Brings the rows of an account up to date: with its lists the first time, and from then on with what changed. A server of
 * Happy's tells no changes; its lists are read each time.
 */
export class AccountReader {
  readonly #rest: Pick<Rest, 'call'>
  readonly #persistence: Persistence
  readonly #rows: AccountRows
  readonly #onStartOver: () => void
  #place: Place | undefined
  #tellsChanges = true

  constructor(rest: Pick<Rest, 'call'>, persistence: Persistence, rows: AccountRows, onStartOver: () => void) {
    this.#rest = rest
    this.#persistence = persistence
    this.#rows = rows
    this.#onStartOver = onStartOver
  }

  /** Another server may answer at the same address now. */
  reconnected(): void {
    this.#tellsChanges = true
  }

  async read(meanwhile: Meanwhile): Promise<void> {
    if (this.#place && (await this.#readOn(this.#place, meanwhile))) return
    // Asked before the lists, so that what changes while they are read is told the next time.
    const first = await this.#ask({ since: 0, limit: 1 })
    await this.#readLists(meanwhile)
    this.#place = first?.complete ? { epoch: first.epoch, clock: first.began } : undefined
  }

  /** False when the lists have to be read. */
  async #readOn({ epoch, clock }: Place, meanwhile: Meanwhile): Promise<boolean> {
    const began = clock
    for (let since = clock; ; ) {
      const page = await this.#ask({ since, began, epoch, limit: mostRows })
      if (!page?.complete) {
        // What the server had and what clients saw of it are two lives: versions and numbers mean something else now.
        if (page) this.#rows.forget()
        if (page) this.#onStartOver()
        return false
      }
      this.#rows.takeChanges(page, meanwhile)
      since = page.clock
      this.#place = { epoch, clock: since }
      if (!page.more) return true
    }
  }

  /** Undefined when the server does not know the route. */
  async #ask(query: { since: number; began?: number; epoch?: string; limit: number }): Promise<ChangesReply | undefined> {
    if (!this.#tellsChanges) return undefined
    try {
      return await this.#persistence.attempt(signal => this.#rest.call('readChanges', { query }, { signal }))
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error
      this.#tellsChanges = false
      return undefined
    }
  }

  async #readLists(meanwhile: Meanwhile): Promise<void> {
    const [{ sessions }, machines, { settings, settingsVersion }] = await this.#persistence.attempt(signal =>
      Promise.all([
        this.#rest.call('listSessions', {}, { signal }),
        this.#rest.call('listMachines', {}, { signal }),
        this.#rest.call('readSettings', {}, { signal })
      ])
    )
    this.#rows.takeLists({ sessions, machines, settings: { value: settings, version: settingsVersion } }, meanwhile)
  }
}

const mostRows = 500
