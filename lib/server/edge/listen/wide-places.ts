import type { Clock } from '../../../async/clock.ts'
import { Seats } from '../../limits.ts'

/** Each may hold one of the largest packets, of which the end never comes. */
const mostInAll = 4
const mostOfNetwork = 2
/** Signing in takes a round trip: where none of the places came free for so long, none will soon, and nobody waits. */
const waitWithinMs = 1_000
const mostWaiting = 256
/** From the handshake to a good sign-in. */
const signInWithinMs = 5_000

/** Of a wide socket that nobody has signed in on yet. */
export class WidePlace {
  private onLate = () => {}
  private leaveOnce: (() => void) | undefined

  /** Without a clock nobody is ever late. */
  constructor(leave: () => void, clock?: Clock) {
    const cancel = clock?.after(signInWithinMs, () => this.onLate()) ?? (() => {})
    this.leaveOnce = () => {
      cancel()
      leave()
    }
  }

  /** Calls it when nobody has signed in in time. */
  whenLate(onLate: () => void): void {
    this.onLate = onLate
  }

  /** Somebody has signed in, or the socket is gone. Does nothing the second time. */
  leave(): void {
    const leave = this.leaveOnce
    this.leaveOnce = undefined
    leave?.()
  }
}

interface Waiting {
  from: string
  settle(place: WidePlace | undefined): void
}

/**
 * Who may send large packets before saying who they are: the library takes the most a packet may be when the socket opens,
 * and collects one out of our sight. So few sockets are wide and without a sign-in at once, and the others of known
 * networks wait for their turn.
 */
export class WidePlaces {
  private readonly clock: Clock
  private readonly isOff: boolean
  private readonly seats = new Seats(mostOfNetwork)
  private taken = 0
  private givenAt = Number.NEGATIVE_INFINITY
  /** The first whose network has room is the next. */
  private readonly waiting = new Set<Waiting>()

  constructor({ limits }: { limits: 'default' | 'off' }, { clock }: { clock: Clock }) {
    this.clock = clock
    this.isOff = limits === 'off'
  }

  /** Calls `ready` once: with a place, or without when no turn came in time. The returned function gives up waiting. */
  enter(from: string, ready: (place: WidePlace | undefined) => void): () => void {
    const place = this.take(from)
    const isHopeless = this.waiting.size >= mostWaiting || this.clock.now() - this.givenAt > waitWithinMs
    if (place || isHopeless) {
      ready(place)
      return () => {}
    }
    const forget = () => {
      cancel()
      this.waiting.delete(waiting)
    }
    const settle = (given: WidePlace | undefined) => {
      forget()
      ready(given)
    }
    const waiting = { from, settle }
    const cancel = this.clock.after(waitWithinMs, () => settle(undefined))
    this.waiting.add(waiting)
    return forget
  }

  private take(from: string): WidePlace | undefined {
    if (this.isOff) return new WidePlace(() => {})
    if (this.taken >= mostInAll || !this.seats.take(from)) return undefined
    this.taken += 1
    this.givenAt = this.clock.now()
    return new WidePlace(() => this.leave(from), this.clock)
  }

  private leave(from: string): void {
    this.taken -= 1
    this.seats.leave(from)
    for (const waiting of this.waiting) {
      const place = this.take(waiting.from)
      if (place) waiting.settle(place)
      if (this.taken >= mostInAll) return
    }
  }
}
