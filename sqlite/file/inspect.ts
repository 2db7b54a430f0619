import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { readMigrations } from '../../lib/store/migrate.ts'
import { withAddon } from './addon.ts'

/** What can be seen of a database without writing to it; undefined when there is none. */
export function inspect(
  file: string
): { schema: number; neededSchema: number; newestSchema: number; flaw: string | undefined } | undefined {
  if (!existsSync(file)) return undefined
  const database = new Database(file, withAddon({ readonly: true, timeout: 50 }))
  try {
    const schema = Number(database.pragma('user_version', { simple: true }))
    const [first] = database.prepare<[], string>('PRAGMA quick_check(1)').pluck().all()
    return { schema, neededSchema: schema, newestSchema: readMigrations('sqlite/').length, flaw: first === 'ok' ? undefined : first }
  } finally {
    database.close()
  }
}
