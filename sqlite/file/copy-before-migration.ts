import { readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { createPrivately, syncDirectory } from './private-file.ts'

/**
 * Copies a database whose schema is about to change to `before-schema-<number>.db` next to it, and
 * removes older such copies. The copy is on disk before this returns. An interrupted copy does not have
 * such a name; it is made again, or removed by a start that needs none.
 */
export function keepBeforeMigration(database: Database, file: string, newest: number): void {
  const version = Number(database.pragma('user_version', { simple: true }))
  const directory = dirname(file)
  removeAll(directory, /^before-schema-\d+\.db\.part(-journal)?$/)
  if (version === 0 || version >= newest) return
  const name = copyName(version)
  const part = join(directory, `${name}.part`)
  createPrivately(part)
  try {
    database.prepare('VACUUM INTO ?').run(part)
    renameSync(part, join(directory, name))
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
  // SQLite syncs the copy itself.
  syncDirectory(directory)
  removeAll(directory, /^before-schema-\d+\.db$/, name)
}

/** The name of the copy of a database whose schema had that number. */
export function copyName(schema: number): string {
  return `before-schema-${schema}.db`
}

function removeAll(directory: string, names: RegExp, except?: string): void {
  for (const name of readdirSync(directory)) {
    if (names.test(name) && name !== except) rmSync(join(directory, name), { force: true })
  }
}
