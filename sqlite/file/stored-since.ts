import Database from 'better-sqlite3'
import { withAddon } from './addon.ts'

/** How many rows of a table were stored, changed or removed. */
export interface Difference {
  table: string
  rows: number
}

/**
 * What differs between a database and the copy that was made before its schema changed: everything that was acknowledged
 * since. What every start and every connection changes does not count. A table that only the database has counts with all
 * its rows. No server may use the database.
 */
export function storedSince(file: string, copy: string): Difference[] {
  const database = new Database(file, withAddon({ readonly: true, timeout: 50 }))
  try {
    database.prepare('ATTACH ? AS copy').run(copy)
    return tablesIn(database, 'main')
      .filter(table => !ofTheServer.has(table))
      .map(table => ({ table, rows: differing(database, table) }))
      .filter(({ rows }) => rows > 0)
  } finally {
    database.close()
  }
}

/** The number of the last migration that a database has had; undefined if there is no database. */
export function schemaNumber(file: string): number | undefined {
  try {
    const database = new Database(file, withAddon({ readonly: true, fileMustExist: true, timeout: 50 }))
    try {
      return Number(database.pragma('user_version', { simple: true }))
    } finally {
      database.close()
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_CANTOPEN') return undefined
    throw error
  }
}

/** Tables about the database itself, and secrets that each version of the server draws at its first start. */
const ofTheServer = new Set(['migration', 'last_start', 'epoch', 'legacy_hold', 'server_secret', 'sqlite_sequence'])

/** Who is connected, when a token was last used, and what is computed from other columns. */
const passing = new Set(['active', 'active_at', 'last_used_at', 'last_used_from', 'crc'])

/** Rows of these are large and never change once they are stored. */
const keyOf: Readonly<Record<string, readonly string[]>> = {
  message: ['account', 'session', 'seq'],
  attachment_piece: ['account', 'attachment', 'at']
}

function differing(database: Database.Database, table: string): number {
  const before = new Set(columnsOf(database, 'copy', table))
  const shared = columnsOf(database, 'main', table).filter(column => before.has(column) && !passing.has(column))
  if (shared.length === 0) return count(database, `SELECT 1 FROM main."${table}"`)
  const columns = (keyOf[table] ?? shared).map(column => `"${column}"`).join(', ')
  const rows = (schema: string) => `SELECT ${columns} FROM ${schema}."${table}"`
  const added = count(database, `${rows('main')} EXCEPT ${rows('copy')}`)
  const gone = count(database, `${rows('copy')} EXCEPT ${rows('main')}`)
  // A changed row is in both.
  return Math.max(added, gone)
}

function tablesIn(database: Database.Database, schema: string): string[] {
  return database.prepare<[], string>(`SELECT name FROM ${schema}.sqlite_schema WHERE type = 'table' ORDER BY name`).pluck().all()
}

function columnsOf(database: Database.Database, schema: string, table: string): string[] {
  return database.prepare<[string, string], string>('SELECT name FROM pragma_table_info(?, ?)').pluck().all(table, schema)
}

function count(database: Database.Database, select: string): number {
  return Number(database.prepare(`SELECT count(*) FROM (${select})`).pluck().get())
}
