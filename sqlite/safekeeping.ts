import type { Database } from 'better-sqlite3'
import { lastPossibleSeq } from '../lib/store/drafts.ts'
import type { Inspection, Safekeeping } from '../lib/store/safekeeping.ts'
import { keepChecksums, type NextRows } from './engine/checked-rows.ts'
import type { Deps } from './engine/deps.ts'
import { renewEpoch } from './engine/epoch.ts'
import { isNotRemoved, ofNoneRemoved } from './engine/leftovers.ts'
import { createPrivately } from './file/private-file.ts'

/** About a tenth of a millisecond each, yielding to the event loop in between. */
const pagesPerStep = 100
const rowsPerScrub = 512
const bytesPerScrub = 1024 * 1024

export function safekeeping({ database, queue, damage, reserve, log }: Deps): Safekeeping {
  const tables = keepChecksums(database)
  const so = { scrubbed: 0, rounds: 0 }
  let next = { table: 0, after: 0 }

  // A table that ends leaves the rest of the step to the next one.
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
    becomeRestored: ({ endedTokens, holdLoginsUntil, now }) =>
      queue.write(() => {
        renewEpoch(database)
        goOnAbove(database, ascent(now))
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

/** Columns by which clients recognize a newer value of a record. */
const versions: Readonly<Record<string, readonly string[]>> = {
  account_cells: ['settings_version'],
  session_cells: ['metadata_version', 'agent_state_version'],
  machine: ['metadata_version', 'daemon_state_version'],
  kv: ['version'],
  artifact: ['header_version', 'body_version'],
  access_key: ['data_version']
}

/**
 * No number or version is assigned twice. Existing clients have no epochs: a wrapper that had read up
 * to 7 would never get another message 6, and one that had written version 7 would wait forever for a
 * version above it.
 */
function goOnAbove(database: Database, least: number): void {
  database
    .prepare<[number, number, number]>('UPDATE session SET gap_ahead = min(max(last_seq, ?) + ? - last_seq, (? - last_seq) / 2)')
    .run(least, leap, lastPossibleSeq)
  for (const [table, columns] of Object.entries(versions)) {
    const set = columns.map(column => `${column} = max(${column}, ${least}) + ${leap}`).join(', ')
    database.prepare(`UPDATE ${table} SET ${set}`).run()
  }
}

/** More than any session grows between two backups. */
const leap = 1_000_000

/**
 * Higher the later it is, so that the same backup, restored again, continues above what it assigned
 * the last time.
 */
function ascent(now: number): number {
  return Math.max(0, Math.floor((now - firstRestore) / 1000))
}

const firstRestore = Date.UTC(2026, 0)

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
    `SELECT key FROM session WHERE ${ofNoneRemoved}
       AND last_seq - gaps <> (SELECT count(*) FROM message WHERE account = session.account AND session = session.key)`
  )
  for (const key of uneven.pluck().all()) flaws.push(`session row ${key} does not have all its messages`)
  const short = database.prepare<[], number>(
    `SELECT key FROM attachment WHERE ${ofNoneRemoved} AND received <> (
       SELECT coalesce(sum(length(bytes)), 0) FROM attachment_piece WHERE account = attachment.account AND attachment = attachment.key)`
  )
  for (const key of short.pluck().all()) flaws.push(`attachment row ${key} does not have all its bytes`)
  const count = (from: string) => Number(database.prepare(`SELECT count(*) FROM ${from}`).pluck().get())
  return {
    accounts: count(`account WHERE ${isNotRemoved}`),
    sessions: count(`session WHERE ${ofNoneRemoved}`),
    messages: count('message'),
    flaws
  }
}
