import type { Clock } from '../../async/clock.ts'
import { every, type Repeating } from '../../async/every.ts'
import type { Deps } from '../deps.ts'
import { type Claim, claimedForMs } from './claim.ts'

const everyMs = 10 * 60_000
/**
 * After each piece it pauses this many times as long as that took: most of the time the store is free for
 * others.
 */
const restFactor = 2
/** A time at which no upload has expired. */
const never = 0

type LeftoverSweepDeps = Pick<Deps, 'store' | 'time'> & {
  clock: Clock
  claim: Claim
  /** Whether the clock is reliable enough to remove old data permanently. */
  mayRemove: () => boolean
  onError: (error: unknown) => void
}

/**
 * Frees the space of expired uploads and removed data, one piece at a time with others in between. Starts
 * with what the previous server did not finish.
 */
export class LeftoverSweep {
  readonly #deps: LeftoverSweepDeps
  readonly #sweeps: Repeating
  #sweeping: Promise<void> = Promise.resolve()
  #wake: () => void = () => {}
  #isNext = false
  #isClosed = false

  constructor(deps: LeftoverSweepDeps) {
    this.#deps = deps
    this.soon()
    this.#sweeps = every(deps.clock, everyMs, () => this.soon(), deps.onError)
  }

  /** After the current sweep. */
  soon(): void {
    if (this.#isNext) return
    this.#isNext = true
    this.#sweeping = this.#sweeping.then(() => this.#sweep()).catch(this.#deps.onError)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#wake()
    await this.#sweeps.close()
    await this.#sweeping
  }

  async #sweep(): Promise<void> {
    const { store, time, mayRemove, clock, claim } = this.#deps
    this.#isNext = false
    while (!this.#isClosed) {
      const beganAt = clock.now()
      if (!(await claim('sweep-leftovers'))) {
        // What was removed here may have come too late for the other instance's sweep.
        await this.#rest(claimedForMs)
        continue
      }
      if ((await store.sweepLeftovers(mayRemove() ? time() : never)) === 'done') return
      await this.#rest(restFactor * (clock.now() - beganAt))
    }
  }

  async #rest(ms: number): Promise<void> {
    if (ms <= 0 || this.#isClosed) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const cancel = this.#deps.clock.after(ms, resolve)
    await promise
    cancel()
  }
}
