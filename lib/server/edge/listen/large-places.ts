import type { Clock } from '../../../async/clock.ts'
import type { Width } from './widths.ts'

/** Sockets that somebody signed in on and that may send more than a stranger, of all accounts and of one. */
const most = {
  usual: { inAll: 128, ofAccount: 64 },
  wide: { inAll: 6, ofAccount: 3 }
} as const
/** Who comes back for a place comes within this time. */
const wantedForMs = 60_000
const mostWanting = 1_000
/** A place that nothing large came over for so long is given to who wants one. */
const unusedMs = 20_000
/** So is one that was held for so long, however it is used. */
const heldMs = 120_000

type LargeWidth = Exclude<Width, 'narrow'>

/** Of a socket that may send large packets, with somebody signed in on it. */
export class LargePlace {
  readonly account: string
  readonly width: LargeWidth
  /** Others need the place: the socket ends at once. */
  readonly makeRoom: () => void
  readonly since: number
  usedAt: number
  readonly #places: LargePlaces

  constructor({ account, width, makeRoom }: Pick<LargePlace, 'account' | 'width' | 'makeRoom'>, now: number, places: LargePlaces) {
    this.account = account
    this.width = width
    this.makeRoom = makeRoom
    this.since = now
    this.usedAt = now
    this.#places = places
  }

  /** A packet came over it that is too large for who has none. */
  use(): void {
    this.#places.use(this)
  }

  /** The socket is gone. */
  leave(): void {
    this.#places.leave(this)
  }
}

/**
 * Who may send large packets after the sign-in, and how large. Each that may can have one begun that never ends, and most
 * never do. So few get places for the largest, once one of their network ended over a packet that was too large for it; and
 * where all accounts together have many sockets, those that come then get the usual ones in the same way.
 */
export class LargePlaces {
  readonly #clock: Pick<Clock, 'now'>
  readonly #isOff: boolean
  /** The one unused for the longest first. */
  readonly #held: Record<LargeWidth, Set<LargePlace>> = { usual: new Set(), wide: new Set() }
  /** What somebody of a network wants, and until when that counts. */
  readonly #wanted = new Map<string, { width: LargeWidth; until: number }>()

  constructor({ limits }: { limits: 'default' | 'off' }, { clock }: { clock: Pick<Clock, 'now'> }) {
    this.#clock = clock
    this.#isOff = limits === 'off'
  }

  /** Somebody signed in there sent a packet that was too large for their socket. */
  want(network: string, width: LargeWidth): void {
    this.#wanted.delete(network)
    this.#wanted.set(network, { width, until: this.#clock.now() + wantedForMs })
    if (this.#wanted.size <= mostWanting) return
    for (const oldest of this.#wanted.keys()) {
      this.#wanted.delete(oldest)
      return
    }
  }

  /** How large packets a socket from there begins with, once somebody has signed in. */
  widthFor(network: string): Width {
    if (this.#isOff) return 'wide'
    const wanted = this.#wanted.get(network)
    if (wanted && wanted.until > this.#clock.now()) return wanted.width
    return this.#held.usual.size < most.usual.inAll ? 'usual' : 'narrow'
  }

  /** Undefined when all that the account may have are in use: then nobody of the network begins with one for now. */
  take({ network, ...who }: Pick<LargePlace, 'account' | 'width' | 'makeRoom'> & { network: string }): LargePlace | undefined {
    if (!this.#hasRoom(who)) {
      this.#wanted.delete(network)
      return undefined
    }
    const place = new LargePlace(who, this.#clock.now(), this)
    this.#held[who.width].add(place)
    return place
  }

  use(place: LargePlace): void {
    place.usedAt = this.#clock.now()
    // One that left is not to come back.
    if (this.#held[place.width].delete(place)) this.#held[place.width].add(place)
  }

  leave(place: LargePlace): void {
    this.#held[place.width].delete(place)
  }

  #hasRoom({ account, width }: Pick<LargePlace, 'account' | 'width'>): boolean {
    if (this.#isOff) return true
    const all = [...this.#held[width]]
    const own = all.filter(place => place.account === account)
    if (own.length >= most[width].ofAccount) return this.#frees(own, own.length)
    return all.length < most[width].inAll || this.#frees(all, own.length)
  }

  /** Whether one is given up: one unused for long, or of the account with the most, or one that was held for long. */
  #frees(held: readonly LargePlace[], own: number): boolean {
    const now = this.#clock.now()
    const [first] = held
    const found =
      first && now - first.usedAt >= unusedMs ? first : (ofLargest(held, own + 1) ?? held.find(({ since }) => now - since >= heldMs))
    if (!found) return false
    this.leave(found)
    found.makeRoom()
    return true
  }
}

/** The first of the account with the most, when that is more than so many. */
function ofLargest(held: readonly LargePlace[], than: number): LargePlace | undefined {
  const counts = new Map<string, number>()
  for (const { account } of held) counts.set(account, (counts.get(account) ?? 0) + 1)
  let largest: string | undefined
  let count = than
  for (const [account, of] of counts) {
    if (of > count) [largest, count] = [account, of]
  }
  return held.find(({ account }) => account === largest)
}
