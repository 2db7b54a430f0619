/** One connection that nobody has signed in on yet. Each of the two counts once. */
export interface Stranger {
  signedIn(): void
  left(): void
}

const mostInAll = 512
const mostPerNetwork = 64
const mostKnown = 10_000

/**
 * The connections that nobody has signed in on yet: few of each network, few in all. A network that a good token came
 * from is known from then on, and its connections may begin with large packets; the library takes the most a packet may be
 * before it tells us of the connection, and collects one out of our sight.
 */
export class Strangers {
  private readonly isOff: boolean
  private readonly countByNetwork = new Map<string, number>()
  private readonly known = new Set<string>()
  private count = 0

  constructor({ limits }: { limits: 'default' | 'off' }) {
    this.isOff = limits === 'off'
  }

  mayCome(network: string): boolean {
    return this.isOff || (this.count < mostInAll && (this.countByNetwork.get(network) ?? 0) < mostPerNetwork)
  }

  came(network: string): Stranger {
    this.count += 1
    this.countByNetwork.set(network, (this.countByNetwork.get(network) ?? 0) + 1)
    let isOver = false
    const left = () => {
      if (isOver) return
      isOver = true
      this.forgetOne(network)
    }
    return {
      left,
      signedIn: () => {
        left()
        this.know(network)
      }
    }
  }

  isKnown(network: string): boolean {
    return this.isOff || this.known.has(network)
  }

  /** A good token came from there. */
  know(network: string): void {
    this.known.delete(network)
    this.known.add(network)
    if (this.known.size <= mostKnown) return
    for (const oldest of this.known) {
      this.known.delete(oldest)
      return
    }
  }

  private forgetOne(network: string): void {
    this.count -= 1
    const left = (this.countByNetwork.get(network) ?? 1) - 1
    if (left === 0) this.countByNetwork.delete(network)
    else this.countByNetwork.set(network, left)
  }
}
