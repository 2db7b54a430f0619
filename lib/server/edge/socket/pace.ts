import type { Clock } from '../../../async/clock.ts'

/** Silence after which the full burst is available again. */
export const paceIsWholeAfterMs = 10_000
const mostPackets = 2_000
const mostBytes = 128 * 1024 * 1024
/** This many are rejected with an answer before the connection is closed. */
const mostRefused = 100

/** The rate of one connection: 200 packets a second and 128 MiB in 10 s, each with a burst of 10 s at most. */
export class Pace {
  readonly #clock: Clock
  readonly #isOff: boolean
  #packets = mostPackets
  #bytes = mostBytes
  #refused = 0
  #at: number

  constructor({ clock, limits }: { clock: Clock; limits: 'default' | 'off' }) {
    this.#clock = clock
    this.#isOff = limits === 'off'
    this.#at = clock.now()
  }

  /** Counts arrivals. `over` must be rejected; after `far-over` the connection must be closed. */
  take(bytes: number): 'within' | 'over' | 'far-over' {
    if (this.#isOff) return 'within'
    const now = this.#clock.now()
    const share = (now - this.#at) / paceIsWholeAfterMs
    this.#at = now
    this.#packets = Math.min(mostPackets, this.#packets + share * mostPackets) - 1
    this.#bytes = Math.min(mostBytes, this.#bytes + share * mostBytes) - bytes
    if (this.#bytes < 0) return 'far-over'
    if (this.#packets >= 0) {
      this.#refused = 0
      return 'within'
    }
    // Rejected ones cost nothing of the next second.
    this.#packets += 1
    this.#refused += 1
    return this.#refused > mostRefused ? 'far-over' : 'over'
  }
}
