import type { Clock } from '../async/clock.ts'

/** What is lent for longer is asked back when others need it. */
const lentMs = 10_000

/** Bytes that all who share it together may hold in memory; those of one account half as much, so that the others have room. */
export class Budget {
  private readonly total: number
  private taken = 0
  private readonly takenBy = new Map<string, number>()
  private readonly lent = new Set<Share>()

  constructor(total: number) {
    this.total = total
  }

  /** `owner` is who asks: an account, or what stands for one. */
  share(owner: string): Share {
    return new Share(this, owner)
  }

  /** Whether `owner`, of whom one request has `own` already, may have so much more for it. */
  hasRoom(owner: string, own: number, bytes: number): boolean {
    const ofOwner = this.takenBy.get(owner) ?? 0
    const isFree = this.taken === own || this.taken + bytes <= this.total
    return isFree && (ofOwner === own || ofOwner + bytes <= this.total / 2)
  }

  /** As `hasRoom`, once those who have had theirs for long gave it back, those with the most first, as far as that helps. */
  makeRoom(owner: string, own: number, bytes: number): boolean {
    const ofOwner = this.takenBy.get(owner) ?? 0
    if (ofOwner !== own && ofOwner + bytes > this.total / 2) return false
    const overdue = [...this.lent]
      .filter(share => share.bytes > 0 && share.isOverdue && share.owner !== owner)
      .toSorted((a, b) => b.bytes - a.bytes)
    for (const share of overdue) {
      if (this.hasRoom(owner, own, bytes)) return true
      share.askBack()
    }
    return this.hasRoom(owner, own, bytes)
  }

  lend(share: Share): void {
    this.lent.add(share)
  }

  forget(share: Share): void {
    this.lent.delete(share)
  }

  move(owner: string, bytes: number): void {
    this.taken += bytes
    const ofOwner = (this.takenBy.get(owner) ?? 0) + bytes
    if (ofOwner === 0) this.takenBy.delete(owner)
    else this.takenBy.set(owner, ofOwner)
  }
}

/** What one request holds of a budget. */
export class Share {
  private readonly budget: Budget
  readonly owner: string
  private own = 0
  private loan: { isOver: () => boolean; giveUp: () => void } | undefined

  constructor(budget: Budget, owner: string) {
    this.budget = budget
    this.owner = owner
  }

  get bytes(): number {
    return this.own
  }

  get isOverdue(): boolean {
    return this.loan?.isOver() ?? false
  }

  /** From now on others may have it, once it is old and they find no other room: `giveUp` is called then, and gives it back. */
  lend(clock: Pick<Clock, 'now'>, giveUp: () => void): void {
    const overAt = clock.now() + lentMs
    this.loan = { isOver: () => clock.now() >= overAt, giveUp }
    this.budget.lend(this)
  }

  askBack(): void {
    this.loan?.giveUp()
  }

  /** False when others have the budget, or other requests of its owner too much of it. Who is alone may have more than there is. */
  take(bytes: number): boolean {
    const { budget, owner, own } = this
    if (!budget.hasRoom(owner, own, bytes) && !budget.makeRoom(owner, own, bytes)) return false
    this.budget.move(this.owner, bytes)
    this.own += bytes
    return true
  }

  /** All that was taken. */
  giveBack(): void {
    if (this.own > 0) this.budget.move(this.owner, -this.own)
    this.own = 0
    this.budget.forget(this)
  }
}
