import type { AccountId } from '../../lib/protocol/wire/ids.ts'
import type { Queries } from './deps.ts'

/** Advances the account's update seq and returns it. The account's row stays locked until the transaction ends. */
export async function moveClock(tx: Queries, account: AccountId, by: number): Promise<number> {
  return known(await tx.get<{ clock: number }>('UPDATE account SET clock = clock + $1 WHERE id = $2 RETURNING clock', [by, account]))
}

export async function readClock(queries: Queries, account: AccountId): Promise<number> {
  return known(await queries.get<{ clock: number }>('SELECT clock FROM account WHERE id = $1', [account]))
}

function known(row: { clock: number } | undefined): number {
  if (row === undefined) throw new Error('The account does not exist')
  return row.clock
}
