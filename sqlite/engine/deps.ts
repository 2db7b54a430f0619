import type { Database } from 'better-sqlite3'
import type { Damage } from '../../lib/store/damage.ts'
import type { Log } from '../file/log.ts'
import type { Reserve } from '../file/reserve.ts'
import type { CommitQueue } from './commit-queue.ts'

/** The dependencies of each part of the store. */
export interface Deps {
  database: Database
  queue: CommitQueue
  damage: Damage
  reserve?: Reserve
  log?: Log
}
