import type { Queries } from '../engine/deps.ts'

/**
 * Until its transaction ends, no other transaction of any instance holds the lock of this name. For decisions that no
 * row can make: what is read after it includes all that the previous holders committed.
 */
export async function holdLock(tx: Queries, name: 'accounts' | 'pairings' | 'pairing requests' | 'signups'): Promise<void> {
  await tx.get('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`afield ${name}`])
}
