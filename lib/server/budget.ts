/** Bytes that all who share it together may hold in memory; those of one account half as much, so that the others have room. */
export class Budget {
  private readonly total: number
  private taken = 0
  private readonly takenBy = new Map<string, number>()

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
  private readonly owner: string
  private own = 0

  constructor(budget: Budget, owner: string) {
    this.budget = budget
    this.owner = owner
  }

  /** False when others have the budget, or other requests of its owner too much of it. Who is alone may have more than there is. */
  take(bytes: number): boolean {
    if (!this.budget.hasRoom(this.owner, this.own, bytes)) return false
    this.budget.move(this.owner, bytes)
    this.own += bytes
    return true
  }

  /** All that was taken. */
  giveBack(): void {
    if (this.own > 0) this.budget.move(this.owner, -this.own)
    this.own = 0
  }
}
