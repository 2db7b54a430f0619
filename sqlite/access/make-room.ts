import type { Database } from 'better-sqlite3'

/** Waiting rows of a limited number: what they are among, and where each came from. */
interface Waiting {
  table: string
  index: string
  /** With one `?` for the time. */
  isWaiting: string
  from: string
  key: string
}

/** What waits from one origin. */
interface Place {
  from: string
  count: number
  /** When its oldest expires. */
  endsAt: number
}

/**
 * Makes room for one more waiting row from an origin: the oldest row of the origin with the most is
 * removed, counted by the widest network first. A newcomer from the fullest network finds room only
 * within that; returns false if it is its fullest origin itself. So a crowd from many origins shuts
 * out nobody who has fewer there than each of them.
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

/** Undefined if no origin is fuller than the newcomer's. */
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

/** The widest first: /16 and /24 of IPv4, /32 and /48 of IPv6, and the origin itself. */
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
