import type { Clock } from '../../../async/clock.ts'
import { every, type Repeating } from '../../../async/every.ts'
import { pingIntervalMs, pingTimeoutMs } from '../../../protocol/wire/handshake.ts'

const tickMs = 1_000

/** Something that is pinged and must answer. */
export interface Pinged {
  ping(): void
  silent(): void
  /** The server is closing. */
  serverGone(): void
}

/**
 * Pings every connection at the same interval with one timer for all: each list is ordered by due time, so
 * only heads are checked.
 */
export class Heartbeat {
  readonly #clock: Clock
  readonly #pingDue = new Map<Pinged, number>()
  readonly #pongDue = new Map<Pinged, number>()
  readonly #ticks: Repeating

  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock
    this.#ticks = every(clock, tickMs, () => this.#tick(), onError)
  }

  /** A connection opened, or answered its ping: the next ping is one interval from now. */
  alive(connection: Pinged): void {
    this.leave(connection)
    // An integer takes no memory of its own.
    this.#pingDue.set(connection, Math.ceil(this.#clock.now() + pingIntervalMs))
  }

  leave(connection: Pinged): void {
    this.#pingDue.delete(connection)
    this.#pongDue.delete(connection)
  }

  /** Ends every connection, including those not signed in yet. */
  close(): void {
    this.#ticks.close()
    for (const connection of [...this.#pingDue.keys(), ...this.#pongDue.keys()]) connection.serverGone()
  }

  #tick(): void {
    const now = this.#clock.now()
    for (const connection of due(this.#pingDue, now)) {
      this.#pongDue.set(connection, Math.ceil(now + pingTimeoutMs))
      connection.ping()
    }
    for (const connection of due(this.#pongDue, now)) connection.silent()
  }
}

function due(list: Map<Pinged, number>, now: number): Pinged[] {
  const found: Pinged[] = []
  for (const [connection, at] of list) {
    if (at > now) break
    found.push(connection)
  }
  for (const connection of found) list.delete(connection)
  return found
}
