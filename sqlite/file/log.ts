import { statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'

const pageBytes = 4096
/** What the log may hold that could not be moved into the database, because somebody still reads what was there before it. */
const mostBytes = 256 * 1024 * 1024

/** The log of the database, which grows for as long as another program reads without an end. */
export interface Log {
  /** Sees how far the log was moved into the database, and moves what can be when there is much. */
  look(): void
  /** On disk, as of the last look. */
  bytes(): number
  /** When the log was last seen to move, or to be short. */
  movedAt(): number
  /** From then on writes that take room are refused, until it is shorter. */
  isTooLong(): boolean
}

interface Marks {
  log: number
  checkpointed: number
}

export function openLog(database: Database, clock: () => number, most = mostBytes): Log {
  const file = `${database.name}-wal`
  const marks = (mode: 'NOOP' | 'PASSIVE') => (database.pragma(`wal_checkpoint(${mode})`) as Marks[])[0] ?? { log: 0, checkpointed: 0 }
  const waitingIn = ({ log, checkpointed }: Marks) => Math.max(log - checkpointed, 0) * pageBytes
  let so = { bytes: 0, waiting: 0, movedAt: clock() }

  return {
    look() {
      const seen = waitingIn(marks('NOOP'))
      const waiting = seen > most / 4 ? waitingIn(marks('PASSIVE')) : seen
      const hasMoved = waiting < so.waiting || waiting <= most / 4
      so = { bytes: statSync(file, { throwIfNoEntry: false })?.size ?? 0, waiting, movedAt: hasMoved ? clock() : so.movedAt }
    },
    bytes: () => so.bytes,
    movedAt: () => so.movedAt,
    isTooLong: () => so.waiting > most
  }
}
