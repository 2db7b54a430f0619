import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { CannotStart } from '../../lib/exit.ts'
import { type Migration, migrate, type Schema } from '../../lib/store/migrate.ts'
import { withAddon } from './addon.ts'
import { keepBeforeMigration } from './copy-before-migration.ts'
import { type Lock, lockDirectory } from './lock.ts'
import { refuseNetworkDisk } from './network-disk.ts'
import { cannotOpen } from './open-error.ts'
import { createPrivately } from './private-file.ts'
import { settle } from './replace.ts'
import { isUnfinishedCreation } from './unfinished-creation.ts'

/** "Afld" in the header of every database of ours; one without it is foreign. */
const applicationId = 0x41666c64
const oldestSqlite = '3.51.3'
const pageSize = 4096

interface OpenedDatabase {
  database: Database.Database
  /** Checkpoints the WAL into the file, closes it and unlocks the directory. */
  close(): void
}
export interface OpenDatabaseDeps {
  dataDirectory: string
  migrations: readonly Migration[]
  clock: () => number
  /**
   * The number that identifies a directory's file system type; read from the system unless a test
   * provides it.
   */
  fileSystemOf?: (directory: string) => number
  onMigrated?: ((steps: { from: number; to: number }) => void) | undefined
}

/**
 * Opens or creates the database and brings its schema up to date. The directories of the data and of
 * the file are locked. Throws `CannotStart` and leaves the file unchanged if this program may not
 * write the database.
 */
export async function openDatabase(file: string, deps: OpenDatabaseDeps): Promise<OpenedDatabase> {
  const locks: Lock[] = []
  let database: Database.Database | undefined
  try {
    for (const directory of new Set([deps.dataDirectory, dirname(file)])) {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      refuseNetworkDisk(directory, deps.fileSystemOf)
      locks.push(lockDirectory(directory))
    }
    settle({ database: file, data: deps.dataDirectory })
    createPrivately(file)
    refuseForeign(file, deps.migrations.length)
    database = new Database(file, withAddon({ timeout: 50 }))
    prepareConnection(database)
    keepBeforeMigration(database, file, deps.migrations.length)
    const from = numberOf(database, 'user_version')
    await migrate(deps.migrations, schemaOf(database, deps.clock))
    const to = numberOf(database, 'user_version')
    if (from > 0 && from < to) deps.onMigrated?.({ from, to })
    const flaw = flawIn(readFooting(database, deps.clock()))
    if (flaw) throw new CannotStart(`${file} cannot be used: ${flaw}.`)
    return { database, close: () => closeAll(database, locks) }
  } catch (error) {
    closeAll(database, locks)
    throw error instanceof CannotStart ? error : cannotOpen(file, error)
  }
}

function closeAll(database: Database.Database | undefined, locks: readonly Lock[]): void {
  try {
    database?.close()
  } finally {
    for (const lock of locks) lock.free()
  }
}

function prepareConnection(database: Database.Database): void {
  // The page size of a new file is fixed by the first write, which switching to WAL is.
  database.pragma(`page_size = ${pageSize}`)
  database.pragma('journal_mode = WAL')
  // better-sqlite3 is built to fall back to NORMAL in WAL mode, which loses acknowledged rows in a power
  // cut.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('temp_store = MEMORY')
  database.pragma('wal_autocheckpoint = 4000')
  database.pragma(`journal_size_limit = ${64 * 1024 * 1024}`)
}

// Checks through a read-only connection, so that not a byte of a foreign file changes.
function refuseForeign(file: string, newest: number): void {
  const stats = statSync(file)
  if (!stats.isFile()) throw new CannotStart(`${file} is not a file; choose another for the database.`)
  // The first start may have been interrupted in its first write; a database of ours has such a journal at
  // no other time.
  if (stats.size === 0 || isUnfinishedCreation(file)) return
  const database = new Database(file, withAddon({ readonly: true, timeout: 50 }))
  try {
    const version = numberOf(database, 'user_version')
    const isOurs = numberOf(database, 'application_id') === applicationId
    const isEmpty = version === 0 && database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
    if (!isOurs && !isEmpty) throw new CannotStart(`${file} is not an Afield database; choose another file or data directory.`)
    if (version > newest) {
      throw new CannotStart(
        `${file} was written by a newer Afield (schema ${version}, this one knows ${newest}); install that version or a later one.`
      )
    }
  } finally {
    database.close()
  }
}

function schemaOf(database: Database.Database, clock: () => number): Schema {
  return {
    version: () => numberOf(database, 'user_version'),
    apply(steps) {
      const applyWhole = database.transaction(() => {
        for (const { number, name, sql } of steps) {
          database.exec(sql)
          database.prepare('INSERT INTO migration (number, name, applied_at) VALUES (?, ?, ?)').run(number, name, clock())
          database.pragma(`user_version = ${number}`)
        }
        database.pragma(`application_id = ${applicationId}`)
      })
      applyWhole.immediate()
    }
  }
}

/** The settings that the store's guarantees depend on, as the connection reports them. */
export interface Footing {
  sqliteVersion: string
  journalMode: string
  synchronous: number
  foreignKeys: number
  pageSize: number
}

// Read after a write, because that is when a connection silently drops to NORMAL.
function readFooting(database: Database.Database, now: number): Footing {
  database.prepare('UPDATE last_start SET at = ?').run(now)
  return {
    sqliteVersion: String(database.prepare('SELECT sqlite_version()').pluck().get()),
    journalMode: String(database.pragma('journal_mode', { simple: true })),
    synchronous: numberOf(database, 'synchronous'),
    foreignKeys: numberOf(database, 'foreign_keys'),
    pageSize: numberOf(database, 'page_size')
  }
}

/** One sentence about the first violation; undefined if the store can keep its guarantees. */
export function flawIn(footing: Footing): string | undefined {
  if (isOlder(footing.sqliteVersion, oldestSqlite))
    return `SQLite ${footing.sqliteVersion} can corrupt its log; ${oldestSqlite} or newer is needed`
  if (footing.journalMode !== 'wal') return `the file system allows no write-ahead log (journal mode ${footing.journalMode})`
  if (footing.synchronous < 2) return `the connection does not sync every commit (synchronous ${footing.synchronous})`
  if (footing.foreignKeys !== 1) return 'foreign keys are not enforced'
  if (footing.pageSize !== pageSize) return `its page size is ${footing.pageSize} instead of ${pageSize}`
  return undefined
}

function isOlder(version: string, than: string): boolean {
  const [ours, theirs] = [version, than].map(text => text.split('.').map(Number))
  const at = theirs?.findIndex((part, index) => part !== ours?.[index]) ?? -1
  return at >= 0 && (ours?.[at] ?? 0) < (theirs?.[at] ?? 0)
}

function numberOf(database: Database.Database, pragma: string): number {
  return Number(database.pragma(pragma, { simple: true }))
}
