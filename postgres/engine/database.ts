import { CannotStart } from '../../lib/exit.ts'
import { type Migration, migrate } from '../../lib/store/migrate.ts'
import { Connection } from './connection.ts'
import { followTimeline } from './epoch.ts'
import { ConnectionLost } from './failure.ts'
import { cannotOpen } from './open-error.ts'
import { patienceMs } from './patience.ts'
import { readSchema, refuseOutdated, schemaOf } from './schema.ts'

const oldestVersion = 13
/** The name, as a number, of the lock under which one instance at a time changes the schema. */
const migrationLock = 0x41666c64

export interface OpenDatabaseDeps {
  migrations: readonly Migration[]
  onMigrated?: ((steps: { from: number; to: number }) => void) | undefined
}

/**
 * Brings the schema up to date; of several instances that start at once, one does it and the others wait.
 * Throws `CannotStart`, with nothing changed, if the database cannot be used.
 */
export async function prepareDatabase(url: string, deps: OpenDatabaseDeps): Promise<void> {
  const connection = await openPrepared(url, deps)
  try {
    await refuseUnfinished(connection, placeOf(url))
  } finally {
    await connection.close()
  }
}

/** A connection to a database whose schema is up to date; as long as it is open, no server can start with the database. */
export async function openPrepared(url: string, { migrations, onMigrated }: OpenDatabaseDeps): Promise<Connection> {
  const place = placeOf(url)
  let connection: Connection | undefined
  try {
    connection = await Connection.open(url, 0)
    const flaw = flawIn(await readFooting(connection))
    if (flaw) throw new CannotStart(`The database ${place} cannot be used: ${flaw}.`)
    await connection.run('SELECT pg_advisory_lock($1)', [migrationLock])
    const { number: from } = await readSchema(connection, place)
    await refuseOutdated(connection, migrations.length, place)
    await migrate(migrations, schemaOf(connection, place))
    if (from > 0 && from < migrations.length) onMigrated?.({ from, to: migrations.length })
    return connection
  } catch (error) {
    await connection?.close()
    throw error instanceof CannotStart ? error : cannotOpen(place, error)
  }
}

/** Names the store whose rows a database is getting; dropped with the last of them. */
export const unfinishedMove = 'unfinished_move'

/** Whether a database has only a part of the store that is being moved into it. */
export async function isUnfinished(connection: Connection): Promise<boolean> {
  return (await connection.get(`SELECT WHERE to_regclass('${unfinishedMove}') IS NOT NULL`, [])) !== undefined
}

export async function refuseUnfinished(connection: Connection, place: string): Promise<void> {
  if (!(await isUnfinished(connection))) return
  throw new CannotStart(`The database ${place} has only a part of the store that is being moved into it; run afield migrate-store again.`)
}

/**
 * A connection with the settings that the store's guarantees depend on, for a program that knows the schema up to this number.
 * Rejects with `ConnectionLost` if there is none now, and with `CannotStart` if newer programs changed the schema too much.
 */
export async function connect(url: string, known: number): Promise<Connection> {
  let connection: Connection | undefined
  try {
    connection = await Connection.open(url)
    const flaw = flawIn(await readFooting(connection))
    if (flaw) throw new Error(`The database cannot be used: ${flaw}.`)
    await connection.command(`SET lock_timeout = ${patienceMs}`)
    await refuseOutdated(connection, known, placeOf(url))
    await followTimeline(connection)
    return connection
  } catch (error) {
    connection?.drop()
    if (error instanceof CannotStart) throw error
    throw new ConnectionLost('The database cannot be reached.', { cause: error })
  }
}

/** What the guarantees depend on, as the connection reports it. */
export interface Footing {
  version: number
  encoding: string
  synchronousCommit: string
  fsync: string
  fullPageWrites: string
  readOnly: string
}

// A transaction that waits for its client, such as one of a computer that was cut off, holds up others.
const settings = `
  SET client_min_messages = error;
  SET idle_in_transaction_session_timeout = '20s';
  SET statement_timeout = '25s';
  SET default_transaction_isolation = 'read committed';
  SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)`

export async function readFooting(connection: Connection): Promise<Footing> {
  await connection.command(settings)
  const footing = await connection.get<Footing>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding,
       current_setting('synchronous_commit') AS "synchronousCommit", current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS "fullPageWrites", current_setting('transaction_read_only') AS "readOnly"`,
    []
  )
  if (!footing) throw new Error('The database does not tell its settings')
  return footing
}

/** One sentence about the first violation; undefined if the store can keep its guarantees. */
export function flawIn({ version, encoding, synchronousCommit, fsync, fullPageWrites, readOnly }: Footing): string | undefined {
  if (version < oldestVersion) return `its server is PostgreSQL ${version}, and ${oldestVersion} or newer is needed`
  if (encoding !== 'UTF8') return `its encoding is ${encoding} instead of UTF8`
  if (readOnly !== 'off') return 'it is read-only'
  if (fsync !== 'on') return 'its server does not sync what it stores (fsync is off)'
  if (fullPageWrites !== 'on') return 'its server cannot repair pages after a power cut (full_page_writes is off)'
  if (synchronousCommit !== 'on' && synchronousCommit !== 'remote_apply')
    return `the connection does not sync every commit (synchronous_commit is ${synchronousCommit})`
  return undefined
}

/** The host and name of a database, without its user and password. */
export function placeOf(url: string): string {
  const [, host = '', name = ''] = /^\w+:\/\/(?:[^/?#]*@)?([^/?#]*)\/?([^?#]*)/.exec(url) ?? []
  return [name || 'postgres', host && `at ${host}`].filter(Boolean).join(' ')
}
