/** One connection that nobody has signed in on yet. */
export interface Stranger {
  signedIn(): void
  left(): void
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
  private count = 0

  constructor({ limits }: { limits: 'default' | 'off' }) {
    this.isOff = limits === 'off'
  }

  /** Undefined when there are too many already. */
  come(from: string): Stranger | undefined {
    if (this.count >= mostAtOnce && !this.isOff) return undefined
    this.count += 1
    let isStrange = true
    const left = () => {
      if (isStrange) this.count -= 1
      isStrange = false
    }
    return {
      left,
      signedIn: () => {
        left()
        this.know(from)
      }
    }
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
