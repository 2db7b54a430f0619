import type { Clock } from '../../async/clock.ts'
import { every, type Repeating } from '../../async/every.ts'
import type { Store } from '../../store/store.ts'

const lookEveryMs = 2_000
/** A reading that took longer is too imprecise. */
const longestLookMs = 1_000
/** Beyond this the store's clock was changed. */
const stepMs = 2_000
/** How far it is followed at once when it merely drifts. */
const mostSlew = 0.1
/** A changed clock is followed only after it has been stable for this long. */
export const settledAfterMs = 10 * 60_000
/** Self-dated values, such as a nonce, are valid for less than this. */
const formerForMs = 2 * 60_000

/**
 * Called when a new date takes effect, so that short-lived records neither expire early nor live longer:
 * before that if time moves forward, otherwise after. `from` is the time before.
 */
export type Taken = (step: { from: number; byMs: number }) => Promise<void>

type StoreTimeDeps = { store: Pick<Store, 'time'>; clock: Clock; onStep?: (byMs: number) => void; onTaken?: Taken }

/**
 * The time by which expiry is judged, the same on all instances: the store's, advanced by the monotonic
 * clock between readings. A clock that jumps neither ends nor prolongs anything: a new date takes effect
 * once it has been stable for ten minutes.
 */
export class StoreTime {
  readonly #deps: StoreTimeDeps
  /** The store's time minus the monotonic one, as currently used. */
  #offset = 0
  #lookedAt = 0
  /** A different offset that was seen, and since when. */
  #doubted: { offset: number; since: number } | undefined
  /** Since when the clock has run as it should, by the monotonic clock. */
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
    // A store that cannot be read now is read again later.
    time.#looking = every(
      deps.clock,
      lookEveryMs,
      () => time.#look(),
      () => {}
    )
    return time
  }

  /** In whole milliseconds, as stored. */
  readonly now = (): number => Math.round(this.#deps.clock.now() + this.#offset)

  /** For a while after a step, the time without it: earlier timestamps refer to it. */
  readonly before = (): number | undefined => {
    const at = this.#deps.clock.now()
    return this.#former && at < this.#former.until ? Math.round(at + this.#former.offset) : undefined
  }

  /** How long the clock has not jumped. */
  readonly steadyForMs = (): number => (this.#doubted ? 0 : this.#deps.clock.now() - this.#steadySince)

  /**
   * Whether old data may be removed permanently by this clock. Even at startup it may be wrong, and
   * corrected soon.
   */
  readonly isBelieved = (): boolean => this.steadyForMs() >= settledAfterMs

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
    if (at - this.#doubted.since < settledAfterMs) return
    const step = { from: this.now(), byMs: error }
    // Best effort: a store that rejects writes now must not keep the time wrong.
    if (error > 0) await onTaken(step).catch(() => {})
    this.#doubted = undefined
    this.#former = { offset: this.#offset, until: clock.now() + formerForMs }
    this.#offset = offset
    this.#steadySince = at
    if (error < 0) await onTaken(step).catch(() => {})
  }
}
