import type { Database } from 'better-sqlite3'

/** Rows that wait, of which only so many may: what they are among, and from where each came. */
interface Waiting {
  table: string
  index: string
  /** With one `?` for the time. */
  isWaiting: string
  from: string
  key: string
}

/**
 * Makes room among what waits for one more from there: the oldest goes of whoever has the most. Not when that are they
 * themselves: then it returns false. So a crowd from many places shuts nobody out who has less there than each of them.
 */
export function makeRoom(database: Database, { table, index, isWaiting, from, key }: Waiting): (newcomer: string, now: number) => boolean {
  const fullest = database.prepare<[number], { from: string; count: number }>(
    `SELECT ${from} AS "from", count(*) AS count FROM ${table} INDEXED BY ${index} WHERE ${isWaiting}
     GROUP BY ${from} ORDER BY count(*) DESC, min(ends_at) LIMIT 1`
  )
  const countOf = database
    .prepare<[number, string], number>(`SELECT count(*) FROM ${table} INDEXED BY ${index} WHERE ${isWaiting} AND ${from} = ?`)
    .pluck()
  const removeOldest = database.prepare<[number, string]>(
    `DELETE FROM ${table} WHERE (${key}) = (
       SELECT ${key} FROM ${table} INDEXED BY ${index} WHERE ${isWaiting} AND ${from} = ? ORDER BY ends_at LIMIT 1)`
  )
  return (newcomer, now) => {
    const most = fullest.get(now)
    if (!most || (countOf.get(now, newcomer) ?? 0) + 1 > most.count) return false
    return removeOldest.run(now, most.from).changes > 0
  }
}
