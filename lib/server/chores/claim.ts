import type { Store } from '../../store/store.ts'

/** What one instance at a time does. */
type Work = 'sweep-leftovers' | 'sweep-presence' | 'remove-old-sessions' | 'forget-notices' | 'move-pairings'

/** Longer than a piece of any work takes; an instance that dies delays the others by it. */
export const claimedForMs = 60_000

/** Whether this instance may do a piece of work now. */
export type Claim = (work: Work, forMs?: number) => Promise<boolean>

export function claimFor({ store }: { store: Pick<Store, 'claimWork'> }, instance: string): Claim {
  return (work, forMs = claimedForMs) => store.claimWork(work, instance, forMs)
}
