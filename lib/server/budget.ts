import type { Clock } from '../async/clock.ts'

/** A loan older than this is reclaimed when others need it. */
const lentMs = 10_000

/** The part reserved for accounts that hold little. */
const keptPart = 1 / 4

/**
 * Bytes of memory shared by all accounts; one account may hold half of them. The last quarter is reserved for
 * accounts that get nothing else: an account may take from it as long as it holds no more in total than it leaves
 * there, so a few greedy accounts leave enough for the next.
 */
export class Budget {
  readonly #total: number
  readonly #kept: number
  readonly #taken = { usual: 0, kept: 0 }
  readonly #takenBy = new Map<string, number>()
  readonly #lent = new Set<Share>()

  constructor(total: number) {
    this.#total = total
    this.#kept = total * keptPart
  }

  /** `owner` is the requesting account, or what stands for one. */
  share(owner: string): Share {
    return new Share(this, owner)
  }

  /** Which part `owner` may take this many more bytes from, for a request that already holds `own`. */
  roomFor(owner: string, own: Held, bytes: number): keyof Held | undefined {
    const total = this.#total
    const kept = this.#kept
    const taken = this.#taken
    const ofOwner = this.#takenBy.get(owner) ?? 0
    const isFree = taken.usual === own.usual || taken.usual + bytes <= total - kept
    if (isFree && (ofOwner === own.usual + own.kept || ofOwner + bytes <= total / 2)) return 'usual'
    return ofOwner + bytes <= kept - taken.kept - bytes ? 'kept' : undefined
  }

  /** Like `roomFor`, after reclaiming overdue loans of others as far as that helps, the largest first. */
  makeRoom(owner: string, own: Held, bytes: number): keyof Held | undefined {
    const ofOwner = this.#takenBy.get(owner) ?? 0
    if (ofOwner !== own.usual + own.kept && ofOwner + bytes > this.#total / 2) return undefined
    const overdue = [...this.#lent]
      .filter(share => share.bytes > 0 && share.isOverdue && share.owner !== owner)
      .toSorted((a, b) => b.bytes - a.bytes)
    for (const share of overdue) {
      const room = this.roomFor(owner, own, bytes)
      if (room) return room
      share.askBack()
    }
    return this.roomFor(owner, own, bytes)
  }

  lend(share: Share): void {
    this.#lent.add(share)
  }

  forget(share: Share): void {
    this.#lent.delete(share)
  }

  move(owner: string, where: keyof Held, bytes: number): void {
    this.#taken[where] += bytes
    const ofOwner = (this.#takenBy.get(owner) ?? 0) + bytes
    if (ofOwner === 0) this.#takenBy.delete(owner)
    else this.#takenBy.set(owner, ofOwner)
  }
}

/** Bytes in the part for everyone, and in the reserved one. */
interface Held {
  usual: number
  kept: number
}

/** What one request holds of a budget. */
export class Share {
  readonly #budget: Budget
  readonly owner: string
  readonly #own: Held = { usual: 0, kept: 0 }
  #loan: { isOver: () => boolean; giveUp: () => void } | undefined

  constructor(budget: Budget, owner: string) {
    this.#budget = budget
    this.owner = owner
  }

  get bytes(): number {
    return this.#own.usual + this.#own.kept
  }

  get isOverdue(): boolean {
    return this.#loan?.isOver() ?? false
  }

  /**
   * From now on it may be reclaimed, once it is old and others find no room: `giveUp` is called then, and
   * releases it.
   */
  lend(clock: Pick<Clock, 'now'>, giveUp: () => void): void {
    const overAt = clock.now() + lentMs
    this.#loan = { isOver: () => clock.now() >= overAt, giveUp }
    this.#budget.lend(this)
  }

  askBack(): void {
    this.#loan?.giveUp()
  }

  /**
   * False if others hold the budget, or other requests of its owner too much of it. A lone holder may
   * exceed it.
   */
  take(bytes: number): boolean {
    const budget = this.#budget
    const owner = this.owner
    const own = this.#own
    const where = budget.roomFor(owner, own, bytes) ?? budget.makeRoom(owner, own, bytes)
    if (!where) return false
    budget.move(owner, where, bytes)
    own[where] += bytes
    return true
  }

  /** The total taken. */
  giveBack(): void {
    for (const where of ['usual', 'kept'] as const) {
      if (this.#own[where] > 0) this.#budget.move(this.owner, where, -this.#own[where])
      this.#own[where] = 0
    }
    this.#budget.forget(this)
  }
}
