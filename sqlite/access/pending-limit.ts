import type { Database } from 'better-sqlite3'
import { Crowd } from '../../lib/store/access/crowd.ts'
import type { Tail } from '../engine/commit-queue.ts'

/** Waiting rows of a limited number: what they are among, and where each came from. */
interface Waiting {
  table: string
  index: string
  /** With one `?` for the time. */
  isWaiting: string
  from: string
  key: string
}

interface Newcomer {
  from: string
  now: number
  endsAt: number
  /** Rows that may wait, of its origin and of all. */
  most: { here?: number; inAll: number }
}

export interface PendingLimit {
  /**
   * Finds room for one more row, which the caller then adds. When the room is full, the oldest row of the
   * origin with the most is removed, as `Crowd` says; returns false if that is the newcomer's own.
   */
  enter(newcomer: Newcomer): boolean
  /** Of each member of the commit queue that calls `enter`. */
  readonly tail: Tail
}

/**
 * In a flood many enter in one transaction, and reading the rows takes longer than anything else. So
 * they are read once, and followed in memory until a member comes that could change them otherwise.
 */
export function pendingLimit(database: Database, { table, index, isWaiting, from, key }: Waiting): PendingLimit {
  const read = database.prepare<[number], { from: string; endsAt: number }>(
    `SELECT ${from} AS "from", ends_at AS endsAt FROM ${table} INDEXED BY ${index} WHERE ${isWaiting} ORDER BY ends_at`
  )
  const removeOldest = database.prepare<[number, string]>(
    `DELETE FROM ${table} WHERE (${key}) = (
       SELECT ${key} FROM ${table} INDEXED BY ${index} WHERE ${isWaiting} AND ${from} = ? ORDER BY ends_at LIMIT 1)`
  )
  let known: Crowd | undefined
  const forget = () => {
    known = undefined
  }

  function readAll(now: number): Crowd {
    const all = new Crowd()
    for (const row of read.iterate(now)) all.add(row.from, row.endsAt)
    return all
  }

  return {
    tail: { finish: forget, forget },
    enter({ from, now, endsAt, most: { here = Number.POSITIVE_INFINITY, inAll } }) {
      known ??= readAll(now)
      if (known.countFrom(from) >= here) return false
      if (known.count >= inAll) {
        const origin = known.fullestBut(from)
        if (!origin || removeOldest.run(now, origin).changes === 0) return false
        known.removeOldest(origin)
      }
      known.add(from, endsAt)
      return true
    }
  }
}
