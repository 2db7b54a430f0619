import { CannotStart } from '../lib/exit.ts'
import { checksumOf } from '../lib/store/checksum.ts'
import { openDamage } from '../lib/store/damage.ts'
import { readMigrations } from '../lib/store/migrate.ts'
import {
  isSameRow,
  type LastKeys,
  type MoveTarget,
  mostTransferBytes,
  mostTransferRows,
  RowTaken,
  rowName,
  type TransferRow,
  type TransferTable,
  type TransferValue,
  transferTables
} from '../lib/store/transfer.ts'
import type { Connection } from './engine/connection.ts'
import { openPrepared, placeOf, refuseUnfinished, unfinishedMove } from './engine/database.ts'
import { readSchema } from './engine/schema.ts'

/**
 * Opens a database that no server uses, and updates its schema; until it is closed, no server can start with it.
 * `isWhole`: not one that is being filled.
 */
export async function openPostgresTransfer(url: string, { isWhole = false } = {}): Promise<MoveTarget> {
  const place = placeOf(url)
  const migrations = readMigrations('postgres/')
  const connection = await openPrepared(url, { migrations })
  try {
    // A server may use one with columns it does not know, but not leave them out of a copy.
    if ((await readSchema(connection, place)).number > migrations.length) {
      throw new CannotStart(`The database ${place} was written by a newer Afield; use that version or a later one.`)
    }
    await connection.command('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    await refuseServers(connection, place)
    if (isWhole) await refuseUnfinished(connection, place)
  } catch (error) {
    await connection.close()
    throw error
  }
  return new PostgresTransfer(connection, place)
}

async function refuseServers(connection: Connection, place: string): Promise<void> {
  const other = await connection.get(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'afield' AND pid <> pg_backend_pid()`,
    []
  )
  if (other) throw new CannotStart(`An Afield server is using the database ${place}; stop every instance first.`)
}

class PostgresTransfer implements MoveTarget {
  readonly #connection: Connection
  readonly #place: string
  readonly #damage = openDamage()
  #isOpen = false

  constructor(connection: Connection, place: string) {
    this.#connection = connection
    this.#place = place
  }

  async begin(epoch: string): Promise<'new' | 'begun'> {
    const begun = await this.#begunFrom()
    if (begun === epoch) return 'begun'
    if (begun !== undefined) {
      throw new CannotStart(`Another store is being moved into the database ${this.#place}; finish that, or choose an empty database.`)
    }
    if ((await this.#connection.get('SELECT FROM account LIMIT 1', [])) !== undefined) {
      const isSame = (await this.#connection.get('SELECT FROM epoch WHERE id = $1', [epoch])) !== undefined
      throw new CannotStart(
        isSame
          ? `The database ${this.#place} already has everything of this store.`
          : `The database ${this.#place} already has accounts; choose an empty one.`
      )
    }
    await this.atomically(async () => {
      // What a first start leaves there, such as keys of its own, has no meaning without accounts.
      await this.#connection.command(`TRUNCATE ${transferTables.map(({ name }) => name).join(', ')}`)
      await this.#connection.command(`CREATE TABLE ${unfinishedMove} (epoch text NOT NULL)`)
      await this.#connection.run(`INSERT INTO ${unfinishedMove} (epoch) VALUES ($1)`, [epoch])
    })
    return 'new'
  }

  async last(table: TransferTable): Promise<TransferRow | undefined> {
    const backwards = table.key.map(column => `${column} DESC`).join(', ')
    const row = await this.#connection.get<Record<string, TransferValue | boolean>>(
      `SELECT ${Object.keys(table.columns).join(', ')} FROM ${table.name} ORDER BY ${backwards} LIMIT 1`,
      []
    )
    return row && plainRow(row)
  }

  async finish(): Promise<void> {
    await this.#connection.command(`DROP TABLE ${unfinishedMove}`)
    await this.#connection.command('ANALYZE')
  }

  async count({ name }: TransferTable): Promise<number> {
    return (await this.#connection.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`, []))?.rows ?? 0
  }

  async read(table: TransferTable, after: TransferRow | undefined): Promise<TransferRow[]> {
    const key = table.key.join(', ')
    const places = table.key.map((_, index) => `$${index + 1}`).join(', ')
    const sizes = Object.entries(table.columns).flatMap(([column, kind]) =>
      kind === 'text' || kind === 'bytes' ? [`coalesce(octet_length(${column}), 0)`] : []
    )
    const size = ['0', ...sizes].join(' + ')
    const columns = Object.keys(table.columns).join(', ')
    const found = `SELECT ${columns} FROM ${table.name} ${after ? `WHERE (${key}) > (${places})` : ''} ORDER BY ${key} LIMIT ${mostTransferRows}`
    const rows = await this.#connection.all<Record<string, TransferValue | boolean>>(
      `SELECT ${columns} FROM (
         SELECT *, sum(${size}) OVER (ORDER BY ${key} ROWS UNBOUNDED PRECEDING) - (${size}) AS bytes_before FROM (${found}) AS found
       ) AS sized WHERE bytes_before < ${mostTransferBytes} ORDER BY ${key}`,
      after ? table.key.map(column => after[column]) : []
    )
    return rows.map(row => {
      const plain = plainRow(row)
      if (!isSound(table, plain)) throw this.#damage.note(rowName(table, plain))
      return plain
    })
  }

  async write(table: TransferTable, rows: readonly TransferRow[]): Promise<void> {
    if (rows.length === 0) return
    await this.atomically(async () => {
      if ((await this.#insert(table.name, table, rows)) < rows.length) await this.#refuseOthers(table, rows)
    })
  }

  async lastKeys(): Promise<LastKeys> {
    const keys: Record<string, number> = {}
    for (const { name } of tablesWithKeys) {
      const row = await this.#connection.get<{ key: number }>(
        `SELECT greatest((SELECT max(key) FROM ${name}), (SELECT max(key) FROM leftover WHERE kind = $1),
           (SELECT CASE WHEN is_called THEN last_value END FROM ${sequenceOf(name)}), 0) AS key`,
        [name]
      )
      keys[name] = row?.key ?? 0
    }
    return keys
  }

  async continueAfter(keys: LastKeys): Promise<void> {
    const own = await this.lastKeys()
    for (const { name } of tablesWithKeys) {
      const last = Math.max(keys[name] ?? 0, own[name] ?? 0)
      if (last > 0) await this.#connection.all('SELECT setval($1::regclass, $2::bigint)', [sequenceOf(name), last])
    }
  }

  /** One in another is a part of it. */
  async atomically<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isOpen) return run()
    this.#isOpen = true
    try {
      await this.#connection.command('BEGIN')
      const value = await run()
      await this.#connection.command('COMMIT')
      return value
    } catch (error) {
      if (!this.#connection.isLost) await this.#connection.command('ROLLBACK')
      throw error
    } finally {
      this.#isOpen = false
    }
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #begunFrom(): Promise<string | undefined> {
    const exists = await this.#connection.get(`SELECT WHERE to_regclass('${unfinishedMove}') IS NOT NULL`, [])
    if (!exists) return undefined
    return (await this.#connection.get<{ epoch: string }>(`SELECT epoch FROM ${unfinishedMove}`, []))?.epoch
  }

  #insert(into: string, { columns }: TransferTable, rows: readonly TransferRow[]): Promise<number> {
    const names = Object.keys(columns)
    const lists = Object.values(columns).map((kind, index) => `$${index + 1}::${typeOf[kind]}[]`)
    return this.#connection.run(
      `INSERT INTO ${into} (${names.join(', ')}) SELECT * FROM unnest(${lists.join(', ')}) ON CONFLICT DO NOTHING`,
      names.map(name => rows.map(row => asGiven(row[name])))
    )
  }

  async #refuseOthers(table: TransferTable, rows: readonly TransferRow[]): Promise<void> {
    const columns = Object.keys(table.columns).join(', ')
    const where = table.key.map((column, index) => `${column} = $${index + 1}`).join(' AND ')
    for (const row of rows) {
      const there = await this.#connection.get<Record<string, TransferValue | boolean>>(
        `SELECT ${columns} FROM ${table.name} WHERE ${where}`,
        table.key.map(column => row[column])
      )
      if (!there || !isSameRow(table, plainRow(there), row)) {
        throw new RowTaken(`${rowName(table, row)} is there already, with other content`)
      }
    }
  }
}

const typeOf = { integer: 'bigint', flag: 'boolean', text: 'text', bytes: 'bytea' }

const tablesWithKeys = transferTables.filter(({ name, columns }) => 'key' in columns && name !== 'leftover')

function sequenceOf(table: string): string {
  return `${table}_key_seq`
}

function asGiven(value: TransferValue | undefined): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value
}

function plainRow(row: Record<string, TransferValue | boolean>): TransferRow {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, typeof value === 'boolean' ? Number(value) : value]))
}

function isSound({ name }: TransferTable, { session, seq, sealed, attachment, at, bytes, crc }: TransferRow): boolean {
  if (name === 'message') return crc === checksumOf(Number(session), Number(seq), String(sealed))
  if (name === 'attachment_piece' && bytes instanceof Uint8Array) return crc === checksumOf(Number(attachment), Number(at), bytes)
  return true
}
