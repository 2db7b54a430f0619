import type { Database } from 'better-sqlite3'
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
   * origin with the most is removed, counted by the widest network first. A newcomer from the fullest
   * network finds room only within that; returns false if it is its fullest origin itself. So a crowd
   * from many origins shuts out nobody who has fewer there than each of them.
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
    for (const row of read.iterate(now)) all.add(pathOf(row.from), row.endsAt)
    return all
  }

  return {
    tail: { finish: forget, forget },
    enter({ from, now, endsAt, most: { here = Number.POSITIVE_INFINITY, inAll } }) {
      known ??= readAll(now)
      const path = pathOf(from)
      if (known.countAt(path) >= here) return false
      if (known.count >= inAll) {
        const origin = fullestBut(path, known)
        if (!origin || removeOldest.run(now, origin).changes === 0) return false
        known.removeOldest(pathOf(origin))
      }
      known.add(path, endsAt)
      return true
    }
  }
}

/** The networks of an origin, the widest first: /16 and /24 of IPv4, /32 and /48 of IPv6, and the origin itself. */
function pathOf(from: string): string[] {
  if (from.includes(':')) return [from.slice(0, 9), from.slice(0, 14), from]
  const parts = from.split('.')
  return [parts.slice(0, 2).join('.'), parts.slice(0, 3).join('.'), from]
}

/** Undefined if no origin has more than the newcomer's. */
function fullestBut(newcomer: readonly string[], all: Crowd): string | undefined {
  let among: Crowd | undefined = all
  let isOwn = true
  let name: string | undefined
  for (const own of newcomer) {
    const fullest: Place | undefined = among?.fullest()
    const ownCrowd: Crowd | undefined = isOwn ? among?.within.get(own) : undefined
    isOwn &&= (ownCrowd?.count ?? 0) + 1 > (fullest?.crowd.count ?? 0)
    among = isOwn ? ownCrowd : fullest?.crowd
    name = fullest?.name
  }
  return isOwn ? undefined : name
}

interface Place {
  name: string
  crowd: Crowd
}

/** What waits from one network: from each network within it, or when each ends, the oldest first. */
class Crowd {
  count = 0
  /** When its oldest ends. */
  endsAt = Number.POSITIVE_INFINITY
  readonly within = new Map<string, Crowd>()
  readonly #ends: number[] = []

  countAt([name, ...rest]: readonly string[]): number {
    return name === undefined ? this.count : (this.within.get(name)?.countAt(rest) ?? 0)
  }

  add([name, ...rest]: readonly string[], endsAt: number): void {
    this.count += 1
    this.endsAt = Math.min(this.endsAt, endsAt)
    if (name === undefined) {
      this.#ends.push(endsAt)
      return
    }
    const inner = this.within.get(name) ?? new Crowd()
    this.within.set(name, inner)
    inner.add(rest, endsAt)
  }

  removeOldest([name, ...rest]: readonly string[]): void {
    const inner = name === undefined ? undefined : this.within.get(name)
    if (name !== undefined && inner) {
      inner.removeOldest(rest)
      if (inner.count === 0) this.within.delete(name)
      this.endsAt = [...this.within.values()].reduce((oldest, { endsAt }) => Math.min(oldest, endsAt), Number.POSITIVE_INFINITY)
    } else {
      this.#ends.shift()
      this.endsAt = this.#ends[0] ?? Number.POSITIVE_INFINITY
    }
    this.count -= 1
  }

  /** Among equals, the one whose oldest row ends first. */
  fullest(): Place | undefined {
    let found: Place | undefined
    for (const [name, crowd] of this.within) {
      const { count = 0, endsAt = 0 } = found?.crowd ?? {}
      if (crowd.count > count || (crowd.count === count && crowd.endsAt < endsAt)) found = { name, crowd }
    }
    return found
  }
}
