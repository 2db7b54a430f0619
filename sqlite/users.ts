import type { AccountId, TokenId } from '../lib/protocol/wire/ids.ts'
import type { Role, SignupStore, UserRow } from '../lib/store/signup.ts'
import type { Deps } from './deps.ts'
import { insertRevocation } from './devices.ts'
import { leftovers } from './leftovers.ts'

/** Accounts as a whole, for the owner of the server. */
export function users({ database, queue }: Deps): Pick<SignupStore, 'readRole' | 'listAccounts' | 'removeAccount'> {
  const readRole = database.prepare<[AccountId], Role>('SELECT role FROM account WHERE id = ?').pluck()
  const list = database.prepare<[], UserRow>(
    `SELECT id, public_key AS publicKey, role, created_at AS createdAt,
       (SELECT max(last_used_at) FROM token WHERE token.account = account.key) AS lastUsedAt, messages, bytes + attachment_bytes + artifact_bytes AS bytes
     FROM account ORDER BY key LIMIT 10000`
  )
  const hasOthers = database.prepare<[AccountId]>('SELECT 1 FROM account WHERE key <> (SELECT key FROM account WHERE id = ?) LIMIT 1')
  const findKey = database.prepare<[AccountId], number>('SELECT key FROM account WHERE id = ?').pluck()
  const findTokens = database.prepare<[number], TokenId>('SELECT id FROM token WHERE account = ?').pluck()
  const rest = leftovers(database)
  const removals = tablesWithAccount().map(table => database.prepare<[number]>(`DELETE FROM ${table} WHERE account = ?`))
  const removeAccount = database.prepare<[number]>('DELETE FROM account WHERE key = ?')
  const noteRevoked = insertRevocation(database)

  // Read from the schema, so that no table can be forgotten.
  function tablesWithAccount(): string[] {
    return database
      .prepare<[], string>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(sqlite_schema.name) WHERE name = 'account')`
      )
      .pluck()
      .all()
      .filter(table => table !== 'leftover' && !rest.tables.includes(table))
  }

  function remove(account: AccountId): { tokens: TokenId[] } | 'missing' | 'owner' {
    const key = findKey.get(account)
    if (key === undefined) return 'missing'
    if (readRole.get(account) === 'owner' && hasOthers.get(account)) return 'owner'
    const tokens = findTokens.all(key)
    for (const token of tokens) noteRevoked(token)
    // Rows point at each other; at the end of the transaction none of them is left.
    database.pragma('defer_foreign_keys = ON')
    rest.leave(key)
    for (const removal of removals) removal.run(key)
    removeAccount.run(key)
    return { tokens }
  }

  return {
    readRole: account => queue.read(() => readRole.get(account) ?? 'missing'),
    listAccounts: () => queue.read(() => list.all()),
    removeAccount: account => queue.write(() => remove(account))
  }
}
