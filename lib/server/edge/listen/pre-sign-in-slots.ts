import type { Clock } from '../../../async/clock.ts'
import { Budget, type Share } from '../../budget.ts'
import { type PacketSize, packetSizes } from './packet-sizes.ts'

/**
 * The memory for unfinished packets together, half of it for one network: one of the largest, and eight
 * usual ones.
 */
const mostBytes = 64 * 1024 * 1024
/**
 * A sign-in takes a round trip: if none of the slots became free for this long, none will soon, and nobody
 * waits.
 */
const waitWithinMs = 1_000
const mostWaiting = 256
/** From the handshake to a successful sign-in. */
const signInWithinMs = 5_000

/** For a socket not signed in yet that may send larger packets than others. */
export class PreSignInSlot {
  readonly packetSize: PacketSize
  #onLate = () => {}
  #leaveOnce: (() => void) | undefined

  /** Without a clock nobody is ever late. */
  constructor(packetSize: PacketSize, leave: () => void, clock?: Clock) {
    this.packetSize = packetSize
    const cancel = clock?.after(signInWithinMs, () => this.#onLate()) ?? (() => {})
    this.#leaveOnce = () => {
      cancel()
      leave()
    }
  }

  /** Called if nobody has signed in in time. */
  whenLate(onLate: () => void): void {
    this.#onLate = onLate
  }

  /** Signed in, or the socket has closed. Does nothing the second time. */
  leave(): void {
    const leave = this.#leaveOnce
    this.#leaveOnce = undefined
    leave?.()
  }
}

interface Waiting {
  from: string
  packetSize: PacketSize
  settle(slot: PreSignInSlot | undefined): void
}

/**
 * Who may send large packets before signing in: the library fixes the maximum packet size when the socket
 * opens, and collects packets out of our sight. So what unauthenticated sockets may have begun together is
 * bounded, and further ones of known networks wait their turn.
 */
export class PreSignInSlots {
  readonly #clock: Clock
  readonly #isOff: boolean
  readonly #budget = new Budget(mostBytes)
  #givenAt = Number.NEGATIVE_INFINITY
  /** The first that fits is next. */
  readonly #waiting = new Set<Waiting>()

  constructor({ limits }: { limits: 'default' | 'off' }, { clock }: { clock: Clock }) {
    this.#clock = clock
    this.#isOff = limits === 'off'
  }

  /**
   * Calls `ready` once: with a slot, or without one on a timeout. If there is none of this size, it may
   * be one of the usual size. The returned function cancels the wait.
   */
  enter(from: string, packetSize: PacketSize, ready: (slot: PreSignInSlot | undefined) => void): () => void {
    const slot = this.#take(from, packetSize)
    const isHopeless = this.#waiting.size >= mostWaiting || this.#clock.now() - this.#givenAt > waitWithinMs
    if (slot || isHopeless) {
      ready(slot ?? this.#take(from, 'usual'))
      return () => {}
    }
    const forget = () => {
      cancel()
      this.#waiting.delete(waiting)
    }
    const settle = (given: PreSignInSlot | undefined) => {
      forget()
      ready(given)
    }
    const waiting = { from, packetSize, settle }
    const cancel = this.#clock.after(waitWithinMs, () => settle(this.#take(from, 'usual')))
    this.#waiting.add(waiting)
    return forget
  }

  /** For a socket that was signed out. It may stay until others need the slot: `makeRoom` ends it then. */
  stay(from: string, packetSize: PacketSize, makeRoom: () => void): PreSignInSlot | undefined {
    if (this.#isOff) return new PreSignInSlot(packetSize, () => {})
    const share = this.#budget.share(from)
    if (!share.take(packetSizes[packetSize])) return undefined
    share.lend(this.#clock, makeRoom)
    return new PreSignInSlot(packetSize, () => this.#leave(share))
  }

  #take(from: string, packetSize: PacketSize): PreSignInSlot | undefined {
    if (this.#isOff) return new PreSignInSlot(packetSize, () => {})
    const share = this.#budget.share(from)
    if (!share.take(packetSizes[packetSize])) return undefined
    this.#givenAt = this.#clock.now()
    return new PreSignInSlot(packetSize, () => this.#leave(share), this.#clock)
  }

  #leave(share: Share): void {
    share.giveBack()
    // A waiting client is upgraded at once, and the library ends the process if that happens during the
    // request of another.
    if (this.#waiting.size > 0) setImmediate(() => this.#passOn())
  }

  #passOn(): void {
    for (const waiting of this.#waiting) {
      const slot = this.#take(waiting.from, waiting.packetSize)
      if (slot) waiting.settle(slot)
    }
  }
}
