import type { SafekeepingStore, Soundness } from '../lib/store/safekeeping.ts'
import { type Checked, isSound } from './checksum.ts'
import type { Deps } from './deps.ts'
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

export function safekeeping({ database, queue, damage }: Deps): SafekeepingStore {
  const nextRows = database.prepare<[number, number], Row>(
    'SELECT rowid AS row, account, session, seq, sealed, crc FROM message WHERE rowid > ? ORDER BY rowid LIMIT ?'
  )
  const so: Soundness = { scrubbed: 0, rounds: 0, damaged: 0 }
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
    soundness: () => ({ ...so, damaged: damage.count() })
  }
}
