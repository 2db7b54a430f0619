import type { Clock } from '../../async/clock.ts'
import { every, type Repeating } from '../../async/every.ts'
import type { AccountId } from '../../protocol/wire/ids.ts'
import { type Store, StoreBusy } from '../../store/store.ts'
import type { HeardClock } from './heard-clock.ts'

/** A loss shows at the second look after it: sooner than the five seconds in which clients are told. */
export const lookEveryMs = 2_000
/** Of one query. Those of many accounts follow one another, so that neither side is busy with them for long. */
const mostAccounts = 1_000

interface Watched {
  readonly id: AccountId
  readonly heard: HeardClock | undefined
}

interface ClockWatchDeps<Account extends Watched> {
  store: Pick<Store, 'readClocks'>
  clock: Clock
  accounts(): Iterable<Account>
  /** Changes of the account did not arrive, or nobody knows whether any are missing. */
  onMissed(account: Account, why: 'missed' | 'unknown', stored: number): void
  onError: (error: unknown) => void
}

/**
 * Compares what arrived on the bus with the clocks in the store. That finds every change that was stored and not heard, for
 * whatever reason: the bus is away, or the instance that stored it ended before it could say so.
 */
export function watchClocks<Account extends Watched>({ store, clock, accounts, onMissed, onError }: ClockWatchDeps<Account>): Repeating {
  const look = async () => {
    const all = [...accounts()]
    for (let from = 0; from < all.length; from += mostAccounts) await lookAt(all.slice(from, from + mostAccounts))
  }
  const lookAt = async (some: readonly Account[]) => {
    const clocks = await store.readClocks(some.map(({ id }) => id))
    for (const account of some) {
      const stored = clocks.get(account.id)
      const result = stored === undefined ? undefined : account.heard?.look(stored)
      if (stored !== undefined && (result === 'missed' || result === 'unknown')) onMissed(account, result, stored)
    }
  }
  // While the database is away nothing is stored that could be missed.
  return every(clock, lookEveryMs, look, error => error instanceof StoreBusy || onError(error))
}
