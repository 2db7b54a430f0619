import { appendFileSync, closeSync, fdatasyncSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { CommitQueueDeps } from '../engine/commit-queue.ts'
import { codeOf } from '../file/failure.ts'

/**
 * Records the id of every ended token next to the database, before the commit that ends it. An older
 * copy of the database does not have these, and must not revive them when it is restored. If the
 * commit then fails, a token listed here does no harm: someone wanted it gone.
 */
export function noteEndedTokens(database: Database, dataDirectory: string): NonNullable<CommitQueueDeps['beside']> {
  const file = fileIn(dataDirectory)
  let ended: string[] = []
  let owed: string[] = []
  database.function('note_ended_token', id => {
    ended.push(String(id))
    return null
  })
  // Whichever statement removes a token, including those removed with their account or device.
  database.exec('CREATE TEMP TRIGGER token_ended AFTER DELETE ON main.token BEGIN SELECT note_ended_token(old.id); END')

  return {
    beforeCommit() {
      if (ended.length === 0) return
      owed.push(...ended)
      ended = []
      try {
        append(file, owed)
        owed = []
      } catch {
        // A full disk must not prevent anyone from ending a sign-in. These are written with the next.
      }
    },
    undone() {
      ended = []
    }
  }
}

/** The ids of all tokens that ended in this data directory. */
export function readEndedTokens(dataDirectory: string): string[] {
  try {
    return readFileSync(fileIn(dataDirectory), 'utf8')
      .split('\n')
      .filter(line => line !== '')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

function fileIn(dataDirectory: string): string {
  return join(dataDirectory, 'ended-tokens')
}

function append(file: string, ids: readonly string[]): void {
  const handle = openSync(file, 'a', 0o600)
  try {
    // A line torn by a power cut is terminated first, so that it cannot swallow this one.
    appendFileSync(handle, `\n${ids.join('\n')}\n`)
    fdatasyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
