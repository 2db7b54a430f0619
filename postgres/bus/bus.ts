import { randomBytes } from 'node:crypto'
import { systemClock as clock } from '../../lib/async/clock.ts'
import type { Bus, BusEvent, Topic } from '../../lib/bus/bus.ts'
import { busEvent } from '../../lib/bus/events.ts'
import * as v from '../../lib/schema.ts'
import { contentsOf, type Notification, Pieces, readPayload } from './frames.ts'
import { type Client, Link } from './link.ts'
import { lossTopic, Outbox } from './outbox.ts'

type Listener = (event: BusEvent) => void
type OnError = (error: unknown) => void

const losses = v.nullable(v.array(v.string()))

/**
 * The bus of several instances on LISTEN and NOTIFY of the store's database, so that they need no other engine. Every instance
 * hears all events, and passes over those of topics that nobody listens to there.
 */
export async function openPostgresBus(url: string, on: { onError: OnError }): Promise<Bus> {
  const bus = new PostgresBus(url, on.onError)
  await bus.open()
  return bus
}

class PostgresBus implements Bus {
  readonly isShared = true
  /** Tells this end's events from those of others. */
  readonly #self = randomBytes(9).toString('base64url')
  readonly #onError: OnError
  readonly #listeners = new Map<Topic, Set<{ listener: Listener }>>()
  readonly #onLost = new Set<{ listener: (topic: Topic | undefined) => void }>()
  readonly #pieces = new Pieces()
  readonly #outbox: Outbox
  readonly #link: Link
  #isClosed = false

  constructor(url: string, onError: OnError) {
    this.#onError = onError
    this.#outbox = new Outbox({
      publisher: this.#self,
      clock,
      onFailed: error => this.#link.reset(error),
      onRefused: cause => onError(new Error('The database does not take what the bus publishes; it is tried again.', { cause }))
    })
    this.#link = new Link({
      url,
      clock,
      onError,
      onNotified: payload => this.#receive(payload),
      onUp: client => this.#up(client),
      onDown: client => this.#outbox.down(client)
    })
  }

  open(): Promise<void> {
    return this.#link.start()
  }

  publish(topic: Topic, event: BusEvent): void {
    this.#tell(topic, event)
    if (this.#isClosed) return
    const contents = contentsOf(event)
    if (contents === 'too large') this.#outbox.lose(topic)
    else if (contents.length > 0) this.#outbox.send(topic, contents)
  }

  async subscribe(topic: Topic, listener: Listener): Promise<() => Promise<void>> {
    const listeners = this.#listeners.get(topic) ?? new Set()
    const entry = { listener }
    this.#listeners.set(topic, listeners.add(entry))
    return async () => {
      listeners.delete(entry)
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic)
    }
  }

  onLost(listener: (topic: Topic | undefined) => void): () => void {
    const entry = { listener }
    this.#onLost.add(entry)
    return () => this.#onLost.delete(entry)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#outbox.close()
    this.#onLost.clear()
    this.#listeners.clear()
    await this.#link.close()
  }

  #up(client: Client): void {
    this.#pieces.clear()
    this.#outbox.up(client)
    this.#lose([undefined])
  }

  #receive(payload: string): void {
    const notification = readPayload(payload)
    if (!notification || notification.publisher === this.#self) return
    if (notification.topic === lossTopic) this.#lose(topicsOf(notification.content))
    else if (this.#listeners.has(notification.topic)) this.#read(notification)
  }

  #read(notification: Notification): void {
    const { topic, content } = notification
    const whole = content.startsWith('+') ? this.#pieces.add(notification) : content.slice(1)
    if (whole === undefined) return
    let event: BusEvent
    try {
      event = v.parse(busEvent, JSON.parse(whole))
    } catch {
      // Neither names nor values are repeated: they belong to an account.
      this.#onError(new Error('An event on the bus could not be read and was dropped.'))
      return
    }
    this.#tell(topic, event)
  }

  #tell(topic: Topic, event: BusEvent): void {
    for (const { listener } of this.#listeners.get(topic) ?? []) this.#call(() => listener(event))
  }

  /** Undefined: any topic. */
  #lose(topics: readonly (Topic | undefined)[]): void {
    for (const { listener } of [...this.#onLost]) for (const topic of topics) this.#call(() => listener(topic))
  }

  #call(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#onError(error)
    }
  }
}

function topicsOf(content: string): (Topic | undefined)[] {
  try {
    return (v.parse(losses, JSON.parse(content)) as Topic[] | null) ?? [undefined]
  } catch {
    // A later version may name them in another way.
    return [undefined]
  }
}
