import pg from 'pg'
import type { Clock } from '../../lib/async/clock.ts'
import { pause } from '../../lib/async/pause.ts'
import { limitsTopic, type Topic } from '../../lib/bus/bus.ts'
import { payloadOf } from './frames.ts'
import type { Client } from './link.ts'

/** Of what waits while the database is away. */
const mostWaitingBytes = 4 * 1024 * 1024
/** Of what waits for the statement before it: more than the largest event in pieces. */
const mostQueuedBytes = 256 * 1024 * 1024
/** Sent by one statement. */
const mostAtOnce = 256
/** Topics are named up to so many, in one notification; above it everything counts as lost. */
const mostLostTopics = 32
/** The SQLSTATE of a notification that finds the queue full, since another listener does not read; and how long to wait then. */
const queueIsFull = '54000'
const refusedPauseMs = 1_000

interface OutboxDeps {
  publisher: string
  clock: Clock
  /** The connection is of no more use. */
  onFailed(error: unknown): void
  /** The database has no room for notifications; called once until it takes one again. */
  onRefused(error: unknown): void
}

interface Outgoing {
  topic: Topic
  contents: string[]
  bytes: number
}

/** The topic on which others hear what this end could not publish. */
export const lossTopic = 'lost' as Topic

/** What goes to other instances, in order. Never waits: what cannot leave is counted as lost, and said once it can be. */
export class Outbox {
  readonly #deps: OutboxDeps
  #client: Client | undefined
  #waiting: Outgoing[] = []
  #waitingBytes = 0
  #lost = new Set<Topic>()
  #sending: Promise<void> | undefined
  #made = 0
  #isRefused = false
  readonly #closing = new AbortController()

  constructor(deps: OutboxDeps) {
    this.#deps = deps
  }

  send(topic: Topic, contents: string[]): void {
    // What was used of limits matters now, and must not take the room of changes.
    if (topic === limitsTopic && (this.#isRefused || !this.#client)) return
    const bytes = contents.reduce((sum, { length }) => sum + length, 0)
    if (this.#isRefused || this.#waitingBytes + bytes > (this.#client ? mostQueuedBytes : mostWaitingBytes)) this.#lost.add(topic)
    else {
      this.#waiting.push({ topic, contents, bytes })
      this.#waitingBytes += bytes
    }
    this.#begin()
  }

  /** Something on this topic cannot be published. */
  lose(topic: Topic): void {
    this.#lost.add(topic)
    this.#begin()
  }

  up(client: Client): void {
    this.#client = client
    this.#begin()
  }

  down(client: Client): void {
    if (this.#client === client) this.#client = undefined
  }

  /** Resolves once nothing is on its way; what the database refuses is given up. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#sending
  }

  #begin(): void {
    if (this.#sending) return
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined
      if (this.#client && this.#hasMore() && !this.#closing.signal.aborted) this.#begin()
    })
  }

  // What is published in one turn of the event loop shares a statement, and so does what waits for the one before it.
  async #sendAll(): Promise<void> {
    await Promise.resolve()
    for (let client = this.#client; client && this.#hasMore(); client = this.#client) {
      const lost = this.#lost
      this.#lost = new Set()
      const sent = this.#take()
      try {
        await this.#notify(client, lost, sent)
        this.#isRefused = false
      } catch (error) {
        // Nobody knows whether it arrived, and it is not sent twice.
        for (const topic of [...lost, ...sent.map(({ topic }) => topic)]) this.#lost.add(topic)
        if (client !== this.#client) return
        if (error instanceof pg.DatabaseError && error.code === queueIsFull) {
          // A new connection would be refused as well, and each of them has everybody reconnect.
          if (!this.#isRefused) this.#deps.onRefused(error)
          this.#isRefused = true
          for (const { topic } of this.#waiting) this.#lost.add(topic)
          this.#waiting = []
          this.#waitingBytes = 0
          const { signal } = this.#closing
          await pause(refusedPauseMs, { signal, clock: this.#deps.clock }).catch(() => {})
          if (signal.aborted) return
          continue
        }
        // The next connection says so.
        this.#client = undefined
        this.#deps.onFailed(error)
        return
      }
    }
  }

  #hasMore(): boolean {
    return this.#waiting.length > 0 || this.#lost.size > 0
  }

  #take(): Outgoing[] {
    let count = 0
    let notifications = 0
    for (const { contents } of this.#waiting) {
      if (count > 0 && notifications + contents.length > mostAtOnce) break
      notifications += contents.length
      count += 1
    }
    const taken = this.#waiting.splice(0, count)
    for (const { bytes } of taken) this.#waitingBytes -= bytes
    return taken
  }

  async #notify(client: Client, lost: ReadonlySet<Topic>, sent: readonly Outgoing[]): Promise<void> {
    const named = lost.size <= mostLostTopics ? [...lost] : null
    const losses = lost.size > 0 ? [this.#payload(lossTopic, JSON.stringify(named))] : []
    const payloads = [...losses, ...sent.flatMap(({ topic, contents }) => contents.map(content => this.#payload(topic, content)))]
    for (let at = 0; at < payloads.length; at += mostAtOnce) await client.notify(payloads.slice(at, at + mostAtOnce))
  }

  #payload(topic: Topic, content: string): string {
    this.#made += 1
    return payloadOf({ publisher: this.#deps.publisher, topic, content }, this.#made)
  }
}
