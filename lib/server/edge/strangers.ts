/** One connection that nobody has signed in on yet. */
export class Stranger {
  private readonly among: Strangers
  private readonly from: string
  private isStrange = true

  constructor(among: Strangers, from: string) {
    this.among = among
    this.from = from
  }

  signedIn(): void {
    this.left()
    this.among.know(this.from)
  }

  /** Does nothing the second time. */
  left(): void {
    if (this.isStrange) this.among.count -= 1
    this.isStrange = false
  }
}

const mostAtOnce = 512
const mostKnown = 10_000

/**
 * The connections that nobody has signed in on yet, which are few. A place that a good token came from is known from then
 * on, and its connections may begin with large packets; the library takes the most a packet may be before it tells us of
 * the connection, and collects one out of our sight.
 */
export class Strangers {
  private readonly isOff: boolean
  private readonly known = new Set<string>()
  /** Kept by each of them. */
  count = 0

  constructor({ limits }: { limits: 'default' | 'off' }) {
    this.isOff = limits === 'off'
  }

  /** Undefined when there are too many already. */
  come(from: string): Stranger | undefined {
    if (this.count >= mostAtOnce && !this.isOff) return undefined
    this.count += 1
    return new Stranger(this, from)
  }

  isKnown(from: string): boolean {
    return this.isOff || this.known.has(from)
  }

  /** A good token came from there. */
  know(from: string): void {
    this.known.delete(from)
    this.known.add(from)
    if (this.known.size <= mostKnown) return
    for (const oldest of this.known) {
      this.known.delete(oldest)
      return
    }
  }
}
