import { join } from 'node:path'
import Database from 'better-sqlite3'
import { CannotStart } from '../../lib/exit.ts'
import { withAddon } from './addon.ts'
import { codeOf } from './failure.ts'
import { createPrivately } from './private-file.ts'

export interface Lock {
  free(): void
}

/**
 * Makes this process the only server in a directory. The lock is an open transaction on its own file,
 * so the system frees it however the process ends. Throws `CannotStart` if another server has it.
 */
export function lockDirectory(directory: string): Lock {
  const file = join(directory, 'afield.lock')
  createPrivately(file)
  const database = new Database(file, withAddon({ timeout: 0 }))
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!codeOf(error).startsWith('SQLITE_BUSY')) throw error
    throw new CannotStart(`Another Afield server is using ${directory}; stop it, or give this one a directory of its own with --data.`)
  }
  return { free: () => database.close() }
}
