import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CannotStart } from '../exit.ts'

/** Creates the private data directory and its parents. Throws CannotStart if that fails. */
export function makeDataDirectory(directory: string): void {
  try {
    makeDirectory(resolve(directory))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const who = process.getuid ? ` as user ${process.getuid()}` : ''
    throw new CannotStart(`The data directory ${directory} cannot be created${who} (${code}); choose another with --data.`, undefined, {
      cause: error
    })
  }
}

/** The user who owns the data, for root: whatever root created there, the server could not open. */
export function ownerOf(data: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const { uid, gid } = statSync(data)
  return { uid, gid }
}

/** Runs `work` as that user, so that root leaves no file of its own between those of the server. */
export async function asOwnerOf<T>(data: string, work: () => Promise<T>): Promise<T> {
  const { uid = 0, gid = 0 } = ownerOf(data)
  if (uid === 0) return work()
  process.setegid?.(gid)
  process.seteuid?.(uid)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}

/** The mode of a directory of ours that other users can enter, as chmod takes it. */
export function openMode(directory: string): string | undefined {
  if (process.platform === 'win32') return undefined
  const mode = statSync(directory).mode & 0o777
  return (mode & 0o077) === 0 ? undefined : mode.toString(8)
}

// Not with `recursive`: on file systems that return ENOENT for a name in an existing directory, Node.js never returns.
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return
  if (dirname(directory) !== directory) makeDirectory(dirname(directory))
  mkdirSync(directory, { mode: 0o700 })
}
