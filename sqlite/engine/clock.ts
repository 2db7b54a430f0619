import type { Database } from 'better-sqlite3'
import type { AccountId } from '../../lib/protocol/wire/ids.ts'

interface AccountClock {
  /** Advances the account's update seq and returns it. Part of the caller's transaction. */
  move(account: AccountId, by: number): number
  read(account: AccountId): number
}

export function accountClock(database: Database): AccountClock {
  const move = database.prepare<[number, AccountId], number>('UPDATE account SET clock = clock + ? WHERE id = ? RETURNING clock').pluck()
  const read = database.prepare<[AccountId], number>('SELECT clock FROM account WHERE id = ?').pluck()
  return {
    move: (account, by) => known(move.get(by, account)),
    read: account => known(read.get(account))
  }
}

function known(clock: number | undefined): number {
  if (clock === undefined) throw new Error('The account does not exist')
  return clock
}
