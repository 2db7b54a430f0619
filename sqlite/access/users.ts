import type { AccountId, TokenId } from '../../lib/protocol/wire/ids.ts'
import type { AccountStore, Role, UserRow } from '../../lib/store/access/accounts.ts'
import type { Deps } from '../engine/deps.ts'
import { isNotRemoved, leftovers } from '../engine/leftovers.ts'
import { insertRevocation } from './devices.ts'

/** All accounts, for the owner of the server. */
export function users({ database, queue }: Deps): Pick<AccountStore, 'readRole' | 'listAccounts' | 'removeAccount'> {
  const readRole = database.prepare<[AccountId], Role>('SELECT role FROM account WHERE id = ?').pluck()
  const list = database.prepare<[], UserRow>(
    `SELECT id, public_key AS publicKey, role, created_at AS createdAt,
       (SELECT max(last_used_at) FROM token WHERE token.account = account.key) AS lastUsedAt, messages, bytes + attachment_bytes + artifact_bytes AS bytes
     FROM account WHERE ${isNotRemoved} ORDER BY key LIMIT 10000`
  )
  const hasOthers = database.prepare<[AccountId]>(
    `SELECT 1 FROM account WHERE key <> (SELECT key FROM account WHERE id = ?) AND ${isNotRemoved} LIMIT 1`
  )
  const findKey = database.prepare<[AccountId], number>('SELECT key FROM account WHERE id = ?').pluck()
  const findTokens = database.prepare<[number], TokenId>('SELECT id FROM token WHERE account = ?').pluck()
  const rest = leftovers(database)
  const removals = tablesWithAccount().map(table => database.prepare<[number]>(`DELETE FROM ${table} WHERE account = ?`))
  const sleep = (['session', 'machine'] as const).map(table =>
    database.prepare<[number]>(`UPDATE ${table} SET active = 0 WHERE account = ? AND active = 1`)
  )
  const forgetName = database.prepare<[number]>(
    `UPDATE account SET id = 'removed ' || key, public_key = 'removed ' || key, role = 'member' WHERE key = ?`
  )
  const noteRevoked = insertRevocation(database)

  // Read from the schema, so that no table can be forgotten.
  function tablesWithAccount(): string[] {
    return database
      .prepare<[], string>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(sqlite_schema.name) WHERE name = 'account')`
      )
      .pluck()
      .all()
      .filter(table => table !== 'leftover' && !rest.large.includes(table))
  }

  function remove(account: AccountId): { tokens: TokenId[] } | 'missing' | 'owner' {
    const key = findKey.get(account)
    if (key === undefined) return 'missing'
    if (readRole.get(account) === 'owner' && hasOthers.get(account)) return 'owner'
    const tokens = findTokens.all(key)
    for (const token of tokens) noteRevoked(token)
    // Rows reference each other; at the end of the transaction none of them is left.
    database.pragma('defer_foreign_keys = ON')
    for (const removal of removals) removal.run(key)
    if (!rest.leave({ kind: 'account', key, account: key, id: '' })) hide(key)
    return { tokens }
  }

  /** It can no longer be found by name or key, and nothing of it is swept as if it were alive. */
  function hide(key: number): void {
    for (const each of sleep) each.run(key)
    forgetName.run(key)
  }

  return {
    readRole: account => queue.read(() => readRole.get(account) ?? 'missing'),
    listAccounts: () => queue.read(() => list.all()),
    removeAccount: account => queue.write(() => remove(account), { isLong: true })
  }
}
