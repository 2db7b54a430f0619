import { networksAround, subnetOf } from '../../address.ts'

/** A connection without a sign-in. */
export interface Stranger {
  readonly address: string
  /** The origin of the page that opened it, if it is another site; otherwise empty. */
  readonly page: string
  /** Others need its place: it is closed. */
  makeRoom(): void
}

/**
 * Limits of unauthenticated connections: in total, from one address, and opened by pages of one other site
 * there.
 */
export const mostStrangers = { inRoom: 512, ofAddress: 64, ofPage: 8 }
const mostKnown = 10_000

/**
 * The unauthenticated connections, which are few. Nobody is refused a place: if there is none, the oldest
 * of the largest crowd makes room, so a crowd gets in its own way first. A network with a valid token is
 * known from then on, and has its places in a pool that no other crowd can fill.
 */
export class Strangers {
  readonly #isOff: boolean
  readonly #known = new Set<string>()
  /** Of the known ones. */
  readonly #barred = new Set<string>()
  readonly #rooms = { known: new Room(), unknown: new Room() }

  constructor({ limits }: { limits: 'default' | 'off' }) {
    this.#isOff = limits === 'off'
  }

  get count(): number {
    return this.#rooms.known.count + this.#rooms.unknown.count
  }

  /** Whether places are getting scarce. */
  get isCrowded(): boolean {
    return this.count >= mostStrangers.inRoom / 2
  }

  come(stranger: Stranger): void {
    if (this.#isOff) return
    const room = this.isKnown(subnetOf(stranger.address)) ? this.#rooms.known : this.#rooms.unknown
    room.enter(stranger)
  }

  /** It was signed in, or it closed. Does nothing the second time. */
  leave(stranger: Stranger): void {
    this.#rooms.known.leave(stranger)
    this.#rooms.unknown.leave(stranger)
  }

  isKnown(from: string): boolean {
    return this.#isOff || this.#known.has(from)
  }

  /** Whether connections from there may start with large packets. */
  maySendLarge(from: string): boolean {
    return this.isKnown(from) && !this.#barred.has(from)
  }

  /** A client there held a place for large packets and did not sign in: until one does, nobody there gets one. */
  bar(from: string): void {
    if (this.#known.has(from)) this.#barred.add(from)
  }

  /** A valid token came from there. */
  know(from: string): void {
    this.#known.delete(from)
    this.#known.add(from)
    this.#barred.delete(from)
    if (this.#known.size <= mostKnown) return
    for (const oldest of this.#known) {
      this.#known.delete(oldest)
      this.#barred.delete(oldest)
      return
    }
  }
}

/** Connections from the same origin, as far as that is distinguished. */
interface Crowd {
  count: number
  readonly most: number
}

class Room {
  /** In order of arrival, each with its crowds, from the pool as a whole to the page. */
  readonly #here = new Map<Stranger, readonly Crowd[]>()
  readonly #crowds = new Map<string, Crowd>()

  get count(): number {
    return this.#here.size
  }

  enter(stranger: Stranger): void {
    const crowds = namesOf(stranger).map(({ name, most }) => this.#join(name, most))
    this.#here.set(stranger, crowds)
    for (const [level, { count, most }] of [...crowds.entries()].toReversed()) {
      if (count > most) this.#makeRoom(crowds, level)
    }
  }

  leave(stranger: Stranger): void {
    if (!this.#here.delete(stranger)) return
    for (const { name } of namesOf(stranger)) {
      const crowd = this.#crowds.get(name)
      if (crowd) crowd.count -= 1
      if (crowd?.count === 0) this.#crowds.delete(name)
    }
  }

  #join(name: string, most: number): Crowd {
    const crowd = this.#crowds.get(name) ?? { count: 0, most }
    crowd.count += 1
    this.#crowds.set(name, crowd)
    return crowd
  }

  /** Finds the largest crowd, the largest within that, and so on; and there the oldest connection. */
  #makeRoom(of: readonly Crowd[], level: number): void {
    let found: { stranger: Stranger; crowds: readonly Crowd[] } | undefined
    for (const [stranger, crowds] of this.#here) {
      if (crowds[level] !== of[level]) continue
      if (!found || isLarger(crowds, found.crowds, level + 1)) found = { stranger, crowds }
    }
    if (!found) return
    this.leave(found.stranger)
    found.stranger.makeRoom()
  }
}

function isLarger(one: readonly Crowd[], other: readonly Crowd[], from: number): boolean {
  for (let level = from; level < one.length; level += 1) {
    const more = (one[level]?.count ?? 0) - (other[level]?.count ?? 0)
    if (more !== 0) return more > 0
  }
  return false
}

// An attacker with many addresses has adjacent ones, and a page of another site can have unlimited names.
function namesOf({ address, page }: Stranger): { name: string; most: number }[] {
  const any = Number.POSITIVE_INFINITY
  const [wide = '', narrow = '', own = ''] = networksAround(address)
  return [
    { name: '', most: mostStrangers.inRoom },
    { name: wide, most: any },
    { name: narrow, most: any },
    { name: own, most: mostStrangers.ofAddress },
    { name: `${own} ${page === '' ? 'own' : 'other'}`, most: any },
    { name: `${own} of ${page}`, most: page === '' ? any : mostStrangers.ofPage }
  ]
}
