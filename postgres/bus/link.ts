import pg from 'pg'
import { createBackoff } from '../../lib/async/backoff.ts'
import type { Clock } from '../../lib/async/clock.ts'
import { every } from '../../lib/async/every.ts'
import { pause } from '../../lib/async/pause.ts'

const connectWithinMs = 5_000
const askEveryMs = 1_000
/** A database that does not answer for so long counts as gone, although its connection is still open. */
const answerWithinMs = 4_000

/** A connection that listens. */
export interface Client {
  notify(payloads: readonly string[]): Promise<void>
}

interface LinkDeps {
  url: string
  clock: Clock
  onNotified(payload: string): void
  onUp(client: Client): void
  onDown(client: Client): void
  onError: (error: unknown) => void
}

/** The one connection of a bus, which comes back. Nothing is sent again on a new one: its owner decides what was lost. */
export class Link {
  readonly #deps: LinkDeps
  readonly #closing = new AbortController()
  #fail: (error: unknown) => void = () => {}
  #running: Promise<void> | undefined
  /** Of each outage only the first failure is reported. */
  #isReported = false

  constructor(deps: LinkDeps) {
    this.#deps = deps
  }

  /** Resolves after the first attempt. */
  start(): Promise<void> {
    const first = Promise.withResolvers<void>()
    this.#running = this.#run(first.resolve)
    return first.promise
  }

  /** The connection is of no more use. */
  reset(error: unknown): void {
    this.#fail(error)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#fail(undefined)
    await this.#running
  }

  async #run(onTried: () => void): Promise<void> {
    const { clock, onError } = this.#deps
    const backoff = createBackoff({ firstMs: 200, longestMs: 2_000 })
    const { signal } = this.#closing
    const onUp = () => {
      backoff.reset()
      this.#isReported = false
      onTried()
    }
    while (!signal.aborted) {
      const error = await this.#connect(onUp)
      if (signal.aborted) break
      if (!this.#isReported) onError(new Error('The bus lost its connection to the database, and connects again.', { cause: error }))
      this.#isReported = true
      onTried()
      await pause(backoff.nextMs(), { signal, clock }).catch(() => {})
    }
    onTried()
  }

  /** One connection, from its beginning to its end. Resolves with the reason of the end. */
  async #connect(onUp: () => void): Promise<unknown> {
    const { url, clock, onNotified } = this.#deps
    const own = new pg.Client({
      connectionString: url,
      application_name: 'afield bus',
      connectionTimeoutMillis: connectWithinMs,
      query_timeout: answerWithinMs,
      keepAlive: true
    })
    const { promise: ended, resolve: fail } = Promise.withResolvers<unknown>()
    this.#fail = fail
    own.on('error', fail)
    own.on('end', () => fail(new Error('closed')))
    own.on('notification', ({ payload = '' }) => onNotified(payload))
    let client: Client | undefined
    const up = async () => {
      await own.connect()
      const { rows } = await own.query("SELECT left('afield ' || current_schema(), 63) AS channel")
      const channel: string = rows[0].channel
      await own.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
      const listening: Client = {
        async notify(payloads) {
          await own.query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [channel, payloads])
        }
      }
      client = listening
      onUp()
      this.#deps.onUp(listening)
    }
    up().catch(fail)
    const asks = every(clock, askEveryMs, async () => void (client && (await own.query('SELECT'))), fail)
    const reason = await ended
    void asks.close()
    own.end().catch(() => {})
    if (client) this.#deps.onDown(client)
    return reason
  }
}
