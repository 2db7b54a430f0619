import type { Clock } from '../../../async/clock.ts'
import type { Width } from './widths.ts'

/** How many signed-in sockets may send large packets: of all accounts, and of one. */
const most = {
  usual: { inAll: 128, ofAccount: 64 },
  wide: { inAll: 6, ofAccount: 3 }
} as const
/** A client that wants a place reconnects within this time. */
const wantedForMs = 60_000
const mostWanting = 1_000
/** A place without large packets for this long is given to a client that wants one. */
const unusedMs = 20_000
/** So is a place held for this long, however it is used. */
const heldMs = 120_000

type LargeWidth = Exclude<Width, 'narrow'>

/** For a signed-in socket that may send large packets. */
export class LargePlace {
  readonly account: string
  readonly width: LargeWidth
  /** Others need the place: the socket is closed at once. */
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

  /** A packet arrived that is too large for a socket without one. */
  use(): void {
    this.#places.use(this)
  }

  /** The socket has closed. */
  leave(): void {
    this.#places.leave(this)
  }
}

/**
 * Who may send large packets after the sign-in, and how large. Anyone who may can begin one that never
 * ends, and most clients never need it. So only a few get places for the largest, after a socket of their
 * network was closed for a packet too large for it; and when all accounts together have many sockets, new
 * ones get the usual ones in the same way.
 */
export class LargePlaces {
  readonly #clock: Pick<Clock, 'now'>
  readonly #isOff: boolean
  /** The longest unused first. */
  readonly #held: Record<LargeWidth, Set<LargePlace>> = { usual: new Set(), wide: new Set() }
  /** What a client of a network wants, and until when that counts. */
  readonly #wanted = new Map<string, { width: LargeWidth; until: number }>()

  constructor({ limits }: { limits: 'default' | 'off' }, { clock }: { clock: Pick<Clock, 'now'> }) {
    this.#clock = clock
    this.#isOff = limits === 'off'
  }

  /** A signed-in client there sent a packet too large for its socket. */
  want(network: string, width: LargeWidth): void {
    this.#wanted.delete(network)
    this.#wanted.set(network, { width, until: this.#clock.now() + wantedForMs })
    if (this.#wanted.size <= mostWanting) return
    for (const oldest of this.#wanted.keys()) {
      this.#wanted.delete(oldest)
      return
    }
  }

  /** The packet size with which a socket from there starts, once signed in. */
  widthFor(network: string): Width {
    if (this.#isOff) return 'wide'
    const wanted = this.#wanted.get(network)
    if (wanted && wanted.until > this.#clock.now()) return wanted.width
    return this.#held.usual.size < most.usual.inAll ? 'usual' : 'narrow'
  }

  /** Undefined if all places of the account are in use: then no client of the network starts with one for now. */
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
    // A client that left is not expected to return.
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

  /** Whether one can be reclaimed: one long unused, or of the account with the most, or long held. */
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

/** The first of the account with the most, if that has more than this. */
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
