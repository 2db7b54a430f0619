import Database from 'better-sqlite3'
import t from 'tap'
import { openDamage } from '../../lib/store/damage.ts'
import { readMigrations } from '../../lib/store/migrate.ts'
import { accounts } from '../../sqlite/access/accounts.ts'
import { devices } from '../../sqlite/access/devices.ts'
import { nonces } from '../../sqlite/access/nonces.ts'
import { pairingRequests } from '../../sqlite/access/pairing-requests.ts'
import { pairings } from '../../sqlite/access/pairings.ts'
import { renewals } from '../../sqlite/access/renewals.ts'
import { signup } from '../../sqlite/access/signup.ts'
import { tokens } from '../../sqlite/access/tokens.ts'
import { users } from '../../sqlite/access/users.ts'
import { CommitQueue } from '../../sqlite/engine/commit-queue.ts'
import { accessKeys } from '../../sqlite/rows/access-keys.ts'
import { artifacts } from '../../sqlite/rows/artifacts.ts'
import { attachments } from '../../sqlite/rows/attachments.ts'
import { cells } from '../../sqlite/rows/cells.ts'
import { changes } from '../../sqlite/rows/changes.ts'
import { kv } from '../../sqlite/rows/kv.ts'
import { machines } from '../../sqlite/rows/machines.ts'
import { messages } from '../../sqlite/rows/messages.ts'
import { notices } from '../../sqlite/rows/notices.ts'
import { presence } from '../../sqlite/rows/presence.ts'
import { pushTokens } from '../../sqlite/rows/push-tokens.ts'
import { receipts } from '../../sqlite/rows/receipts.ts'
import { removal } from '../../sqlite/rows/removal.ts'
import { sessions } from '../../sqlite/rows/sessions.ts'
import { usage } from '../../sqlite/rows/usage.ts'
import { safekeeping } from '../../sqlite/safekeeping.ts'

/** What one account owns is reached through it. */
const owned = [
  'session',
  'session_cells',
  'message',
  'machine',
  'push_token',
  'device',
  'account_cells',
  'kv',
  'artifact',
  'attachment',
  'attachment_piece',
  'access_key',
  'removed',
  'usage_report',
  'notice'
]

t.test('every statement uses an index, except a few on small tables', async t => {
  const { database, statements } = prepareAll()
  const scans = statements.filter(sql => planOf(database, sql).some(step => /^SCAN (?!session$|\(subquery|json_each|first)/.test(step)))
  t.same([...new Set(scans)].toSorted(), [
    'DELETE FROM pairing WHERE ends_at <= ?',
    "SELECT 1 FROM account WHERE key <> (SELECT key FROM account WHERE id = ?) AND key NOT IN (SELECT key FROM leftover WHERE kind = 'account') LIMIT 1",
    "SELECT 1 FROM account WHERE key NOT IN (SELECT key FROM leftover WHERE kind = 'account') LIMIT 1",
    `SELECT id, label, created_at AS createdAt, ends_at AS endsAt, open_until AS openUntil, used_at AS usedAt
     FROM invite ORDER BY created_at DESC, id DESC LIMIT 500`,
    `SELECT id, public_key AS publicKey, role, created_at AS createdAt,
       (SELECT max(last_used_at) FROM token WHERE token.account = account.key) AS lastUsedAt, messages, bytes + attachment_bytes + artifact_bytes AS bytes
     FROM account WHERE key NOT IN (SELECT key FROM leftover WHERE kind = 'account') ORDER BY key LIMIT 10000`,
    'SELECT kind, key, account, id FROM leftover LIMIT 1',
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(sqlite_schema.name) WHERE name = 'account')",
    'UPDATE pairing SET ends_at = ends_at + ? WHERE ends_at > ? AND ends_at <= ? AND delivered = 0',
    'UPDATE pairing SET response = NULL WHERE response IS NOT NULL AND ends_at <= ?'
  ])
  t.ok(statements.length > 40, `${statements.length} statements`)
})

t.test('every statement on account data names the account [I1]', async t => {
  const { statements } = prepareAll()
  const unbound = statements.filter(sql => {
    const table = /(?:FROM|UPDATE|INTO) (\w+)/.exec(sql.replace(/^SELECT .* FROM \(/s, 'FROM ('))?.[1]
    return (
      table !== undefined &&
      owned.includes(table) &&
      !/account = (\?|:account|\(SELECT key FROM account WHERE id = \?\))/.test(sql) &&
      !/INTO/.test(sql)
    )
  })
  // Tokens are marked by their own ids, and a delivery takes its own token along; devices, presence, notices, checksums and what is left of
  // files are swept over all accounts at once; the next key of a table is that of all.
  t.same(
    unbound.map(sql => sql.slice(0, 39)),
    [
      'UPDATE device SET last_used_at = max(la',
      'SELECT key FROM device WHERE public_key',
      'SELECT count(*) FROM push_token WHERE d',
      'DELETE FROM device WHERE key = ? AND pu',
      'DELETE FROM device WHERE public_key IS ',
      'UPDATE session SET active = 0 WHERE act',
      'UPDATE machine SET active = 0 WHERE act',
      'DELETE FROM push_token WHERE account = ',
      'DELETE FROM notice WHERE key IN (SELECT',
      'SELECT key AS owner, (SELECT coalesce(m',
      'SELECT key, account, received FROM atta',
      ...[
        "SELECT rowid AS row, 'message ' || seq ",
        "SELECT rowid AS row, 'attachment_piece ",
        "SELECT rowid AS row, 'session_cells ' |",
        "SELECT rowid AS row, 'machine ' || rowi",
        "SELECT rowid AS row, 'account_cells ' |",
        "SELECT rowid AS row, 'kv ' || rowid AS ",
        "SELECT rowid AS row, 'artifact ' || key",
        "SELECT rowid AS row, 'access_key ' || r"
      ]
    ]
  )
})

function prepareAll() {
  const database = new Database(':memory:')
  for (const { sql } of readMigrations('sqlite/')) database.exec(sql)
  const statements: string[] = []
  const prepare = database.prepare.bind(database)
  const queue = new CommitQueue({ database, onBroken: () => {} })
  const spied = Object.assign(Object.create(database), {
    prepare(sql: string) {
      statements.push(sql)
      return prepare(sql)
    }
  })
  for (const subject of [
    accounts,
    signup,
    users,
    tokens,
    devices,
    renewals,
    pairingRequests,
    nonces,
    pairings,
    sessions,
    machines,
    removal,
    changes,
    receipts,
    cells,
    messages,
    presence,
    pushTokens,
    notices,
    kv,
    artifacts,
    attachments,
    accessKeys,
    usage,
    safekeeping
  ]) {
    subject({ database: spied, queue, damage: openDamage() })
  }
  return { database, statements }
}

function planOf(database: Database.Database, sql: string): string[] {
  const parameters = Array.from(sql.matchAll(/\?/g), () => 0)
  const named = { kind: '', key: 0, account: 0, id: '', count: 0 }
  return database
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...(sql.includes(':') ? [named] : parameters))
    .map(({ detail }) => detail)
}
