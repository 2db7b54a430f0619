import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CannotStart } from '../exit.ts'
import type { HappyDatabase } from './happy.ts'
import type { RestorePlace } from './safekeeping.ts'
import type { Store, StoreBroken } from './store.ts'
import type { MoveTarget, Transfer } from './transfer.ts'

export interface OpenStoreDeps {
  /** Locked for this process; relative database files are in it. Created when missing. */
  dataDirectory: string
  /** Called once when the store can guarantee nothing more; the process must end with exit code 75. */
  onBroken: (reason: StoreBroken) => void
  clock?: () => number
  /** Called after each commit: how many writes shared it, and how long it took. */
  onCommit?: (turn: { members: number; ms: number }) => void
  /** Called when an existing database got the schema of this version, with the numbers of its steps. */
  onMigrated?: (steps: { from: number; to: number }) => void
}

/**
 * Opens the store named by a URL: `sqlite:<file>`, or `postgres://<user>@<host>/<database>`. Throws
 * `CannotStart` with one sentence when the database is in use, cannot be reached or written, is not ours, or
 * was written by a newer version that older ones cannot share it with; it is not changed then.
 */
export async function openStore(
  url: string,
  { dataDirectory, onBroken, clock = Date.now, onCommit, onMigrated }: OpenStoreDeps
): Promise<Store> {
  const colon = url.indexOf(':')
  const kind = url.slice(0, Math.max(colon, 0))
  const place = url.slice(colon + 1)
  if (kind === 'sqlite' && place !== '') {
    const { openSqliteStore } = await import('../../sqlite/store.ts')
    return openSqliteStore(resolve(dataDirectory, place), { dataDirectory: resolve(dataDirectory), onBroken, clock, onCommit, onMigrated })
  }
  if (isPostgres(url)) return openInPostgres(url, resolve(dataDirectory), { onCommit, onBroken, onMigrated })
  // The rest of an unknown URL is not repeated: it may contain a password.
  throw new CannotStart(`There is no "${kind}" store; use sqlite:<file> or postgres://<user>@<host>/<database>.`)
}

/** Whether a URL names a database of a PostgreSQL server, of which no file is ours. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url)
}

// Keys and the control socket are in the data directory, which belongs to one instance.
async function openInPostgres(
  url: string,
  dataDirectory: string,
  deps: Pick<OpenStoreDeps, 'onBroken'> & { [Name in 'onCommit' | 'onMigrated']: OpenStoreDeps[Name] | undefined }
): Promise<Store> {
  const [{ openPostgresStore }, { lockDirectory }] = await Promise.all([
    import('../../postgres/store.ts'),
    import('../../sqlite/file/lock.ts')
  ])
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
  const lock = lockDirectory(dataDirectory)
  try {
    const store = await openPostgresStore(url, deps)
    return { ...store, close: () => store.close().finally(() => lock.free()) }
  } catch (error) {
    lock.free()
    throw error
  }
}

/** Opens a store, as rows, that no server may use meanwhile. Throws `CannotStart` as `openStore` does, and if there is no such file. */
export async function openTransfer(url: string, dataDirectory: string): Promise<Transfer> {
  if (isPostgres(url)) return openMoveTarget(url)
  const file = existingDatabase(url, dataDirectory)
  const { openSqliteTransfer } = await import('../../sqlite/transfer.ts')
  return openSqliteTransfer(file, resolve(dataDirectory))
}

/** The same for one that is to be filled. */
export async function openMoveTarget(url: string): Promise<MoveTarget> {
  if (!isPostgres(url)) throw new CannotStart('A store can only be moved into postgres://<user>@<host>/<database>.')
  const { openPostgresTransfer } = await import('../../postgres/transfer.ts')
  return openPostgresTransfer(url)
}

/** The same for one that is to get more accounts; undefined if there is none and it may not be created. */
export async function openImportTarget(
  url: string,
  dataDirectory: string,
  { mayCreate }: { mayCreate: boolean }
): Promise<Transfer | undefined> {
  if (isPostgres(url)) {
    const { openPostgresTransfer } = await import('../../postgres/transfer.ts')
    return openPostgresTransfer(url, { isWhole: true })
  }
  const file = databaseFile(url, dataDirectory)
  if (!mayCreate && !existsSync(file)) return undefined
  const { openSqliteTransfer } = await import('../../sqlite/transfer.ts')
  return openSqliteTransfer(file, resolve(dataDirectory))
}

