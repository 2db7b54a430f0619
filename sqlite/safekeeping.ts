import type { Database } from 'better-sqlite3'
import type { Inspection, SafekeepingStore } from '../lib/store/safekeeping.ts'
import { keepChecksums, type NextRows } from './checked-rows.ts'
import type { Deps } from './deps.ts'
import { renewEpoch } from './epoch.ts'
import { createPrivately } from './private-file.ts'

/** About a tenth of a millisecond each, between which the loop turns. */
const pagesPerStep = 100
const rowsPerScrub = 512
const bytesPerScrub = 1024 * 1024

export function safekeeping({ database, queue, damage, reserve, log }: Deps): Omit<SafekeepingStore, 'removeOldSessions'> {
  const tables = keepChecksums(database)
  const so = { scrubbed: 0, rounds: 0 }
  let next = { table: 0, after: 0 }

  // A table that came to its end leaves the rest of the step to the next one.
  function scrub(): void {
    let [rows, bytes] = [0, 0]
    for (const rowsAfter of tables.slice(next.table)) {
      for (const { row, name, sound, bytes: size } of rowsAfter(next.after, rowsPerScrub - rows)) {
        if (!sound) damage.note(name)
        next.after = row
        so.scrubbed++
        rows++
        bytes += size
        if (bytes > bytesPerScrub) return
      }
      if (rows === rowsPerScrub) return
      next = { table: next.table + 1, after: 0 }
    }
    next = { table: 0, after: 0 }
    so.rounds++
  }

  return {
    async copyTo(file, tell) {
      createPrivately(file)
      await database.backup(file, {
        progress({ totalPages, remainingPages }) {
          tell({ done: totalPages - remainingPages, total: totalPages })
          return pagesPerStep
        }
      })
    },
    scrub: () => queue.read(scrub),
    inspect: () => queue.read(() => inspect(database, tables)),
    becomeRestored: ({ endedTokens, holdLoginsUntil }) =>
      queue.write(() => {
        renewEpoch(database)
        database.prepare('UPDATE legacy_hold SET until = ? WHERE only = 1').run(holdLoginsUntil)
        const end = database.prepare<[string]>('DELETE FROM token WHERE id = ?')
        return { endedTokens: endedTokens.reduce((ended, id) => ended + end.run(id).changes, 0) }
      }),
    soundness: () => ({
      ...so,
      damaged: damage.count(),
      isFull: reserve?.isFull() ?? false,
      logBytes: log?.bytes() ?? 0,
      logMovedAt: log?.movedAt() ?? 0
    }),
    async makeRoom() {
      await queue.read(() => log?.look())
      await reserve?.regain()
    }
  }
}

function inspect(database: Database, tables: readonly NextRows[]): Inspection {
  const flaws = database
    .prepare<[], string>('PRAGMA integrity_check(10)')
    .pluck()
    .all()
    .filter(line => line !== 'ok')
  for (const rowsAfter of tables) {
    for (const { name, sound } of rowsAfter(0, -1)) if (!sound) flaws.push(`${name} is not what was stored`)
  }
  const uneven = database.prepare<[], number>(
    'SELECT key FROM session WHERE last_seq <> (SELECT count(*) FROM message WHERE account = session.account AND session = session.key)'
  )
  for (const key of uneven.pluck().all()) flaws.push(`session row ${key} does not have all its messages`)
  const short = database.prepare<[], number>(
    `SELECT key FROM attachment WHERE received <> (
       SELECT coalesce(sum(length(bytes)), 0) FROM attachment_piece WHERE account = attachment.account AND attachment = attachment.key)`
  )
  for (const key of short.pluck().all()) flaws.push(`attachment row ${key} does not have all its bytes`)
  const count = (table: 'account' | 'session' | 'message') => Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
  return { accounts: count('account'), sessions: count('session'), messages: count('message'), flaws }
}
