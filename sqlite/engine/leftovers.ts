import type { Database } from 'better-sqlite3'

/** How long a piece may take, so that writes in the same turn hardly wait. */
export const pieceMs = 5
/** Rows processed between two checks of the clock, and roughly their size. */
const rowsAtOnce = 100
const bytesAtOnce = 256 * 1024

type Kind = 'account' | 'session' | 'machine'
/** Something removed, by the keys it had. */
interface Removed {
  kind: Kind
  key: number
  account: number
  id: string
}

/** Removes the next rows of a table; true if none is left. */
type Step = (removed: Removed) => boolean

/**
 * Remains of removed accounts, sessions and machines, which are deleted in small pieces, so that
 * nobody waits for a huge one.
 */
interface Leftovers {
  /** Tables of which one account may have millions of rows, or huge ones. */
  readonly large: readonly string[]
  /**
   * Removes its first rows, and records it if there are more; true if nothing is left. As part of the
   * caller's transaction.
   */
  leave(removed: Removed): boolean
  /** Removes the next remains, as part of the caller's transaction; false if there were none. */
  sweep(): boolean
}

export function leftovers(database: Database): Leftovers {
  const next = database.prepare<[], Removed>('SELECT kind, key, account, id FROM leftover LIMIT 1')
  const note = database.prepare<Removed>('INSERT INTO leftover (kind, key, account, id) VALUES (:kind, :key, :account, :id)')
  const forget = database.prepare<Removed>('DELETE FROM leftover WHERE kind = :kind AND key = :key')
  const steps: Record<Kind, Step[]> = {
    account: [...tablesOfAccount.map(table => removal(database, { ...table, where: 'account = :account' })), removeAccount(database)],
    session: [
      ...tablesOfSession.map(table => removal(database, { ...table, where: 'account = :account AND session = :key' })),
      removal(database, { table: 'notice', bytes: 'octet_length(body)', where: 'account = :account AND session = :id' }),
      leaveAttachments(database)
    ],
    machine: [removal(database, { ...accessKeys, where: 'account = :account AND machine = :key' })]
  }

  /** One table after another: references to a row are removed before it. */
  function removeSome(removed: Removed, ms: number): boolean {
    const until = performance.now() + ms
    for (const step of steps[removed.kind]) {
      while (!step(removed)) if (performance.now() >= until) return false
    }
    return true
  }

  return {
    large: tablesOfAccount.map(({ table }) => table),
    leave(removed) {
      const isGone = removeSome(removed, 0)
      if (!isGone) note.run(removed)
      return isGone
    },
    sweep() {
      const removed = next.get()
      if (!removed) return false
      if (removeSome(removed, pieceMs)) forget.run(removed)
      return true
    }
  }
}

interface Table {
  table: string
  /** The approximate size of a row. SQLite finds the length of a text without reading it. */
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
  { table: 'kv', bytes: 'ifnull(octet_length(value), 0)' },
  { table: 'session_cells', bytes: 'ifnull(octet_length(metadata), 0) + ifnull(octet_length(agent_state), 0)' },
  { table: 'session', bytes: '100' },
  { table: 'machine', bytes: 'ifnull(octet_length(metadata), 0) + ifnull(octet_length(daemon_state), 0)' }
]

function removal(database: Database, { table, bytes, where }: Table & { where: string }): Step {
  const sizes = database.prepare<Removed, number>(`SELECT ${bytes} FROM ${table} WHERE ${where} LIMIT ${rowsAtOnce}`).pluck()
  const remove = database.prepare<Removed & { count: number }>(
    `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${where} LIMIT :count)`
  )
  return removed => {
    const { count, isAll } = firstOf(sizes.iterate(removed))
    if (count > 0) remove.run({ ...removed, count })
    return isAll
  }
}

function firstOf(sizes: Iterable<number>): { count: number; isAll: boolean } {
  let count = 0
  let bytes = 0
  for (const size of sizes) {
    if (count > 0 && bytes + size > bytesAtOnce) return { count, isAll: false }
    count += 1
    bytes += size
  }
  return { count, isAll: count < rowsAtOnce }
}

/**
 * Removed by the sweep of expired attachments, one at a time. Until then each belongs to a session of its own that does
 * not exist, since clients may use one name in several.
 */
function leaveAttachments(database: Database): Step {
  const leave = database.prepare<Removed>(
    `UPDATE attachment SET session = -key, ends_at = 0
     WHERE rowid IN (SELECT rowid FROM attachment WHERE account = :account AND session = :key LIMIT ${rowsAtOnce})`
  )
  return removed => leave.run(removed).changes < rowsAtOnce
}

function removeAccount(database: Database): Step {
  const remove = database.prepare<Removed>('DELETE FROM account WHERE key = :key')
  return removed => {
    remove.run(removed)
    return true
  }
}

/** A key for a new row of the table that no remains belong to. */
export function freeKey(kind: 'session' | 'machine'): string {
  return `1 + max(ifnull((SELECT max(key) FROM ${kind}), 0), ifnull((SELECT max(key) FROM leftover WHERE kind = '${kind}'), 0))`
}

/** SQL condition for account rows: it was not removed, so it is not only waiting to be swept. */
export const isNotRemoved = `key NOT IN (SELECT key FROM leftover WHERE kind = 'account')`
/** The same for rows of an account. */
export const ofNoneRemoved = `account NOT IN (SELECT key FROM leftover WHERE kind = 'account')`
