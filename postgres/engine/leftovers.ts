import type { Queries, Tx } from './deps.ts'

/** How long a piece may take, so that writes that wait for it hardly notice. */
export const pieceMs = 20
/** Rows removed by one statement, and roughly their size. */
const rowsAtOnce = 500
const bytesAtOnce = 1024 * 1024

type Kind = 'account' | 'session' | 'machine'
/** Something removed, by the keys it had. */
export interface Removed {
  kind: Kind
  key: number
  account: number
  id: string
}

/** Removes the next rows of a table; true if none is left. */
type Step = (tx: Queries, removed: Removed) => Promise<boolean>

interface Table {
  table: string
  /** The approximate size of a row, found without reading its text. */
  bytes: string
}

const accessKeys = { table: 'access_key', bytes: 'octet_length(data)' }
const tablesOfSession: readonly Table[] = [
  { table: 'message', bytes: 'octet_length(sealed)' },
  { table: 'usage_report', bytes: 'octet_length(tokens) + octet_length(cost)' },
  accessKeys
]
/** Rows that reference another come before it. */
const tablesOfAccount: readonly Table[] = [
  ...tablesOfSession,
  { table: 'attachment_piece', bytes: 'octet_length(bytes)' },
  { table: 'attachment', bytes: '100' },
  { table: 'delivery', bytes: '100' },
  { table: 'notice', bytes: 'octet_length(body)' },
  { table: 'artifact', bytes: 'octet_length(header) + octet_length(body)' },
  { table: 'kv', bytes: 'coalesce(octet_length(value), 0)' },
  { table: 'session_cells', bytes: 'coalesce(octet_length(metadata), 0) + coalesce(octet_length(agent_state), 0)' },
  { table: 'session', bytes: '100' },
  { table: 'machine', bytes: 'coalesce(octet_length(metadata), 0) + coalesce(octet_length(daemon_state), 0)' }
]

/** Tables of which one account may have millions of rows, or huge ones. */
export const largeTables: readonly string[] = tablesOfAccount.map(({ table }) => table)

const steps: Record<Kind, readonly Step[]> = {
  account: [...tablesOfAccount.map(table => removal(table, 'account = $1', ({ account }) => [account])), removeAccount],
  session: [
    ...tablesOfSession.map(table => removal(table, 'account = $1 AND session = $2', ({ account, key }) => [account, key])),
    removal({ table: 'notice', bytes: 'octet_length(body)' }, 'account = $1 AND session = $2', ({ account, id }) => [account, id]),
    leaveAttachments
  ],
  machine: [removal(accessKeys, 'account = $1 AND machine = $2', ({ account, key }) => [account, key])]
}

/** Removes its first rows, and records it if there are more; true if nothing is left. The account is locked by the caller. */
export async function leave(tx: Tx, removed: Removed): Promise<boolean> {
  const isGone = await removeSome(tx, removed, 0)
  const { kind, key, account, id } = removed
  if (!isGone) tx.send('INSERT INTO leftover (kind, key, account, id) VALUES ($1, $2, $3, $4)', [kind, key, account, id])
  return isGone
}

/** Removes the next remains that no other instance is removing; false if there were none. */
export async function sweepNext(tx: Tx): Promise<boolean> {
  const removed = await tx.get<Removed>('SELECT kind, key, account, id FROM leftover LIMIT 1 FOR UPDATE SKIP LOCKED', [])
  if (!removed) return false
  // Before its rows, like every other write: their removal moves its counters.
  await tx.run('SELECT FROM account WHERE key = $1 FOR NO KEY UPDATE', [removed.account])
  if (await removeSome(tx, removed, pieceMs)) {
    tx.send('DELETE FROM leftover WHERE kind = $1 AND key = $2', [removed.kind, removed.key])
  }
  return true
}

/** One table after another: references to a row are removed before it. */
async function removeSome(tx: Queries, removed: Removed, ms: number): Promise<boolean> {
  const until = performance.now() + ms
  for (const step of steps[removed.kind]) {
    while (!(await step(tx, removed))) if (performance.now() >= until) return false
  }
  return true
}

function removal({ table, bytes }: Table, where: string, valuesOf: (removed: Removed) => unknown[]): Step {
  const first = `SELECT ctid, row_number() OVER () AS place, sum(${bytes}) OVER (ROWS UNBOUNDED PRECEDING) AS sum
    FROM (SELECT ctid, * FROM ${table} WHERE ${where} LIMIT ${rowsAtOnce}) AS next`
  const remove = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM (${first}) AS first WHERE place = 1 OR sum <= ${bytesAtOnce}))`
  const isLeft = `SELECT FROM ${table} WHERE ${where} LIMIT 1`
  return async (tx, removed) => {
    const values = valuesOf(removed)
    const count = await tx.run(remove, values)
    return count === 0 || (count < rowsAtOnce && (await tx.get(isLeft, values)) === undefined)
  }
}

/** Removed by the sweep of expired attachments, one at a time. */
async function leaveAttachments(tx: Queries, { account, key }: Removed): Promise<boolean> {
  const left = await tx.run(
    `UPDATE attachment SET session = 0, ends_at = 0
     WHERE key IN (SELECT key FROM attachment WHERE account = $1 AND session = $2 LIMIT ${rowsAtOnce})`,
    [account, key]
  )
  return left < rowsAtOnce
}

async function removeAccount(tx: Queries, { account }: Removed): Promise<boolean> {
  await tx.run('DELETE FROM account WHERE key = $1', [account])
  return true
}

/** SQL condition for account rows: it was not removed, so it is not only waiting to be swept. */
export const isNotRemoved = `key NOT IN (SELECT key FROM leftover WHERE kind = 'account')`
/** The same for rows of an account. */
export const ofNoneRemoved = `account NOT IN (SELECT key FROM leftover WHERE kind = 'account')`
