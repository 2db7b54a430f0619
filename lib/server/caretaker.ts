import type { Clock } from '../async/clock.ts'
import type { Store } from '../store/store.ts'
import { type Logger, noteOf } from './log.ts'

const everyMs = 1_000
/** Rows are compared again so long after all of them were. */
const restMs = 60 * 60 * 1_000

export interface CaretakerDeps {
  store: Pick<Store, 'scrub' | 'makeRoom' | 'soundness'>
  clock: Clock
  log: Logger
}

/** Looks after what is stored, a little every second: compares checksums, and takes room back once the disk has it. */
export class Caretaker {
  readonly #deps: CaretakerDeps
  #cancel: () => void
  #running: Promise<void> = Promise.resolve()
  #restUntil = 0
  #told = { damaged: 0, isFull: false }

  constructor(deps: CaretakerDeps) {
    this.#deps = deps
    this.#cancel = this.#later()
  }

  async close(): Promise<void> {
    this.#cancel()
    await this.#running
    this.#cancel()
  }

  #later(): () => void {
    return this.#deps.clock.after(everyMs, () => {
      this.#running = this.#round().then(() => {
        this.#cancel = this.#later()
      })
    })
  }

  async #scrub(): Promise<void> {
    const { store, clock } = this.#deps
    if (clock.now() < this.#restUntil) return
    const { rounds } = store.soundness()
    await store.scrub()
    if (store.soundness().rounds > rounds) this.#restUntil = clock.now() + restMs
  }

  async #round(): Promise<void> {
    const { store, log } = this.#deps
    try {
      await store.makeRoom()
      await this.#scrub()
    } catch (error) {
      log.debug({ error: noteOf(error) }, 'Could not look after the store')
    }
    const { damaged, isFull } = store.soundness()
    if (damaged > this.#told.damaged) log.error({ count: damaged }, 'Stored rows are damaged; check the disk and restore a backup')
    if (isFull && !this.#told.isFull) log.error({}, 'The disk is full: what takes room is refused until some is freed')
    if (!isFull && this.#told.isFull) log.info({}, 'The disk has room again')
    this.#told = { damaged, isFull }
  }
}
