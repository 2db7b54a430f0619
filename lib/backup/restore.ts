import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { CannotStart, exitCodes } from '../exit.ts'
import type { ServerOptions } from '../options.ts'
import { lockForRestore, openStore, readEndedTokens } from '../store/open.ts'
import { type Manifest, unpack } from './archive.ts'
import { syncDirectory } from './make.ts'
import { sealingKey } from './seal.ts'

/** For that long logins over challenges that clients chose need approval: those used since the backup are not known. */
const holdLoginsMs = 24 * 60 * 60 * 1000

export interface RestoreAsk {
  options: Pick<ServerOptions, 'data' | 'store'>
  file: string
  passphrase: () => Promise<string>
  /** Put what is there aside instead of refusing. */
  force: boolean
  now: number
  tell: (step: 'unpacking' | 'checking', progress?: { done: number; total: number }) => void
}

export interface Restored {
  manifest: Manifest
  /** Where what was there before is now; undefined when there was nothing. */
  putAside: string | undefined
  /** How many sign-ins of the backup had ended since. */
  endedTokens: number
}

/**
 * Puts a backup in the place of what a data directory holds. Everything is unpacked and checked beside it first; until then
 * nothing of it is touched. Throws `CannotStart` while a server uses the directory, and for a backup that is not whole.
 */
export async function restoreBackup({ options, file, passphrase, force, now, tell }: RestoreAsk): Promise<Restored> {
  const data = resolve(options.data)
  const database = databaseIn(data, options.store)
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const lock = await lockForRestore(data)
  try {
    if (existsSync(database) && !force) {
      throw new CannotStart(`${data} has a database already; with --force it is put aside and the backup takes its place.`)
    }
    const fresh = mkdtempSync(join(data, 'restore-'))
    try {
      const manifest = await unpackInto(fresh, { file, passphrase, tell })
      tell('checking')
      const { endedTokens } = await adopt(fresh, manifest, await readEndedTokens(data), now)
      const putAside = await swap(data, database, fresh, now)
      return { manifest, putAside, endedTokens }
    } finally {
      rmSync(fresh, { recursive: true, force: true })
    }
  } finally {
    lock.free()
  }
}

function databaseIn(data: string, store: string): string {
  if (!store.startsWith('sqlite:')) throw new CannotStart('A backup is restored into a store of the kind sqlite.')
  return resolve(data, store.slice('sqlite:'.length))
}

async function unpackInto(
  directory: string,
  { file, passphrase, tell }: Pick<RestoreAsk, 'file' | 'passphrase' | 'tell'>
): Promise<Manifest> {
  tell('unpacking')
  const backup = await unpack(file, async sealing => sealingKey(await passphrase(), sealing))
  let writing: { name: string; handle: FileHandle } | undefined
  const finish = async () => {
    await writing?.handle.sync()
    await writing?.handle.close()
    writing = undefined
  }
  try {
    await backup.files(
      async (name, chunk) => {
        if (writing?.name !== name) {
          await finish()
          writing = { name, handle: await open(join(directory, name), 'wx', 0o600) }
        }
        await writing.handle.write(chunk)
      },
      progress => tell('unpacking', progress)
    )
    return backup.manifest
  } finally {
    await finish()
    await backup.close()
  }
}

/** Checks the unpacked database whole, brings its schema up to date and makes it another life of the same one. */
async function adopt(directory: string, manifest: Manifest, endedTokens: readonly string[], now: number) {
  const store = await openStore('sqlite:afield.db', { dataDirectory: directory, onBroken() {} })
  try {
    const { flaws, ...holds } = await store.inspect()
    if (flaws[0] !== undefined) throw new CannotStart(`The database in the backup is damaged: ${flaws[0]}.`)
    if (holds.messages !== manifest.holds.messages || holds.accounts !== manifest.holds.accounts) {
      throw new CannotStart('The database in the backup does not hold what the backup says.')
    }
    return await store.becomeRestored({ endedTokens, holdLoginsUntil: now + holdLoginsMs, now })
  } finally {
    await store.close()
  }
}

// What was there is moved, never removed. A restore that is cut off in here leaves it under `before-…`, whole.
async function swap(data: string, database: string, fresh: string, now: number): Promise<string | undefined> {
  const restored = readdirSync(fresh).filter(name => !/^afield\.lock|-(wal|shm|journal)$|^ended-tokens$/.test(name))
  const places = restored.map(name => ({ from: join(fresh, name), to: name === 'afield.db' ? database : join(data, name) }))
  const old = [...places.map(({ to }) => to), ...['-wal', '-shm', '-journal'].map(end => database + end)].filter(path => existsSync(path))
  const aside = join(data, `before-${new Date(now).toISOString().replace(/\..*/, '').replaceAll(':', '')}`)
  try {
    if (old.length > 0) mkdirSync(aside, { mode: 0o700 })
    for (const path of old) renameSync(path, join(aside, basename(path)))
    for (const { from, to } of places) renameSync(from, to)
    await syncDirectory(data)
  } catch (error) {
    throw new CannotStart(`The backup could not be put in place; what was there is in ${aside}.`, exitCodes.storage, { cause: error })
  }
  return old.length > 0 ? aside : undefined
}
