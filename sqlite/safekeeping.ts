import type { Database } from 'better-sqlite3'
import type { Inspection, SafekeepingStore } from '../lib/store/safekeeping.ts'
import { type Checked, isSound } from './checksum.ts'
import type { Deps } from './deps.ts'
import { renewEpoch } from './epoch.ts'
import { createPrivately } from './private-file.ts'

/** About a tenth of a millisecond each, between which the loop turns. */
const pagesPerStep = 100
const rowsPerScrub = 512
const bytesPerScrub = 1024 * 1024

interface Row extends Checked {
  row: number
  account: number
  session: number
}

export function safekeeping({ database, queue, damage, reserve }: Deps): Omit<SafekeepingStore, 'removeOldSessions'> {
  const nextRows = database.prepare<[number, number], Row>(
    'SELECT rowid AS row, account, session, seq, sealed, crc FROM message WHERE rowid > ? ORDER BY rowid LIMIT ?'
  )
  const so = { scrubbed: 0, rounds: 0 }
  let scrubbedTo = 0

  function scrub(): void {
    let [rows, bytes] = [0, 0]
    for (const row of nextRows.iterate(scrubbedTo, rowsPerScrub)) {
      if (!isSound(row.session, row)) damage.note(row.session, row.seq)
      scrubbedTo = row.row
      so.scrubbed++
      rows++
      bytes += row.sealed.length
      if (bytes > bytesPerScrub) return
    }
    if (rows === rowsPerScrub) return
    scrubbedTo = 0
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
    inspect: () => queue.read(() => inspect(database)),
    becomeRestored: ({ endedTokens, holdLoginsUntil }) =>
      queue.write(() => {
        renewEpoch(database)
        database.prepare('UPDATE legacy_hold SET until = ? WHERE only = 1').run(holdLoginsUntil)
        const end = database.prepare<[string]>('DELETE FROM token WHERE id = ?')
        return { endedTokens: endedTokens.reduce((ended, id) => ended + end.run(id).changes, 0) }
      }),
    soundness: () => ({ ...so, damaged: damage.count(), isFull: reserve?.isReleased() ?? false }),
    makeRoom: async () => reserve?.regain()
  }
}

function inspect(database: Database): Inspection {
  const flaws = database
    .prepare<[], string>('PRAGMA integrity_check(10)')
    .pluck()
    .all()
    .filter(line => line !== 'ok')
  let messages = 0
  for (const row of database.prepare<[], Checked & { session: number }>('SELECT session, seq, sealed, crc FROM message').iterate()) {
    messages++
    if (!isSound(row.session, row)) flaws.push(`message ${row.seq} of session row ${row.session} is not what was stored`)
  }
  const uneven = database.prepare<[], number>(
    'SELECT key FROM session WHERE last_seq <> (SELECT count(*) FROM message WHERE account = session.account AND session = session.key)'
  )
  for (const key of uneven.pluck().all()) flaws.push(`session row ${key} does not have all its messages`)
  const count = (table: 'account' | 'session') => Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
  return { accounts: count('account'), sessions: count('session'), messages, flaws }
}
