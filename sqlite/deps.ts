import type { Database } from 'better-sqlite3'
import type { CommitQueue } from './commit-queue.ts'
import type { Damage } from './damage.ts'
import type { Log } from './log.ts'
import type { Reserve } from './reserve.ts'

/** What each subject of the store is made from. */
export interface Deps {
  database: Database
  queue: CommitQueue
  damage: Damage
  reserve?: Reserve
  log?: Log
}
