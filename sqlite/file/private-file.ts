import { closeSync, fsyncSync, openSync } from 'node:fs'
import { codeOf } from './failure.ts'

/**
 * Creates an empty file only this user can read. An existing one is not even opened: closing it would
 * free every lock this process has on it.
 */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** Makes a new or renamed name in the directory survive a power cut. Windows has no such thing and needs none. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
