import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Shown } from './history.ts'
import type { Stored } from './judge.ts'

/** What a dead server left behind, read from a copy so that its recovery stays the next server's work. */
export function readDisk(data: string): { flaws: string[]; sessions: Stored[] } {
  const copy = mkdtempSync(join(tmpdir(), 'afield-crash-'))
  try {
    for (const name of ['afield.db', 'afield.db-wal']) if (existsSync(join(data, name))) copyFileSync(join(data, name), join(copy, name))
    const database = new Database(join(copy, 'afield.db'))
    try {
      return { flaws: flawsOf(database), sessions: sessionsOf(database) }
    } finally {
      database.close()
    }
  } finally {
    rmSync(copy, { recursive: true })
  }
}

function flawsOf(database: Database.Database): string[] {
  const integrity = database.prepare<[], string>('PRAGMA integrity_check').pluck().all()
  const foreign = database.prepare('PRAGMA foreign_key_check').all()
  return [
    ...integrity.filter(line => line !== 'ok').map(line => `integrity_check: ${line}`),
    ...foreign.map(row => `foreign_key_check: ${JSON.stringify(row)}`),
    ...strayMessages(database)
  ]
}

// What is of no session is of a removed one that the next server goes on to remove.
function strayMessages(database: Database.Database): string[] {
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'leftover_by_id'").get() === undefined) return []
  const stray = database.prepare<[], number>(
    `SELECT count(*) FROM message WHERE session NOT IN (SELECT key FROM session) AND session NOT IN (SELECT key FROM leftover WHERE kind = 'session')`
  )
  const count = stray.pluck().get() ?? 0
  return count === 0 ? [] : [`${count} messages are of no session and would stay for ever`]
}

/** Whether something removed still has rows. */
export function isSomethingLeft(data: string): boolean {
  const database = new Database(join(data, 'afield.db'), { readonly: true })
  try {
    return database.prepare('SELECT 1 FROM leftover').get() !== undefined
  } finally {
    database.close()
  }
}

function sessionsOf(database: Database.Database): Stored[] {
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'session'").get() === undefined) return []
  const sessions = database
    .prepare<[], { key: number; id: string; lastSeq: number }>('SELECT key, id, last_seq AS lastSeq FROM session')
    .all()
  const messages = database.prepare<[number], Shown>(
    'SELECT seq, local_id AS localId, sealed AS content FROM message WHERE session = ? ORDER BY seq'
  )
  return sessions.map(({ key, id, lastSeq }) => ({ id, lastSeq, messages: messages.all(key) }))
}
