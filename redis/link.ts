import { createClient } from '@redis/client'
import { createBackoff } from '../lib/async/backoff.ts'
import type { Clock } from '../lib/async/clock.ts'
import { withDeadline } from '../lib/async/deadline.ts'
import { every, type Repeating } from '../lib/async/every.ts'
import { pause } from '../lib/async/pause.ts'
import { type Place, refusalOf } from './place.ts'

const connectWithinMs = 5_000
const pingEveryMs = 1_000
/** A Redis that left so many unanswered counts as gone, although its connection is still open. */
const mostUnanswered = 4

export type Client = ReturnType<typeof newClient>

interface LinkDeps {
  place: Place
  clock: Clock
  /** Called with each new connection, before it counts as up; if it fails, the connection is given up. */
  onUp(client: Client): Promise<void>
  /** The connection ended. */
  onDown(client: Client): void
  onError: (error: unknown) => void
}

/** A connection to Redis that comes back. Nothing is sent again on a new one: its owner decides what was lost. */
export class Link {
  readonly #deps: LinkDeps
  readonly #closing = new AbortController()
  /** Ends the present connection. */
  #fail: (error: unknown) => void = () => {}
  #running: Promise<void> | undefined
  /** Of each outage only the first failure is reported. */
  #isReported = false

  constructor(deps: LinkDeps) {
    this.#deps = deps
  }

  /** Resolves after the first attempt. Rejects with CannotStart if that shows what only a person can repair. */
  start(): Promise<void> {
    const first = Promise.withResolvers<void>()
    this.#running = this.#run(first)
    return first.promise
  }

  /** The connection is of no use any more. */
  reset(): void {
    this.#fail(new Error('too much is unanswered'))
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#fail(undefined)
    await this.#running
  }

  async #run(first: PromiseWithResolvers<void>): Promise<void> {
    const { place, clock, onError } = this.#deps
    const backoff = createBackoff({ firstMs: 200, longestMs: 2_000 })
    const { signal } = this.#closing
    const onUp = () => {
      backoff.reset()
      this.#isReported = false
      first.resolve()
    }
    while (!signal.aborted) {
      const error = await this.#connect(onUp)
      if (signal.aborted) break
      const refusal = refusalOf(error, place)
      if (refusal) first.reject(refusal)
      if (!this.#isReported) onError(place.failure(error))
      this.#isReported = true
      first.resolve()
      await pause(backoff.nextMs(), { signal, clock }).catch(() => {})
    }
    first.resolve()
  }

  /** One connection, from its beginning to its end. Resolves with the reason of the end. */
  async #connect(onUp: () => void): Promise<unknown> {
    const { place, clock, onDown } = this.#deps
    const client = newClient(place)
    const { promise: ended, resolve: fail } = Promise.withResolvers<unknown>()
    const ending = new AbortController()
    const { signal } = ending
    this.#fail = fail
    client.on('error', fail)
    client.on('end', () => fail(new Error('closed')))
    const pings = watchSilence(client, clock, fail)
    const up = async () => {
      await withDeadline(connectWithinMs, async () => client.connect(), { signal, clock })
      if (!signal.aborted) await this.#deps.onUp(client)
      if (signal.aborted) onDown(client)
      else onUp()
    }
    up().catch(fail)
    const reason = await ended
    ending.abort()
    void pings.close()
    // Its pending commands fail now.
    client.destroy()
    onDown(client)
    return reason
  }
}

function watchSilence(client: Client, clock: Clock, fail: (error: unknown) => void): Repeating {
  let unanswered = 0
  const answered = () => {
    unanswered = 0
  }
  // Counted, not timed: after this process itself was stopped, the answers may be there unread.
  const ping = () => {
    if (!client.isReady) return
    if (unanswered === mostUnanswered) return fail(new Error('TIMEOUT it does not answer'))
    unanswered += 1
    client.ping().then(answered, () => {})
  }
  return every(clock, pingEveryMs, ping, fail)
}

function newClient({ url }: Place) {
  return createClient({
    url,
    name: 'afield',
    disableClientInfo: true,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { reconnectStrategy: false, connectTimeout: connectWithinMs }
  })
}
