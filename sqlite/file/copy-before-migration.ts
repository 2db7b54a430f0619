import { readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { createPrivately } from './private-file.ts'

/**
 * Copies a database whose schema is about to change to `before-schema-<number>.db` next to it, and
 * removes older such copies. An interrupted copy does not have such a name; it is made again.
 */
export function keepBeforeMigration(database: Database, file: string, newest: number): void {
  const version = Number(database.pragma('user_version', { simple: true }))
  if (version === 0 || version >= newest) return
  const directory = dirname(file)
  const name = `before-schema-${version}.db`
  const part = join(directory, `${name}.part`)
  rmSync(part, { force: true })
  createPrivately(part)
  try {
    database.prepare('VACUUM INTO ?').run(part)
    renameSync(part, join(directory, name))
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
  for (const other of readdirSync(directory)) {
    if (/^before-schema-\d+\.db$/.test(other) && other !== name) rmSync(join(directory, other))
  }
}
