/**
 * What waits for people's answers, by the network it came from. When there is no room left, the oldest row of the origin
 * with the most makes room, counted by the widest network first. So a crowd from many origins shuts out nobody who has
 * fewer there than each of them.
 */
export class Crowd {
  readonly #all = new Network()

  get count(): number {
    return this.#all.count
  }

  countFrom(origin: string): number {
    return this.#all.countAt(networksOf(origin))
  }

  /** The oldest, which end first, are added first. */
  add(origin: string, endsAt: number): void {
    this.#all.add(networksOf(origin), endsAt)
  }

  removeOldest(origin: string): void {
    this.#all.removeOldest(networksOf(origin))
  }

  /**
   * The origin whose oldest row makes room for a newcomer. One from the fullest network finds room only within that;
   * undefined if no origin has more than the newcomer's.
   */
  fullestBut(newcomer: string): string | undefined {
    let among: Network | undefined = this.#all
    let isOwn = true
    let name: string | undefined
    for (const own of networksOf(newcomer)) {
      const fullest: Place | undefined = among?.fullest()
      const ownNetwork: Network | undefined = isOwn ? among?.within.get(own) : undefined
      isOwn &&= (ownNetwork?.count ?? 0) + 1 > (fullest?.network.count ?? 0)
      among = isOwn ? ownNetwork : fullest?.network
      name = fullest?.name
    }
    return isOwn ? undefined : name
  }
}

/** The networks of an origin, the widest first: /16 and /24 of IPv4, /32 and /48 of IPv6, and the origin itself. */
function networksOf(origin: string): string[] {
  if (origin.includes(':')) return [origin.slice(0, 9), origin.slice(0, 14), origin]
  const parts = origin.split('.')
  return [parts.slice(0, 2).join('.'), parts.slice(0, 3).join('.'), origin]
}

interface Place {
  name: string
  network: Network
}

/** What waits from one network: from each network within it, or when each ends, the oldest first. */
class Network {
  count = 0
  /** When its oldest ends. */
  endsAt = Number.POSITIVE_INFINITY
  readonly within = new Map<string, Network>()
  readonly #ends: number[] = []

  countAt([name, ...rest]: readonly string[]): number {
    return name === undefined ? this.count : (this.within.get(name)?.countAt(rest) ?? 0)
  }

  add([name, ...rest]: readonly string[], endsAt: number): void {
    this.count += 1
    this.endsAt = Math.min(this.endsAt, endsAt)
    if (name === undefined) {
      this.#ends.push(endsAt)
      return
    }
    const inner = this.within.get(name) ?? new Network()
    this.within.set(name, inner)
    inner.add(rest, endsAt)
  }

  removeOldest([name, ...rest]: readonly string[]): void {
    const inner = name === undefined ? undefined : this.within.get(name)
    if (name !== undefined && inner) {
      inner.removeOldest(rest)
      if (inner.count === 0) this.within.delete(name)
      this.endsAt = [...this.within.values()].reduce((oldest, { endsAt }) => Math.min(oldest, endsAt), Number.POSITIVE_INFINITY)
    } else {
      this.#ends.shift()
      this.endsAt = this.#ends[0] ?? Number.POSITIVE_INFINITY
    }
    this.count -= 1
  }

  /** Among equals, the one whose oldest row ends first. */
  fullest(): Place | undefined {
    let found: Place | undefined
    for (const [name, network] of this.within) {
      const { count = 0, endsAt = 0 } = found?.network ?? {}
      if (network.count > count || (network.count === count && network.endsAt < endsAt)) found = { name, network }
    }
    return found
  }
}
