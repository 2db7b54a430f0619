import type { Database } from 'better-sqlite3'
import type { Log } from '../file/log.ts'
import type { Reserve } from '../file/reserve.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Damage } from './damage.ts'

/** The dependencies of each part of the store. */
export interface Deps {
  database: Database
  queue: CommitQueue
  damage: Damage
  reserve?: Reserve
  log?: Log
}
