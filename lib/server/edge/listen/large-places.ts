import type { Clock } from '../../../async/clock.ts'

const mostInAll = 6
const mostOfAccount = 3
/** Who comes back for a place comes within this time. */
const wantedForMs = 60_000
const mostWanting = 1_000
/** A place that nothing large came over for so long is given to who wants one. */
const unusedMs = 20_000

/** Of a socket that may send the largest packets, with somebody signed in on it. */
export class LargePlace {
  readonly account: string
  /** Others need the place: the socket ends at once. */
  readonly makeRoom: () => void
  usedAt = 0
  private readonly places: LargePlaces

  constructor(account: string, makeRoom: () => void, places: LargePlaces) {
    this.account = account
    this.makeRoom = makeRoom
    this.places = places
  }

  /** A large packet came over it. */
  use(): void {
    this.places.use(this)
  }

  /** The socket is gone. */
  leave(): void {
    this.places.leave(this)
  }
}

/**
 * Who may send the largest packets after the sign-in. Most sockets never do, and each that may can have one begun that
 * never ends: so a socket gets a place once one of its network ended over a packet that was too large for it.
 */
export class LargePlaces {
  private readonly clock: Pick<Clock, 'now'>
  private readonly isOff: boolean
  /** The one unused for the longest first. */
  private readonly held = new Set<LargePlace>()
  /** Until when a network counts as having somebody who wants a place. */
  private readonly wantedUntil = new Map<string, number>()

  constructor({ limits }: { limits: 'default' | 'off' }, { clock }: { clock: Pick<Clock, 'now'> }) {
    this.clock = clock
    this.isOff = limits === 'off'
  }

  /** Somebody signed in there sent a packet that was too large for their socket. */
  want(network: string): void {
    this.wantedUntil.delete(network)
    this.wantedUntil.set(network, this.clock.now() + wantedForMs)
    if (this.wantedUntil.size <= mostWanting) return
    for (const oldest of this.wantedUntil.keys()) {
      this.wantedUntil.delete(oldest)
      return
    }
  }

  isWanted(network: string): boolean {
    return this.isOff || (this.wantedUntil.get(network) ?? Number.NEGATIVE_INFINITY) > this.clock.now()
  }

  /** Undefined when all that the account may have are in use: then nobody of the network begins with one for now. */
  take(account: string, network: string, makeRoom: () => void): LargePlace | undefined {
    const place = new LargePlace(account, makeRoom, this)
    if (!this.hasRoom(account)) {
      this.wantedUntil.delete(network)
      return undefined
    }
    this.use(place)
    return place
  }

  use(place: LargePlace): void {
    place.usedAt = this.clock.now()
    this.held.delete(place)
    this.held.add(place)
  }

  leave(place: LargePlace): void {
    this.held.delete(place)
  }

  private hasRoom(account: string): boolean {
    const own = [...this.held].filter(place => place.account === account)
    return this.isOff || (this.frees(own, mostOfAccount) && this.frees([...this.held], mostInAll))
  }

  /** Whether fewer than `most` are held; one unused for long is given up for it. */
  private frees(held: readonly LargePlace[], most: number): boolean {
    const [first] = held
    if (!first || held.length < most) return true
    if (this.clock.now() - first.usedAt < unusedMs) return false
    this.leave(first)
    first.makeRoom()
    return true
  }
}
