/** No claim lasts longer: one that seems to is of a clock that was wrong, and counts for nothing. */
export const longestClaimMs = 60 * 60 * 1000

/** Work that one instance of a server does at a time. */
export interface WorkStore {
  /**
   * True: the work is the holder's for `forMs` from now, by the store's time; false while it is another's. A holder may claim
   * again to keep it, or for 0 ms to leave it. One that died keeps nothing longer than it claimed.
   */
  claimWork(work: string, holder: string, forMs: number): Promise<boolean>
}
