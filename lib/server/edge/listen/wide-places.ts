import type { Clock } from '../../../async/clock.ts'
import { Budget, type Share } from '../../budget.ts'
import { type Width, widths } from './widths.ts'

/** What packets may hold together of which the end never comes; those of one network half of it: one of the largest, and eight usual ones. */
const mostBytes = 64 * 1024 * 1024
/** Signing in takes a round trip: where none of the places came free for so long, none will soon, and nobody waits. */
const waitWithinMs = 1_000
const mostWaiting = 256
/** From the handshake to a good sign-in. */
const signInWithinMs = 5_000

/** Of a socket that nobody has signed in on yet, and that may send more than a stranger. */
export class WidePlace {
  readonly width: Width
  #onLate = () => {}
  #leaveOnce: (() => void) | undefined

  /** Without a clock nobody is ever late. */
  constructor(width: Width, leave: () => void, clock?: Clock) {
    this.width = width
    const cancel = clock?.after(signInWithinMs, () => this.#onLate()) ?? (() => {})
    this.#leaveOnce = () => {
      cancel()
      leave()
    }
  }

  /** Calls it when nobody has signed in in time. */
  whenLate(onLate: () => void): void {
    this.#onLate = onLate
  }

  /** Somebody has signed in, or the socket is gone. Does nothing the second time. */
  leave(): void {
    const leave = this.#leaveOnce
    this.#leaveOnce = undefined
    leave?.()
  }
}

interface Waiting {
  from: string
  width: Width
  settle(place: WidePlace | undefined): void
}

/**
 * Who may send large packets before saying who they are: the library takes the most a packet may be when the socket opens,
 * and collects one out of our sight. So what sockets without a sign-in may have begun together is bounded, and the others
 * of known networks wait for their turn.
 */
export class WidePlaces {
  readonly #clock: Clock
  readonly #isOff: boolean
  readonly #budget = new Budget(mostBytes)
  #givenAt = Number.NEGATIVE_INFINITY
  /** The first that there is room for is the next. */
  readonly #waiting = new Set<Waiting>()

  constructor({ limits }: { limits: 'default' | 'off' }, { clock }: { clock: Clock }) {
    this.#clock = clock
    this.#isOff = limits === 'off'
  }

  /**
   * Calls `ready` once: with a place, or without when no turn came in time. Where there is none so wide, it may be one of
   * the usual width. The returned function gives up waiting.
   */
  enter(from: string, width: Width, ready: (place: WidePlace | undefined) => void): () => void {
    const place = this.#take(from, width)
    const isHopeless = this.#waiting.size >= mostWaiting || this.#clock.now() - this.#givenAt > waitWithinMs
    if (place || isHopeless) {
      ready(place ?? this.#take(from, 'usual'))
      return () => {}
    }
    const forget = () => {
      cancel()
      this.#waiting.delete(waiting)
    }
    const settle = (given: WidePlace | undefined) => {
      forget()
      ready(given)
    }
    const waiting = { from, width, settle }
    const cancel = this.#clock.after(waitWithinMs, () => settle(this.#take(from, 'usual')))
    this.#waiting.add(waiting)
    return forget
  }

  /** For a socket that was signed out. It may stay until others need the place: `makeRoom` ends it then. */
  stay(from: string, width: Width, makeRoom: () => void): WidePlace | undefined {
    if (this.#isOff) return new WidePlace(width, () => {})
    const share = this.#budget.share(from)
    if (!share.take(widths[width])) return undefined
    share.lend(this.#clock, makeRoom)
    return new WidePlace(width, () => this.#leave(share))
  }

  #take(from: string, width: Width): WidePlace | undefined {
    if (this.#isOff) return new WidePlace(width, () => {})
    const share = this.#budget.share(from)
    if (!share.take(widths[width])) return undefined
    this.#givenAt = this.#clock.now()
    return new WidePlace(width, () => this.#leave(share), this.#clock)
  }

  #leave(share: Share): void {
    share.giveBack()
    // Whoever waits is upgraded at once, and the library ends the process when that happens within the request of another.
    if (this.#waiting.size > 0) setImmediate(() => this.#passOn())
  }

  #passOn(): void {
    for (const waiting of this.#waiting) {
      const place = this.#take(waiting.from, waiting.width)
      if (place) waiting.settle(place)
    }
  }
}
