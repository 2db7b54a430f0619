import { createReadStream, existsSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CannotStart, exitCodes } from '../exit.ts'
import type { ServerOptions } from '../options.ts'
import { asOwnerOf } from '../server/data-directory.ts'
import { openForRestore, openStore, readEndedTokens } from '../store/open.ts'
import { safekeepingOf } from '../store/safekeeping.ts'
import { type Manifest, openBackup, unpack } from './archive.ts'

/**
 * For this long, logins with challenges chosen by clients need approval: the ones used since the backup are
 * unknown.
 */
const holdLoginsMs = 24 * 60 * 60 * 1000

interface RestoreAsk {
  options: Pick<ServerOptions, 'data' | 'store'>
  /** A backup, or a plain copy of a database such as the one made before a migration. */
  file: string
  passphrase: () => Promise<string>
  /** Move existing data aside instead of refusing; a database without accounts is always moved. */
  force: boolean
  now: number
  tell: (step: 'unpacking' | 'checking', progress?: { done: number; total: number }) => void
}

interface Restored {
  manifest: Manifest
  /** Where the previous data is now: next to the database, and next to the small files if those are elsewhere. */
  putAside: string[]
  /** How many sign-ins in the backup were revoked since. */
  endedTokens: number
}

/**
 * Replaces the content of a data directory with a backup. Everything is unpacked and checked next to it
 * first, on the same disk; until then nothing is touched, and then all of it changes atomically, even if
 * the power fails. Throws `CannotStart` while a server uses the directory, and for an incomplete backup.
 */
export function restoreBackup(ask: RestoreAsk): Promise<Restored> {
  const { data } = ask.options
  return existsSync(data) ? asOwnerOf(data, () => restore(ask)) : restore(ask)
}

async function restore({ options, file, passphrase, force, now, tell }: RestoreAsk): Promise<Restored> {
  const data = resolve(options.data)
  const place = await openForRestore(options.store, data)
  try {
    if (place.hasAccounts() && !force) {
      throw new CannotStart(`${data} already has a database; with --force it is moved aside and the backup takes its place.`)
    }
    const fresh = place.makeFresh()
    let isReplacing = false
    try {
      const unpacked = (await isDatabase(file))
        ? await copyInto(fresh.database, { file, tell })
        : await unpackInto(fresh, { file, passphrase, tell })
      tell('checking')
      const { endedTokens, holds } = await adopt(fresh.database, unpacked, await readEndedTokens(data), now)
      const manifest = { ...unpacked, holds }
      const names = manifest.files.map(({ name }) => name).filter(name => name !== databaseName && !madeHere.test(name))
      isReplacing = true
      const putAside = place.replace({ fresh, databaseName, names }, `before-${timeIn(now)}`)
      return { manifest, putAside, endedTokens }
    } catch (error) {
      if (isReplacing || !(error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))) throw error
      const sentence = `There is not enough space for the backup in ${data}. Nothing was changed; free some and try again.`
      throw new CannotStart(sentence, exitCodes.storage, { cause: error })
    } finally {
      // The unfinished restore may be needed to complete it.
      if (!isReplacing) for (const directory of Object.values(fresh)) rmSync(directory, { recursive: true, force: true })
    }
  } finally {
    place.free()
  }
}

/** In every backup. */
const databaseName = 'afield.db'
/** Files of this directory, not of the backup. */
const madeHere = /^afield\.lock$|-(wal|shm|journal)$|^ended-tokens$|\.restoring(\.part)?$/

function timeIn(now: number): string {
  return new Date(now).toISOString().replace(/\..*/, '').replaceAll(':', '')
}

async function unpackInto(
  fresh: { database: string; data: string },
  { file, passphrase, tell }: Pick<RestoreAsk, 'file' | 'passphrase' | 'tell'>
): Promise<Manifest> {
  tell('unpacking')
  const backup = await unpack(file, passphrase)
  let writing: { name: string; handle: FileHandle } | undefined
  const finish = async () => {
    const handle = writing?.handle
    writing = undefined
    try {
      await handle?.sync()
    } finally {
      await handle?.close()
    }
  }
  try {
    await backup.files(
      async (name, chunk) => {
        if (writing?.name !== name) {
          await finish()
          writing = { name, handle: await open(join(name === databaseName ? fresh.database : fresh.data, name), 'wx', 0o600) }
        }
        await writing.handle.appendFile(chunk)
      },
      progress => tell('unpacking', progress)
    )
    return backup.manifest
  } finally {
    await finish().finally(() => backup.close())
  }
}

/** Undefined for a copy that nobody counted. */
type Unpacked = Omit<Manifest, 'holds'> & { holds?: Manifest['holds'] }

const databaseStart = 'SQLite format 3\0'

async function isDatabase(file: string): Promise<boolean> {
  const handle = await openBackup(file)
  try {
    const start = Buffer.alloc(databaseStart.length)
    await handle.read(start, 0, start.length, 0)
    return start.toString('latin1') === databaseStart
  } finally {
    await handle.close()
  }
}

async function copyInto(directory: string, { file, tell }: Pick<RestoreAsk, 'file' | 'tell'>): Promise<Unpacked> {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new CannotStart(`${file} is not a copy: a program uses it, or was killed while it did.`)
  }
  const { size: total, mtimeMs } = statSync(file)
  const handle = await open(join(directory, databaseName), 'wx', 0o600)
  try {
    let done = 0
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
      await handle.appendFile(chunk)
      done += chunk.length
      tell('unpacking', { done, total })
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  return { version: 'unknown', madeAt: Math.round(mtimeMs), files: [{ name: databaseName, bytes: total, sha256: '' }] }
}

/** Checks the unpacked database completely, upgrades its schema and starts a new epoch of it. */
async function adopt(directory: string, { holds: expected }: Unpacked, endedTokens: readonly string[], now: number) {
  const store = await openStore('sqlite:afield.db', { dataDirectory: directory, onBroken() {} })
  try {
    const safekeeping = safekeepingOf(store)
    const { flaws, ...holds } = await safekeeping.inspect()
    if (flaws[0] !== undefined) throw new CannotStart(`The database in the backup is damaged: ${flaws[0]}.`)
    if (expected && (holds.messages !== expected.messages || holds.accounts !== expected.accounts)) {
      throw new CannotStart('The database in the backup does not match its manifest.')
    }
    return { ...(await safekeeping.becomeRestored({ endedTokens, holdLoginsUntil: now + holdLoginsMs, now })), holds }
  } finally {
    await store.close()
  }
}
