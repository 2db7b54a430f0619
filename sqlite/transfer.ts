import type { Database, Statement } from 'better-sqlite3'
import { openDamage } from '../lib/store/damage.ts'
import { readMigrations } from '../lib/store/migrate.ts'
import {
  isSameRow,
  type LastKeys,
  mostTransferBytes,
  mostTransferRows,
  RowTaken,
  rowName,
  sizeOf,
  type Transfer,
  type TransferRow,
  type TransferTable,
  transferTables
} from '../lib/store/transfer.ts'
import { checkedTables, checksumCall, defineChecksum } from './engine/checked-rows.ts'
import { openDatabase } from './file/database.ts'

/** Opens a database with its directory locked, as a server does, and updates its schema. */
export async function openSqliteTransfer(file: string, dataDirectory: string): Promise<Transfer> {
  const { database, close } = await openDatabase(file, { dataDirectory, clock: Date.now, migrations: readMigrations('sqlite/') })
  defineChecksum(database)
  const statements = new Map(transferTables.map(table => [table, statementsFor(database, table)]))
  const damage = openDamage()

  function of(table: TransferTable): Statements {
    const found = statements.get(table)
    if (!found) throw new Error(`There is no table ${table.name}`)
    return found
  }

  function read(table: TransferTable, after: TransferRow | undefined): TransferRow[] {
    const { first, next } = of(table)
    const page: TransferRow[] = []
    let bytes = 0
    for (const { sound, ...row } of after ? next.iterate(after) : first.iterate()) {
      if (sound === 0) throw damage.note(rowName(table, row))
      page.push(row)
      bytes += sizeOf(row)
      // Leaving the loop closes the iterator, and with it the statement.
      if (bytes >= mostTransferBytes) break
    }
    return page
  }

  function write(table: TransferTable, rows: readonly TransferRow[]): void {
    const { find, insert } = of(table)
    for (const row of rows) {
      if (insert.run(row).changes > 0) continue
      const there = find.get(row)
      if (!there || !isSameRow(table, there, row)) throw new RowTaken(`${rowName(table, row)} is there already, with other content`)
    }
  }

  return {
    count: async table => Number(database.prepare(`SELECT count(*) FROM ${table.name}`).pluck().get()),
    read: async (table, after) => read(table, after),
    write: async (table, rows) => database.transaction(() => write(table, rows))(),
    lastKeys: async () => lastKeysIn(database),
    async continueAfter({ account = 0 }) {
      // The keys of the others are above all that their table and `leftover` have.
      if ((lastKeysIn(database)['account'] ?? 0) >= account) return
      database.prepare("DELETE FROM sqlite_sequence WHERE name = 'account'").run()
      database.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('account', ?)").run(account)
    },
    async atomically(run) {
      database.exec('BEGIN IMMEDIATE')
      try {
        const value = await run()
        database.exec('COMMIT')
        return value
      } finally {
        if (database.inTransaction) database.exec('ROLLBACK')
      }
    },
    close: async () => close()
  }
}

interface Statements {
  first: Statement<[], TransferRow>
  next: Statement<[TransferRow], TransferRow>
  find: Statement<[TransferRow], TransferRow>
  insert: Statement<[TransferRow]>
}

function statementsFor(database: Database, table: TransferTable): Statements {
  const checked = checkedTables.find(({ table: name }) => name === table.name)
  const columns = Object.keys(table.columns)
  const selected = columns.map(column => {
    // Rows from before there were checksums have none.
    const value = column === 'crc' && checked ? `coalesce(crc, ${checksumCall(checked, '')})` : ownName(table, column)
    return `${value} AS ${column}`
  })
  const sound = checked ? `crc IS NULL OR crc = ${checksumCall(checked, '')}` : '1'
  const select = `SELECT ${selected.join(', ')}, ${sound} AS sound FROM ${table.name}`
  const key = table.key.map(column => ownName(table, column)).join(', ')
  const given = table.key.map(column => `:${column}`).join(', ')
  const order = `ORDER BY ${key} LIMIT ${mostTransferRows}`

  const written = columns.map(column => [ownName(table, column), `:${column}`])
  if (checked && !('crc' in table.columns)) written.push(['crc', checksumCall(checked, ':')])
  const insert = `INSERT INTO ${table.name} (${written.map(([name]) => name).join(', ')})
    VALUES (${written.map(([, value]) => value).join(', ')}) ON CONFLICT DO NOTHING`
  return {
    first: database.prepare(`${select} ${order}`),
    next: database.prepare(`${select} WHERE (${key}) > (${given}) ${order}`),
    find: database.prepare(`${select} WHERE (${key}) = (${given})`),
    insert: database.prepare(insert)
  }
}

/** PostgreSQL reserves the word `only`; a row of usage has no key of its own here. */
function ownName({ name }: TransferTable, column: string): string {
  if (column === 'only_row') return 'only'
  return name === 'usage_report' && column === 'key' ? 'rowid' : column
}

function lastKeysIn(database: Database): LastKeys {
  const withKeys = transferTables.filter(({ name, columns }) => 'key' in columns && name !== 'leftover')
  const last = database.prepare<[], { name: string; key: number }>(
    `${withKeys.map(table => `SELECT '${table.name}' AS name, max(${ownName(table, 'key')}) AS key FROM ${table.name}`).join(' UNION ALL ')}
     UNION ALL SELECT kind, max(key) FROM leftover GROUP BY kind
     UNION ALL SELECT name, seq FROM sqlite_sequence WHERE name = 'account'`
  )
  const keys: Record<string, number> = {}
  for (const { name, key } of last.iterate()) keys[name] = Math.max(keys[name] ?? 0, key ?? 0)
  return keys
}
