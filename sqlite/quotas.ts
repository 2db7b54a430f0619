import type { Database } from 'better-sqlite3'
import type { AccountId } from '../lib/protocol/wire/ids.ts'

/** Whether an account has that many rows already: a walk over an index that ends there, for tables that seldom grow. */
export function rowQuota(database: Database, table: 'session' | 'kv'): (account: AccountId, most: number) => boolean {
  const last = database.prepare<[AccountId, number]>(
    `SELECT 1 FROM ${table} WHERE account = (SELECT key FROM account WHERE id = ?) LIMIT 1 OFFSET ?`
  )
  return (account, most) => Number.isFinite(most) && (most <= 0 || last.get(account, most - 1) !== undefined)
}
