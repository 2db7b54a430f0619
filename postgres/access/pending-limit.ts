import { Crowd } from '../../lib/store/access/crowd.ts'
import type { Queries } from '../engine/deps.ts'

/** Waiting rows of a limited number: what they are among, and where each came from. */
interface Waiting {
  table: 'pairing' | 'pairing_request' | 'signup'
  /** With `$1` for the time. */
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
   * Finds room for one more row, which the caller then adds, as part of its transaction. When the room is full, the
   * oldest row of the origin with the most is removed, as `Crowd` says; returns false if that is the newcomer's own.
   * The caller holds a lock that everyone holds who adds a row.
   */
  enter(tx: Queries, newcomer: Newcomer): Promise<boolean>
}

export function pendingLimit({ table, isWaiting, from: origin, key }: Waiting): PendingLimit {
  const count = `SELECT count(*) AS "inAll", count(*) FILTER (WHERE ${origin} = $2) AS here FROM ${table} WHERE ${isWaiting}`
  const read = `SELECT ${origin} AS "from", ends_at AS "endsAt" FROM ${table} WHERE ${isWaiting} ORDER BY ends_at, ${key}`
  // One that was answered meanwhile waits no more: the next one is removed instead.
  const removeOldest = `DELETE FROM ${table} WHERE (${key}) = (
    SELECT ${key} FROM ${table} WHERE ${isWaiting} AND ${origin} = $2 ORDER BY ends_at, ${key} LIMIT 1 FOR UPDATE)`

  async function makeRoom(tx: Queries, { from, now, most: { inAll } }: Newcomer): Promise<boolean> {
    for (;;) {
      const all = new Crowd()
      for (const row of await tx.all<{ from: string; endsAt: number }>(read, [now])) all.add(row.from, row.endsAt)
      if (all.count < inAll) return true
      const fullest = all.fullestBut(from)
      if (fullest === undefined) return false
      if ((await tx.run(removeOldest, [now, fullest])) > 0) return true
    }
  }

  return {
    async enter(tx, newcomer) {
      const { here = Number.POSITIVE_INFINITY, inAll } = newcomer.most
      const waiting = await tx.get<{ inAll: number; here: number }>(count, [newcomer.now, newcomer.from])
      if (!waiting) throw new Error('Nothing was counted')
      if (waiting.here >= here) return false
      return waiting.inAll < inAll || makeRoom(tx, newcomer)
    }
  }
}
