import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CannotStart, exitCodes } from '../exit.ts'
import type { Progress } from '../local-socket/ask.ts'
import { previousOf } from './installation.ts'
import type { Release } from './release.ts'

/**
 * Writes the program of a release beside the current one, with the same owner and mode, and returns its path. It is on disk, whole and
 * the signed one; otherwise `CannotStart` is thrown, and nothing is left.
 */
export async function writeBeside(
  file: string,
  release: Release,
  { tell, signal }: { tell: (progress: Progress) => void; signal: AbortSignal }
): Promise<string> {
  const { size, sha256 } = release.file
  removeLeftovers(file)
  refuseFullDisk(file, size)
  const part = `${file}.${randomUUID().slice(0, 8)}${partEnd}`
  try {
    const handle = await open(part, 'wx', 0o600)
    const digest = createHash('sha256')
    let done = 0
    try {
      for await (const chunk of await release.bytes(signal)) {
        signal.throwIfAborted()
        done += chunk.length
        if (done > size) throw new CannotStart(`${release.file.name} is larger than its release says. Nothing was changed.`)
        digest.update(chunk)
        // A plain write may write a part only, as on a disk that is nearly full.
        await handle.appendFile(chunk)
        tell({ done, total: size })
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (done < size)
      throw new CannotStart(`${release.file.name} is incomplete: ${done} of ${size} bytes arrived. Nothing was changed; try again.`)
    if (digest.digest('hex') !== sha256) throw new CannotStart(`${release.file.name} is not the file that was signed. Nothing was changed.`)
    const { mode, uid, gid } = statSync(file)
    chmodSync(part, mode & 0o7777)
    if (process.getuid?.() === 0) chownSync(part, uid, gid)
    return part
  } catch (error) {
    rmSync(part, { force: true })
    signal.throwIfAborted()
    throw error instanceof CannotStart ? error : cannotWrite(file, release, error)
  }
}

/** Puts the new program in place at once, and keeps the current one as the previous. There is a program under that name at all times. */
export function putInPlace(part: string, file: string): void {
  try {
    if (process.platform === 'win32') {
      // A running program can be renamed there, but not replaced.
      rmSync(previousOf(file), { force: true })
      renameSync(file, previousOf(file))
    } else keepPrevious(file)
    renameSync(part, file)
    syncDirectory(dirname(file))
  } catch (error) {
    rmSync(part, { force: true })
    if (!existsSync(file)) renameSync(previousOf(file), file)
    throw new CannotStart(`${file} could not be replaced (${codeOf(error)}); it is as it was.`, exitCodes.storage, { cause: error })
  }
}

/** Puts the previous program back in place of the current one, which is removed. */
export function putBack(file: string): void {
  if (process.platform === 'win32') renameSync(file, `${file}.${randomUUID().slice(0, 8)}${partEnd}`)
  renameSync(previousOf(file), file)
  syncDirectory(dirname(file))
}

// A second name for the same file, so that it needs no space and cannot be half of it.
function keepPrevious(file: string): void {
  const part = `${previousOf(file)}${partEnd}`
  rmSync(part, { force: true })
  try {
    try {
      linkSync(file, part)
    } catch {
      // Some file systems have no second names.
      copyFileSync(file, part, constants.COPYFILE_EXCL)
      sync(part)
    }
    renameSync(part, previousOf(file))
  } finally {
    rmSync(part, { force: true })
  }
}

const partEnd = '.part'

/** What an upgrade that was killed an hour ago or earlier has left. */
function removeLeftovers(file: string): void {
  const directory = dirname(file)
  const names = readdirSync(directory).filter(name => name.startsWith(`${basename(file)}.`) && name.endsWith(partEnd))
  for (const path of names.map(name => join(directory, name))) {
    const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - madeAt > 60 * 60 * 1000) rmSync(path, { force: true })
  }
}

function refuseFullDisk(file: string, size: number): void {
  const { bavail, bsize } = statfsSync(dirname(file))
  if (bavail * bsize > size) return
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`
  throw new CannotStart(
    `The new program needs ${megabytes(size)} in ${dirname(file)}, where ${megabytes(bavail * bsize)} are free. Nothing was changed.`,
    exitCodes.storage
  )
}

function cannotWrite(file: string, { file: { name } }: Release, error: unknown): CannotStart {
  const code = codeOf(error)
  const because = { cause: error }
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new CannotStart(
      `The disk of ${dirname(file)} is full. Nothing was changed; free some space and try again.`,
      exitCodes.storage,
      because
    )
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new CannotStart(
      `You may not write to ${dirname(file)} (${code}): run this as the owner of ${file}, such as with sudo; in a container, use a new image.`,
      undefined,
      because
    )
  return new CannotStart(`${name} could not be read or written (${code}). Nothing was changed; try again.`, exitCodes.storage, because)
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if ('code' in error) return String(error.code)
  return error.cause instanceof Error ? codeOf(error.cause) : error.message
}

function syncDirectory(directory: string): void {
  if (process.platform !== 'win32') sync(directory)
}

function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
