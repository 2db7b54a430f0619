import { CannotStart } from '../lib/exit.ts'
import type { HappyDatabase } from '../lib/store/happy.ts'
import { Connection } from './engine/connection.ts'
import { placeOf } from './engine/database.ts'
import { codeOf } from './engine/failure.ts'
import { cannotOpen } from './engine/open-error.ts'

/** Opens the database of a Happy server, which nobody should be using. Throws `CannotStart` if it is none, or cannot be read. */
export async function openHappy(url: string): Promise<HappyDatabase> {
  const place = placeOf(url)
  let connection: Connection | undefined
  try {
    connection = await Connection.open(url, 0, 'plain')
    await connection.command('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    // Everything that is read is of this moment.
    await connection.command('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const tables = await tablesIn(connection)
    const missing = ['Account', 'Session', 'SessionMessage'].find(name => !tables.has(name))
    if (missing) throw new CannotStart(`The database ${place} is not one of a Happy server: it has no table ${missing}.`)
    return databaseIn(connection, tables, await othersOn(connection))
  } catch (error) {
    await connection?.close()
    throw error instanceof CannotStart ? error : cannotOpen(place, error)
  }
}

async function tablesIn(connection: Connection): Promise<Set<string>> {
  const rows = await connection.all<{ name: string }>(
    'SELECT relname::text AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace',
    []
  )
  return new Set(rows.map(({ name }) => name))
}

async function othersOn(connection: Connection): Promise<number> {
  const row = await connection.get<{ others: number }>(
    `SELECT count(*) AS others FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    []
  )
  return row?.others ?? 0
}

const times = `${time('createdAt')}, ${time('updatedAt')}`

function databaseIn(connection: Connection, tables: ReadonlySet<string>, others: number): HappyDatabase {
  /** Rows of a table, a few at a time. Older servers do not have every table. */
  async function* rows<Row>(table: string, columns: string, where: string, values: readonly unknown[], order: string): AsyncGenerator<Row> {
    if (!tables.has(table)) return
    const cursor = `rows_of_${table}`
    const declared = `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${columns} FROM "${table}" ${where} ORDER BY ${order}`
    await connection.run(declared, values).catch((error: unknown) => {
      if (codeOf(error) !== undefinedColumn) throw error
      throw new CannotStart(`The table ${table} of that Happy server has other columns; update that server first.`, undefined, {
        cause: error
      })
    })
    try {
      for (;;) {
        const page = await connection.all<Row>(`FETCH ${rowsAtOnce} FROM ${cursor}`, [])
        yield* page
        if (page.length < rowsAtOnce) return
      }
    } finally {
      if (!connection.isLost) await connection.command(`CLOSE ${cursor}`)
    }
  }
  const of = <Row>(table: string, columns: string, account: string, order: string) =>
    rows<Row>(table, columns, 'WHERE "accountId" = $1', [account], order)

  return {
    others,
    accounts: () => rows('Account', `id, "publicKey", seq, settings, "settingsVersion", ${time('createdAt')}`, '', [], '"createdAt", id'),
    sessions: account =>
      of(
        'Session',
        `id, tag, metadata, "metadataVersion", "agentState", "agentStateVersion", "dataEncryptionKey" AS "dataKey", seq,
         ${time('lastActiveAt', 'activeAt')}, ${times}`,
        account,
        '"createdAt", id'
      ),
    messages: session =>
      rows(
        'SessionMessage',
        `id, seq, "localId", content, ${time('createdAt')}`,
        'WHERE "sessionId" = $1',
        [session],
        'seq, "createdAt", id'
      ),
    machines: account =>
      of(
        'Machine',
        `id, metadata, "metadataVersion", "daemonState", "daemonStateVersion", "dataEncryptionKey" AS "dataKey",
         ${time('lastActiveAt', 'activeAt')}, ${times}`,
        account,
        '"createdAt", id'
      ),
    artifacts: account =>
      of(
        'Artifact',
        `id, header, "headerVersion", body, "bodyVersion", "dataEncryptionKey" AS "dataKey", seq, ${times}`,
        account,
        '"createdAt", id'
      ),
    accessKeys: account => of('AccessKey', `"sessionId", "machineId", data, "dataVersion", ${times}`, account, '"sessionId", "machineId"'),
    values: account => of('UserKVStore', `key, value, version, ${time('updatedAt')}`, account, 'key'),
    usage: account => of('UsageReport', `key, "sessionId", data, ${times}`, account, '"updatedAt" DESC, key'),
    pushTokens: account => of('AccountPushToken', `token, ${times}`, account, '"createdAt", token'),
    close: () => connection.close()
  }
}

const undefinedColumn = '42703'
/** Messages may be large, and a page of them is in memory at once. */
const rowsAtOnce = 100

/** Its times are in UTC, without a zone. */
function time(column: string, as = column): string {
  return `floor(extract(epoch FROM "${column}") * 1000)::bigint AS "${as}"`
}
