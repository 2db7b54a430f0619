import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { CannotStart, exitCodes } from '../../lib/exit.ts'
import { codeOf } from './failure.ts'

/** Explains in one sentence why a database could not be opened; an unexpected error is rethrown. */
export function cannotOpen(file: string, error: unknown): unknown {
  const code = codeOf(error)
  const because = { cause: error }
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') {
    return new CannotStart(`There is no space on the disk for ${file}; free some and start again.`, exitCodes.storage, because)
  }
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return new CannotStart(
      `${file} is damaged or not a database; restore it from a backup or choose another.`,
      exitCodes.configuration,
      because
    )
  }
  if (code.startsWith('SQLITE_BUSY')) {
    return new CannotStart(`Another program is holding ${file}; close it and start again.`, exitCodes.storage, because)
  }
  if (code.startsWith('SQLITE_IOERR') || code === 'EIO') {
    return new CannotStart(`Reading or writing ${file} failed (${code}); check the disk.`, exitCodes.storage, because)
  }
  if (code === 'SQLITE_READONLY_ROLLBACK') {
    return new CannotStart(
      `${file} was left in the middle of a change by another program; let that program repair it, or choose another file.`,
      exitCodes.configuration,
      because
    )
  }
  if (code === 'EROFS') {
    return new CannotStart(
      `${file} is on a disk that is mounted read-only; make it writable, or choose another directory with --data.`,
      exitCodes.configuration,
      because
    )
  }
  if (/^(EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_READONLY|SQLITE_AUTH)/.test(code)) {
    return new CannotStart(
      `${file} cannot be written by ${whoWeAre()}; check who owns it, and the permissions of its directory.`,
      exitCodes.configuration,
      because
    )
  }
  const inTheWay = /^(ENOTDIR|EEXIST)$/.test(code) ? fileAmong(dirname(file)) : undefined
  if (inTheWay !== undefined) {
    return new CannotStart(
      `${file} cannot be created, because ${inTheWay} is a file and not a directory; choose another with --data.`,
      exitCodes.configuration,
      because
    )
  }
  if (/^(ENOENT|ENOTDIR|EEXIST|EISDIR|ENAMETOOLONG|ELOOP)$/.test(code)) {
    return new CannotStart(`${file} cannot be created (${code}); check the path.`, exitCodes.configuration, because)
  }
  return error
}

/** The path, or what is above it, if that is not a directory. */
function fileAmong(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats) return stats.isDirectory() ? undefined : path
  return dirname(path) === path ? undefined : fileAmong(dirname(path))
}

function whoWeAre(): string {
  const uid = process.getuid?.()
  return uid === undefined ? 'this user' : `this user (uid ${uid})`
}
