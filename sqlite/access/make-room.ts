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

/** What waits from one place. */
interface Place {
  from: string
  count: number
  /** When its oldest ends. */
  endsAt: number
}

/**
 * Makes room among what waits for one more from there: the oldest goes of whoever has the most, counted by the widest network
 * first. Whoever belongs to the fullest crowd finds room within that alone; returns false when they are its fullest place
 * themselves. So a crowd from many places shuts nobody out who has less there than each of them.
 */
export function makeRoom(database: Database, { table, index, isWaiting, from, key }: Waiting): (newcomer: string, now: number) => boolean {
  const places = database.prepare<[number], Place>(
    `SELECT ${from} AS "from", count(*) AS count, min(ends_at) AS endsAt FROM ${table} INDEXED BY ${index} WHERE ${isWaiting} GROUP BY ${from}`
  )
  const removeOldest = database.prepare<[number, string]>(
    `DELETE FROM ${table} WHERE (${key}) = (
       SELECT ${key} FROM ${table} INDEXED BY ${index} WHERE ${isWaiting} AND ${from} = ? ORDER BY ends_at LIMIT 1)`
  )
  return (newcomer, now) => {
    const fullest = fullestBut(newcomer, places.all(now))
    return fullest !== undefined && removeOldest.run(now, fullest.from).changes > 0
  }
}

/** Undefined when no place is fuller than that of the newcomer. */
function fullestBut(newcomer: string, places: Place[]): Place | undefined {
  let crowd = places
  let isOwn = true
  for (const networkOf of networks) {
    const crowds = Map.groupBy(crowd, ({ from }) => networkOf(from))
    const [fullest = []] = [...crowds.values()].toSorted((one, other) => countOf(other) - countOf(one) || endOf(one) - endOf(other))
    const own: Place[] = isOwn ? (crowds.get(networkOf(newcomer)) ?? []) : []
    isOwn &&= countOf(own) + 1 > countOf(fullest)
    crowd = isOwn ? own : fullest
  }
  return isOwn ? undefined : crowd[0]
}

/** The widest first: /16 and /24 of IPv4, /32 and /48 of IPv6, and the place itself. */
const networks: ((from: string) => string)[] = [
  from => (from.includes(':') ? from.slice(0, 9) : from.split('.').slice(0, 2).join('.')),
  from => (from.includes(':') ? from.slice(0, 14) : from.split('.').slice(0, 3).join('.')),
  from => from
]

function countOf(places: readonly Place[]): number {
  return places.reduce((sum, { count }) => sum + count, 0)
}

function endOf(places: readonly Place[]): number {
  return Math.min(...places.map(({ endsAt }) => endsAt))
}
