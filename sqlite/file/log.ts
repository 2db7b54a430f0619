import { statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'

const pageBytes = 4096
/** What the WAL may hold that could not be checkpointed, because someone still reads older data. */
const mostBytes = 256 * 1024 * 1024

/** The WAL of the database, which grows while another program reads endlessly. */
export interface Log {
  /** Checks how far the WAL was checkpointed, and checkpoints more if it is long. */
  look(): void
  /** On disk, when last checked. */
  bytes(): number
  /** When the WAL was last checkpointed, or short. */
  movedAt(): number
  /** From then on writes that need space are rejected, until it is shorter. */
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
