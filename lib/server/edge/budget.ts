/** What one request holds of a budget. */
export interface Share {
  /** False when others have the budget; then nothing was taken. Who is alone may have more than all of it. */
  take(bytes: number): boolean
  /** All that was taken. */
  giveBack(): void
}

/** Bytes that all requests together may hold in memory. */
export class Budget {
  private readonly total: number
  private taken = 0

  constructor(total: number) {
    this.total = total
  }

  share(): Share {
    let own = 0
    return {
      take: bytes => {
        if (this.taken > own && this.taken + bytes > this.total) return false
        this.taken += bytes
        own += bytes
        return true
      },
      giveBack: () => {
        this.taken -= own
        own = 0
      }
    }
  }
}
