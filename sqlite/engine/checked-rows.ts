import type { Database } from 'better-sqlite3'
import { checksumOf } from '../../lib/store/checksum.ts'

interface CheckedTable {
  table: string
  /** The two numbers that identify a row's position. */
  place: readonly [string, string]
  values: readonly string[]
  /** Whether its own statements store the checksum: a trigger would write a large row twice. */
  writesItself?: true
}

/** All sealed data. */
export const checkedTables: readonly CheckedTable[] = [
  { table: 'message', place: ['session', 'seq'], values: ['sealed'], writesItself: true },
  { table: 'attachment_piece', place: ['attachment', 'at'], values: ['bytes'], writesItself: true },
  { table: 'session_cells', place: ['account', 'session'], values: ['data_key', 'metadata', 'agent_state'] },
  { table: 'machine', place: ['account', 'key'], values: ['data_key', 'metadata', 'daemon_state'] },
  { table: 'account_cells', place: ['account', 'account'], values: ['settings'], writesItself: true },
  { table: 'kv', place: ['account', 'account'], values: ['name', 'value'] },
  { table: 'artifact', place: ['account', 'key'], values: ['data_key', 'header', 'body'], writesItself: true },
  { table: 'access_key', place: ['session', 'machine'], values: ['data'] }
]

/** A row compared with its checksum. */
interface CheckedRow {
  row: number
  /** Which it is, in words. */
  name: string
  sound: 0 | 1
  bytes: number
}

/** The checked rows of one table, after a row id. */
export type NextRows = (after: number, limit: number) => Iterable<CheckedRow>

/**
 * Stores a checksum in every row of sealed data, whichever statement writes it, and returns the ways
 * to compare them. Rows from before there were checksums have none, and count as intact.
 */
export function keepChecksums(database: Database): NextRows[] {
  defineChecksum(database)
  return checkedTables.map(checked => {
    if (!checked.writesItself) database.exec(triggersOn(checked))
    const next = database.prepare<[number, number], CheckedRow>(selectFrom(checked))
    return (after, limit) => next.iterate(after, limit)
  })
}

/** As an SQL function of the connection: `checksumCall` calls it. */
export function defineChecksum(database: Database): void {
  database.function('checksum', { varargs: true, deterministic: true }, (...given: unknown[]) => {
    const [place, at, ...values] = given
    return checksumOf(Number(place), Number(at), ...values.map(asStored))
  })
}

/** The checksum of a row, in SQL; `before` each column is the row's name, or the sign of a parameter. */
export function checksumCall({ place, values }: CheckedTable, before: string): string {
  return `checksum(${[...place, ...values].map(column => `${before}${column}`).join(', ')})`
}

function triggersOn(checked: CheckedTable): string {
  const { table, values } = checked
  const check = `BEGIN UPDATE ${table} SET crc = ${checksumCall(checked, 'new.')} WHERE rowid = new.rowid; END`
  return `CREATE TEMP TRIGGER ${table}_inserted AFTER INSERT ON main.${table} ${check};
    CREATE TEMP TRIGGER ${table}_written AFTER UPDATE OF ${values.join(', ')} ON main.${table} ${check};`
}

function selectFrom(checked: CheckedTable): string {
  const {
    table,
    place: [place, at],
    values,
    writesItself
  } = checked
  const name = writesItself ? `'${table} ' || ${at} || ' of ' || ${place}` : `'${table} ' || rowid`
  const bytes = values.map(column => `coalesce(octet_length(${column}), 0)`).join(' + ')
  return `SELECT rowid AS row, ${name} AS name, ${bytes} AS bytes,
    crc IS NULL OR crc = ${checksumCall(checked, `${table}.`)} AS sound
    FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ?`
}

function asStored(value: unknown): string | Uint8Array | null {
  return value === null || value instanceof Uint8Array ? value : String(value)
}
