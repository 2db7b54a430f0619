import type { Clock } from '../../async/clock.ts'
import { every, type Repeating } from '../../async/every.ts'
import type { Store } from '../../store/store.ts'

const lookEveryMs = 2_000
/** A look that took longer tells too little of when it was. */
const longestLookMs = 1_000
/** Further away than this the store's clock was set. */
const stepMs = 2_000
/** How far it is followed at once where it only runs faster or slower. */
const mostSlew = 0.1
/** A clock that was set has to stay as it is for so long until it is followed. */
const believedAfterMs = 10 * 60_000
/** What carries its time with it, such as a nonce, lives shorter than that. */
const formerForMs = 2 * 60_000

/**
 * Told when a date that was set begins to count, so that what is short-lived neither ends nor goes on for it: before that
 * when it moves the time on, else after it. `from` is the time before.
 */
export type Taken = (step: { from: number; byMs: number }) => Promise<void>

type StoreTimeDeps = { store: Pick<Store, 'time'>; clock: Clock; onStep?: (byMs: number) => void; onTaken?: Taken }

/**
 * The time by which it is judged what has ended, the same on all instances: that of the store, moved on by the monotonic clock
 * between looks. A clock that jumps ends and prolongs nothing: the new date counts once it has stood for ten minutes.
 */
export class StoreTime {
  readonly #deps: StoreTimeDeps
  /** The store's time less the monotonic one, as it is gone by. */
  #offset = 0
  #lookedAt = 0
  /** Another offset that was seen, and since when. */
  #doubted: { offset: number; since: number } | undefined
  /** Since when the clock was seen to run as it should, by the monotonic clock. */
  #steadySince = 0
  #former: { offset: number; until: number } | undefined
  #looking: Repeating | undefined

  private constructor(deps: StoreTimeDeps) {
    this.#deps = deps
  }

  static async open(deps: StoreTimeDeps): Promise<StoreTime> {
    const time = new StoreTime(deps)
    time.#offset = (await deps.store.time()) - deps.clock.now()
    time.#lookedAt = deps.clock.now()
    time.#steadySince = time.#lookedAt
    // A store that cannot be asked now is asked again.
    time.#looking = every(
      deps.clock,
      lookEveryMs,
      () => time.#look(),
      () => {}
    )
    return time
  }

  /** In whole milliseconds, as it is stored. */
  readonly now = (): number => Math.round(this.#deps.clock.now() + this.#offset)

  /** For a while after a step, the time as it would be without it: what was stamped before goes by that. */
  readonly before = (): number | undefined => {
    const at = this.#deps.clock.now()
    return this.#former && at < this.#former.until ? Math.round(at + this.#former.offset) : undefined
  }

  /** For how long the clock was not seen to jump. */
  readonly steadyForMs = (): number => (this.#doubted ? 0 : this.#deps.clock.now() - this.#steadySince)

  /** Whether what is old by this clock may be removed for good. At the start too it may be a wrong one, soon to be set. */
  readonly isBelieved = (): boolean => this.steadyForMs() >= believedAfterMs

  close(): void {
    this.#looking?.close()
  }

  async #look(): Promise<void> {
    const { store, clock, onStep, onTaken = async () => {} } = this.#deps
    const began = clock.now()
    const seen = await store.time()
    const at = clock.now()
    if (at - began > longestLookMs) return
    const offset = seen - at
    const error = offset - this.#offset
    const most = mostSlew * (at - this.#lookedAt)
    this.#lookedAt = at
    if (Math.abs(error) <= stepMs) {
      if (this.#doubted) this.#steadySince = at
      this.#doubted = undefined
      this.#offset += Math.max(-most, Math.min(most, error))
      return
    }
    if (!this.#doubted || Math.abs(offset - this.#doubted.offset) > stepMs) {
      this.#doubted = { offset, since: at }
      onStep?.(error)
    }
    if (at - this.#doubted.since < believedAfterMs) return
    const step = { from: this.now(), byMs: error }
    // Best effort: a store that takes nothing now must not keep the time wrong.
    if (error > 0) await onTaken(step).catch(() => {})
    this.#doubted = undefined
    this.#former = { offset: this.#offset, until: clock.now() + formerForMs }
    this.#offset = offset
    this.#steadySince = at
    if (error < 0) await onTaken(step).catch(() => {})
  }
}
