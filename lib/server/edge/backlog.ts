import type { UnderWay } from '../under-way.ts'

/** A connection that something waits for. */
export interface Behind {
  /** Frees at once what waits. */
  evict(): void
}

const mostBytes = 256 * 1024 * 1024

/** What waits for all connections together. Past the most there may be, those furthest behind are let go [B2]. */
export class Backlog {
  private readonly most: number
  private readonly bytesBy = new Map<Behind, number>()
  private readonly underWay: Pick<UnderWay, 'begin'>
  private total = 0
  private end: (() => void) | undefined

  constructor(underWay: Pick<UnderWay, 'begin'>, most: number = mostBytes) {
    this.underWay = underWay
    this.most = most
  }

  get bytes(): number {
    return this.total
  }

  /** So much waits for it now. */
  note(who: Behind, bytes: number): void {
    const before = this.bytesBy.get(who) ?? 0
    if (bytes === before) return
    this.total += bytes - before
    if (bytes === 0) this.bytesBy.delete(who)
    else this.bytesBy.set(who, bytes)
    while (this.total > this.most) this.evictLargest()
    if (this.total > 0) this.end ??= this.underWay.begin()
    else if (this.end) {
      this.end()
      this.end = undefined
    }
  }

  private evictLargest(): void {
    const [largest] = [...this.bytesBy].sort(([, one], [, other]) => other - one)
    if (!largest) return
    const [who, bytes] = largest
    this.bytesBy.delete(who)
    this.total -= bytes
    who.evict()
  }
}