/** The database of a Happy server, for reading. */
export async function openHappyDatabase(url: string): Promise<HappyDatabase> {
  if (!isPostgres(url)) throw new CannotStart('Give the database of the Happy server as postgres://<user>@<host>/<database>.')
  const { openHappy } = await import('../../postgres/happy.ts')
  return openHappy(url)
}

/**
 * Locks out servers from a database and a data directory while they are replaced. Throws `CannotStart`
 * if one is using either.
 */
export async function openForRestore(store: string, dataDirectory: string): Promise<RestorePlace> {
  if (!store.startsWith('sqlite:')) {
    throw new CannotStart('A backup can only be restored into a sqlite store; restore a PostgreSQL database with pg_restore.')
  }
  const { placeForRestore } = await import('../../sqlite/file/place-for-restore.ts')
  return placeForRestore({ database: resolve(dataDirectory, store.slice('sqlite:'.length)), data: resolve(dataDirectory) })
}

/**
 * The file of a database that a server has created; a directory where an interrupted restore is to be completed has one too.
 * Throws `CannotStart` with one sentence if there is none, or if this user may not see it.
 */
export function existingDatabase(url: string, dataDirectory: string): string {
  const file = databaseFile(url, dataDirectory)
  try {
    statSync(existsSync(`${file}.restoring`) ? dirname(file) : file)
    return file
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const says =
      code === 'EACCES'
        ? `${file} belongs to another user; run this command as that user.`
        : `There is no server data in ${dirname(file)} yet: ${file} is created when the server starts for the first time.`
    throw new CannotStart(says, undefined, { cause: error })
  }
}

/** The ids of the tokens that ended in a data directory, whatever happened to its database. */
export async function readEndedTokens(dataDirectory: string): Promise<string[]> {
  const { readEndedTokens: read } = await import('../../sqlite/access/ended-tokens.ts')
  return read(dataDirectory)
}

/** Schema and structure of a database without writing to it; undefined when there is none. */
export async function inspectStore(url: string, dataDirectory: string) {
  if (isPostgres(url)) {
    const { inspect } = await import('../../postgres/engine/inspect.ts')
    return inspect(url)
  }
  const { inspect } = await import('../../sqlite/file/inspect.ts')
  return inspect(databaseFile(url, dataDirectory))
}

/**
 * The number of the schema that a program must know to use a database, which is not opened for writing; undefined if there is
 * no database.
 */
export async function readNeededSchema(url: string, dataDirectory: string): Promise<number | undefined> {
  if (isPostgres(url)) return (await inspectStore(url, dataDirectory))?.neededSchema
  const { schemaNumber } = await import('../../sqlite/file/stored-since.ts')
  return schemaNumber(databaseFile(url, dataDirectory))
}

/**
 * Looks for the copy that was made before the schema of a database changed from that number, and tells what was stored
 * since. Undefined if there is no such copy, as of a PostgreSQL database. No server may use the database.
 */
export async function sinceMigration(
  url: string,
  dataDirectory: string,
  schema: number
): Promise<{ copy: string; stored: { table: string; rows: number }[] } | undefined> {
  if (isPostgres(url)) return undefined
  const [{ storedSince }, { copyName }] = await Promise.all([
    import('../../sqlite/file/stored-since.ts'),
    import('../../sqlite/file/copy-before-migration.ts')
  ])
  const file = databaseFile(url, dataDirectory)
  const copy = join(dirname(file), copyName(schema))
  return existsSync(copy) ? { copy, stored: storedSince(file, copy) } : undefined
}

function databaseFile(url: string, dataDirectory: string): string {
  if (!url.startsWith('sqlite:')) throw new CannotStart('Only a sqlite store has a file.')
  return resolve(dataDirectory, url.slice('sqlite:'.length))
}
