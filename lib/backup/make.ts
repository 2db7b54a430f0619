import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { version } from '../assets.ts'
import { CannotStart, exitCodes } from '../exit.ts'
import type { ServerOptions } from '../options.ts'
import { askServer } from '../server/control/ask.ts'
import { openStore } from '../store/open.ts'
import { type Inspection, safekeepingOf } from '../store/safekeeping.ts'
import { describeFile, type Manifest, pack, unpack } from './archive.ts'

type Step = 'copying' | 'checking' | 'packing' | 'reading back'
type Tell = (step: Step, progress?: { done: number; total: number }) => void

interface BackupAsk {
  options: Pick<ServerOptions, 'data' | 'store'>
  /** A directory to create the file in, or the path of a file that does not exist. */
  target: string
  /** Undefined: the backup is not encrypted. */
  passphrase: string | undefined
  now: number
  tell: Tell
}

interface BackupMade {
  file: string
  bytes: number
  holds: Manifest['holds']
  /** Names of the files packed besides the database. */
  keys: string[]
  sealed: boolean
}

/**
 * Makes a backup while the server runs: a copy of the database, checked row by row, with the keys of the
 * data directory in one private file, which is read back before it gets its name. Throws `CannotStart` with
 * the reason if any of that fails.
 */
export async function makeBackup({ options, target, passphrase, now, tell }: BackupAsk): Promise<BackupMade> {
  const file = fileFor(target, now)
  tell('copying')
  const { directory } = await askServer(options, 'copyStore', {}, progress => tell('copying', progress))
  try {
    tell('checking')
    const holds = await inspectCopy(directory)
    const keys = keyFilesIn(options.data, options.store)
    const files = [await describeFile(directory, 'afield.db'), ...(await Promise.all(keys.map(name => describeFile(options.data, name))))]
    const manifest: Manifest = { version: version(), madeAt: now, holds, files }
    const pathOf = (name: string) => join(name === 'afield.db' ? directory : options.data, name)
    const bytes = await writeWhole(
      file,
      pack(manifest, pathOf, passphrase),
      async part => {
        tell('reading back')
        await readBack(part, passphrase, tell)
      },
      written => tell('packing', { done: written, total: files.reduce((sum, one) => sum + one.bytes, 0) })
    )
    return { file, bytes, holds, keys, sealed: passphrase !== undefined }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function fileFor(target: string, now: number): string {
  const path = resolve(target)
  const stats = statsOf(path)
  const day = new Date(now).toISOString().replace(/\..*/, '').replaceAll(':', '')
  if (stats?.isDirectory()) return join(path, `afield-${day}.backup`)
  if (stats) throw new CannotStart(`${path} already exists; choose another file, or a directory.`)
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    throw new CannotStart(`The directory ${dirname(path)} does not exist.`)
  return path
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new CannotStart(`${path} cannot be used by this user${code}; choose another place for the backup.`, undefined, { cause: error })
  }
}

async function inspectCopy(directory: string): Promise<Omit<Inspection, 'flaws'>> {
  const store = await openStore('sqlite:afield.db', { dataDirectory: directory, onBroken() {} })
  try {
    const { flaws, ...holds } = await safekeepingOf(store).inspect()
    const [flaw] = flaws
    if (flaw === undefined) return holds
    throw new CannotStart(`No backup was made, because the database is damaged: ${flaw}. Keep your older backups.`, exitCodes.storage)
  } finally {
    await store.close()
  }
}

/** Files that a server recreates, and files that grant access. */
const excluded =
  /^(afield\.lock|control\.sock|setup-code|reserve|ended-tokens|.*-(wal|shm|journal)|copy-.*|restore-.*|control-.*|.*\.restoring(\.part)?)$/
const mostKeyBytes = 1024 * 1024

function keyFilesIn(data: string, store: string): string[] {
  return readdirSync(data, { withFileTypes: true })
    .filter(entry => entry.isFile() && !excluded.test(entry.name) && entry.name !== basename(store.replace(/^sqlite:/, '')))
    .map(({ name }) => name)
    .filter(name => /^[\w-][\w.-]{0,100}$/.test(name) && !/\.(db|backup)/.test(name) && statSync(join(data, name)).size <= mostKeyBytes)
    .toSorted()
}

/** The file gets its name only once it is complete, on disk and checked. */
async function writeWhole(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  check: (part: string) => Promise<void>,
  tell: (written: number) => void
): Promise<number> {
  const part = `${file}.${randomUUID().slice(0, 8)}.part`
  try {
    const handle = await open(part, 'wx', 0o600)
    let written = 0
    try {
      for await (const chunk of bytes) {
        await handle.appendFile(chunk)
        written += chunk.length
        tell(written)
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    await check(part)
    await rename(part, file)
    await syncDirectory(dirname(file))
    return written
  } catch (error) {
    rmSync(part, { force: true })
    if (error instanceof CannotStart) throw error
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new CannotStart(`${file} could not be written${code}.`, exitCodes.storage, { cause: error })
  }
}

async function readBack(part: string, passphrase: string | undefined, tell: Tell): Promise<void> {
  const backup = await unpack(part, async () => passphrase ?? '')
  try {
    await backup.files(
      async () => {},
      progress => tell('reading back', progress)
    )
  } finally {
    await backup.close()
  }
}

async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
