import type { AccountId, TokenId } from '../../lib/protocol/wire/ids.ts'
import type { AccountStore, Role, UserRow } from '../../lib/store/access/accounts.ts'
import type { Deps, Tx } from '../engine/deps.ts'
import { isNotRemoved, largeTables, leave } from '../engine/leftovers.ts'
import { endTokens } from './devices.ts'
import { holdLock } from './named-lock.ts'

/** All accounts, for the owner of the server. */
export function users({ write, read }: Deps): Pick<AccountStore, 'readRole' | 'listAccounts' | 'removeAccount'> {
  return {
    readRole: account =>
      read(async queries => {
        const row = await queries.get<{ role: Role }>('SELECT role FROM account WHERE id = $1', [account])
        return row?.role ?? 'missing'
      }),
    listAccounts: () =>
      read(queries =>
        queries.all<UserRow>(
          `SELECT id, public_key AS "publicKey", role, created_at AS "createdAt",
             (SELECT max(last_used_at) FROM token WHERE token.account = account.key) AS "lastUsedAt", messages, bytes + attachment_bytes + artifact_bytes AS bytes
           FROM account WHERE ${isNotRemoved} ORDER BY key LIMIT 10000`,
          []
        )
      ),
    removeAccount: account => write(account, tx => remove(tx, account), { isLong: true })
  }
}

async function remove(tx: Tx, account: AccountId): Promise<{ tokens: TokenId[] } | 'missing' | 'owner'> {
  const known = await tx.get<{ key: number; role: Role }>('SELECT key, role FROM account WHERE id = $1', [account])
  if (!known) return 'missing'
  const { key, role } = known
  if (role === 'owner' && (await hasOthers(tx, key))) return 'owner'
  const tokens = await endTokens(tx, 'account = $1', [key])
  for (const table of await tablesWithAccount(tx)) tx.send(`DELETE FROM ${table} WHERE account = $1`, [key])
  if (!(await leave(tx, { kind: 'account', key, account: key, id: '' }))) await hide(tx, key)
  return { tokens: tokens.map(({ id }) => id) }
}

async function hasOthers(tx: Tx, key: number): Promise<boolean> {
  // Nobody signs up meanwhile: a server with accounts has an owner.
  await holdLock(tx, 'accounts')
  return (await tx.get(`SELECT 1 FROM account WHERE key <> $1 AND ${isNotRemoved} LIMIT 1`, [key])) !== undefined
}

/** Read from the schema, so that no table can be forgotten. */
async function tablesWithAccount(tx: Tx): Promise<string[]> {
  const rows = await tx.all<{ name: string }>(
    `SELECT relname AS name FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND attname = 'account' AND NOT attisdropped
       AND relname <> 'leftover' AND relname <> ALL($1::text[])`,
    [largeTables]
  )
  return rows.map(({ name }) => name)
}

/** It can no longer be found by name or key, and nothing of it is swept as if it were alive. */
async function hide(tx: Tx, key: number): Promise<void> {
  for (const table of ['session', 'machine']) await tx.run(`UPDATE ${table} SET active = false WHERE account = $1 AND active`, [key])
  await tx.run(`UPDATE account SET id = 'removed ' || key, public_key = 'removed ' || key, role = 'member' WHERE key = $1`, [key])
}
