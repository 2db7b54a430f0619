import type { Clock } from '../../async/clock.ts'
import { every, type Repeating } from '../../async/every.ts'
import type { Safekeeping } from '../../store/safekeeping.ts'
import { type Logger, noteOf } from '../watch/log.ts'

const everyMs = 1_000
/** A program that reads for this long keeps the WAL from being reset. */
const mostReadingMs = 10 * 60 * 1_000
/** Pause before all rows are compared again. */
const restMs = 60 * 60 * 1_000

interface CaretakerDeps {
  store: Pick<Safekeeping, 'scrub' | 'makeRoom' | 'soundness'>
  clock: Clock
  now: () => number
  log: Logger
}

/**
 * Maintains the store, a little every second: compares checksums, and reserves space again once the disk
 * has it.
 */
export class Maintenance {
  readonly #deps: CaretakerDeps
  readonly #rounds: Repeating
  #restUntil = 0
  #logged = { damaged: 0, isFull: false, isStuck: false }

  constructor(deps: CaretakerDeps) {
    this.#deps = deps
    this.#rounds = every(
      deps.clock,
      everyMs,
      () => this.#round(),
      () => {}
    )
  }

  close(): Promise<void> {
    return this.#rounds.close()
  }

  async #scrub(): Promise<void> {
    const { store, clock } = this.#deps
    if (clock.now() < this.#restUntil) return
    const { rounds } = store.soundness()
    await store.scrub()
    if (store.soundness().rounds > rounds) this.#restUntil = clock.now() + restMs
  }

  async #round(): Promise<void> {
    const { store, log, now } = this.#deps
    try {
      await store.makeRoom()
      await this.#scrub()
    } catch (error) {
      log.debug({ error: noteOf(error) }, 'Could not check the store')
    }
    const { damaged, isFull, logMovedAt } = store.soundness()
    const isStuck = now() - logMovedAt > mostReadingMs
    if (damaged > this.#logged.damaged) log.error({ count: damaged }, 'Stored rows are damaged; check the disk and restore a backup')
    if (isFull && !this.#logged.isFull) log.error({}, 'The disk is full: writes are rejected until some space is freed')
    if (!isFull && this.#logged.isFull) log.info({}, 'The disk has space again')
    if (isStuck && !this.#logged.isStuck) log.error({}, 'Another program keeps reading the database, so its log grows; end that program')
    this.#logged = { damaged, isFull, isStuck }
  }
}
