import type { LargeFrame } from '../../hub/frames.ts'
import type { InFlight } from '../listen/in-flight.ts'

/** A connection with waiting data. */
export interface Behind {
  /** Releases what is waiting, at once. */
  evict(): void
}

const mostBytes = 256 * 1024 * 1024

/**
 * Data waiting for all connections together; a frame for many counts once. Above the limit, those furthest
 * behind are closed [B2].
 */
export class Backlog {
  readonly #most: number
  readonly #waitsBy = new Map<Behind, { own: number; shared: number }>()
  readonly #inFlight: Pick<InFlight, 'begin'>
  #total = 0
  #end: (() => void) | undefined

  constructor(inFlight: Pick<InFlight, 'begin'>, most: number = mostBytes) {
    this.#inFlight = inFlight
    this.#most = most
  }

  get bytes(): number {
    return this.#total
  }

  /** The amount waiting for it now: its own, and in shared frames. */
  note(who: Behind, own: number, shared = 0): void {
    const before = this.#waitsBy.get(who)
    if (own === (before?.own ?? 0) && shared === (before?.shared ?? 0)) return
    this.#total += own - (before?.own ?? 0)
    if (own + shared === 0) this.#waitsBy.delete(who)
    else this.#waitsBy.set(who, { own, shared })
    while (this.#total > this.#most && this.#waitsBy.size > 0) this.#evictLargest()
    this.#settle()
  }

  /** One more connection waits for the frame. */
  hold(frame: LargeFrame): void {
    if (frame.waitingFor === 0) this.#total += frame.length
    frame.waitingFor += 1
  }

  /** One fewer does. */
  release(frame: LargeFrame): void {
    frame.waitingFor -= 1
    if (frame.waitingFor === 0) this.#total -= frame.length
    this.#settle()
  }

  #settle(): void {
    if (this.#total > 0) this.#end ??= this.#inFlight.begin()
    else if (this.#end) {
      this.#end()
      this.#end = undefined
    }
  }

  #evictLargest(): void {
    let largest: Behind | undefined
    let most = -1
    for (const [who, { own, shared }] of this.#waitsBy) {
      if (own + shared <= most) continue
      largest = who
      most = own + shared
    }
    if (!largest) return
    this.#total -= this.#waitsBy.get(largest)?.own ?? 0
    this.#waitsBy.delete(largest)
    largest.evict()
  }
}
