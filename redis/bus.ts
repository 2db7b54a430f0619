import { randomBytes } from 'node:crypto'
import { systemClock } from '../lib/async/clock.ts'
import type { Bus, BusEvent, Topic } from '../lib/bus/bus.ts'
import { frameOf, readFrame } from './frames.ts'
import { type Client, Link } from './link.ts'
import { Outbox } from './outbox.ts'
import { placeOf } from './place.ts'
import { Subscriptions } from './subscriptions.ts'

/** How long a large event is looked for. */
const fetchWithinMs = 5_000
/** How long the last events may take on their way when the bus closes. */
const lastEventsWithinMs = 1_000

type OnError = (error: unknown) => void

/**
 * The bus of several instances on publish and subscribe of Redis. Nothing durable is in Redis: what it loses is said
 * (`onLost`), and clients read it from the store. Throws CannotStart if the address is wrong or Redis rejects this server; if
 * it only cannot be reached, the bus opens, connects the clients of this instance, and waits for Redis.
 */
export async function openRedisBus(url: string, on: { onError: OnError }): Promise<Bus> {
  const place = placeOf(url)
  const bus = new RedisBus(place, on.onError)
  await bus.open()
  return bus
}

class RedisBus implements Bus {
  readonly isShared = true
  /** Tells this end's events from those of others. */
  readonly #self = randomBytes(9).toString('base64url')
  readonly #onError: OnError
  readonly #onLost = new Set<{ listener: (topic: Topic | undefined) => void }>()
  readonly #subscriptions: Subscriptions
  readonly #outbox: Outbox
  readonly #in: Link
  readonly #out: Link
  /** Events that wait, in order, for a large one before them. */
  readonly #waiting = new Map<Topic, Promise<void>>()
  #isClosed = false

  constructor(place: ReturnType<typeof placeOf>, onError: OnError) {
    this.#onError = onError
    this.#outbox = new Outbox({
      prefix: place.prefix,
      self: this.#self,
      onRefused: error => onError(place.failure(error)),
      onLost: topics => this.#lose(topics),
      onStalled: () => this.#out.reset()
    })
    this.#subscriptions = new Subscriptions({
      prefix: place.prefix,
      onFrame: (topic, frame) => this.#receive(topic, frame),
      onLost: topics => this.#lose(topics),
      self: this.#self
    })
    const links = { place, onError, clock: systemClock }
    this.#in = new Link({ ...links, onUp: client => this.#subscribed(client), onDown: client => this.#subscriptions.down(client) })
    this.#out = new Link({ ...links, onUp: async client => this.#outbox.up(client), onDown: client => this.#outbox.down(client) })
  }

  async open(): Promise<void> {
    try {
      await Promise.all([this.#in.start(), this.#out.start()])
    } catch (error) {
      await this.close()
      throw error
    }
  }

  publish(topic: Topic, event: BusEvent): void {
    this.#tell(topic, event)
    if (this.#isClosed) return
    const frame = frameOf(event)
    if (frame === 'too large') this.#outbox.lose(topic)
    else if (frame !== 'dropped') this.#outbox.send(topic, frame)
  }

  subscribe(topic: Topic, listener: (event: BusEvent) => void): Promise<() => Promise<void>> {
    return this.#subscriptions.add(topic, listener)
  }

  onLost(listener: (topic: Topic | undefined) => void): () => void {
    const entry = { listener }
    this.#onLost.add(entry)
    return () => this.#onLost.delete(entry)
  }

  async close(): Promise<void> {
    if (!this.#isClosed) await this.#outbox.settled(lastEventsWithinMs)
    this.#isClosed = true
    this.#onLost.clear()
    this.#subscriptions.close()
    await Promise.all([this.#in.close(), this.#out.close()])
  }

  /** Everything is subscribed again before anybody is told that something may be missing. */
  async #subscribed(client: Client): Promise<void> {
    const isAgain = await this.#subscriptions.up(client)
    if (isAgain) this.#lose(undefined)
  }

  #receive(topic: Topic, frame: string): void {
    const before = this.#waiting.get(topic)
    if (before === undefined && !isParcel(frame)) {
      this.#read(topic, frame)
      return
    }
    const done = (before ?? Promise.resolve()).then(() => (isParcel(frame) ? this.#fetch(topic, frame) : this.#read(topic, frame)))
    this.#waiting.set(topic, done)
    void done.then(() => this.#waiting.get(topic) === done && this.#waiting.delete(topic))
  }

  /** A large event is a value of its own; Redis may have removed it, or may not answer. */
  async #fetch(topic: Topic, frame: string): Promise<void> {
    const content = await this.#outbox.fetch(frame.slice(1), fetchWithinMs)
    if (content === undefined) this.#lose([topic])
    else this.#read(topic, content)
  }

  #read(topic: Topic, content: string): void {
    const event = readFrame(content)
    if (event instanceof Error) this.#onError(event)
    else this.#tell(topic, event)
  }

  #tell(topic: Topic, event: BusEvent): void {
    for (const listener of this.#subscriptions.listeners(topic)) {
      try {
        listener(event)
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  /** Undefined: of any topic. */
  #lose(topics: readonly Topic[] | undefined): void {
    for (const { listener } of [...this.#onLost]) for (const topic of topics ?? [undefined]) this.#tellLoss(listener, topic)
  }

  #tellLoss(listener: (topic: Topic | undefined) => void, topic: Topic | undefined): void {
    try {
      listener(topic)
    } catch (error) {
      this.#onError(error)
    }
  }
}

function isParcel(frame: string): boolean {
  return frame.startsWith('*')
}
