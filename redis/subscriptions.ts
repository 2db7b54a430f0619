import type { BusEvent, Topic } from '../lib/bus/bus.ts'
import * as v from '../lib/schema.ts'
import type { Client } from './link.ts'
import { lossChannel } from './outbox.ts'

type Listener = (event: BusEvent) => void

interface Subscribed {
  readonly listeners: Set<{ listener: Listener }>
  /** The connection on which Redis has confirmed it. */
  on: Client | undefined
  /** The last change asked of Redis; the next waits for it. */
  changing: Promise<unknown>
}

interface SubscriptionsDeps {
  prefix: string
  self: string
  /** Something that another end published. */
  onFrame(topic: Topic, content: string): void
  /** Another end could not publish on these topics; undefined: on any. */
  onLost(topics: readonly Topic[] | undefined): void
}

const losses = v.nullable(v.array(v.string() as v.GenericSchema<string> as v.GenericSchema<unknown, Topic>))

/** The topics with listeners at this instance, each subscribed once at Redis, and again on every new connection. */
export class Subscriptions {
  readonly #deps: SubscriptionsDeps
  readonly #byTopic = new Map<Topic, Subscribed>()
  readonly #hear: (content: string, channel: string) => void
  readonly #hearLoss: (content: string) => void
  #client: Client | undefined
  #hasBeenUp = false

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps
    const own = `${deps.self} `
    this.#hear = (content, channel) => {
      // The listeners of this end had it before it was published.
      if (!content.startsWith(own)) deps.onFrame(channel.slice(deps.prefix.length) as Topic, content.slice(content.indexOf(' ') + 1))
    }
    this.#hearLoss = content => {
      if (!content.startsWith(own)) deps.onLost(topicsOf(content.slice(content.indexOf(' ') + 1)))
    }
  }

  *listeners(topic: Topic): Iterable<Listener> {
    for (const { listener } of this.#byTopic.get(topic)?.listeners ?? []) yield listener
  }

  async add(topic: Topic, listener: Listener): Promise<() => Promise<void>> {
    const entry = { listener }
    const subscribed = this.#byTopic.get(topic) ?? { listeners: new Set(), on: undefined, changing: Promise.resolve() }
    this.#byTopic.set(topic, subscribed)
    subscribed.listeners.add(entry)
    const remove = async () => {
      if (subscribed.listeners.delete(entry)) await this.#follow(topic, subscribed)
    }
    try {
      await this.#follow(topic, subscribed)
    } catch (error) {
      await remove().catch(() => {})
      throw error
    }
    return remove
  }

  /** Subscribes everything on a new connection. Resolves with whether there was one before. */
  async up(client: Client): Promise<boolean> {
    await client.subscribe(lossChannel(this.#deps.prefix), this.#hearLoss)
    for (let missing = this.#missing(client); missing.length > 0; missing = this.#missing(client)) {
      await client.subscribe(
        missing.map(([topic]) => this.#deps.prefix + topic),
        this.#hear
      )
      for (const [, subscribed] of missing) subscribed.on = client
    }
    // In the same turn as the last look at what is missing: who comes later asks this connection.
    this.#client = client
    const isAgain = this.#hasBeenUp
    this.#hasBeenUp = true
    return isAgain
  }

  down(client: Client): void {
    if (client === this.#client) this.#client = undefined
  }

  close(): void {
    this.#byTopic.clear()
  }

  #missing(client: Client): [Topic, Subscribed][] {
    return [...this.#byTopic].filter(([, { listeners, on }]) => listeners.size > 0 && on !== client)
  }

  /** Makes Redis have what the listeners need. Without a connection there is nothing to do: the next one begins with it. */
  #follow(topic: Topic, subscribed: Subscribed): Promise<void> {
    const change = subscribed.changing.then(() => this.#change(topic, subscribed))
    subscribed.changing = change.catch(() => {})
    return change
  }

  async #change(topic: Topic, subscribed: Subscribed): Promise<void> {
    const client = this.#client
    const isWanted = subscribed.listeners.size > 0
    const channel = this.#deps.prefix + topic
    if (client && isWanted && subscribed.on !== client) {
      await this.#ask(client, () => client.subscribe(channel, this.#hear))
      subscribed.on = client
    } else if (client && !isWanted && subscribed.on === client) {
      subscribed.on = undefined
      await this.#ask(client, () => client.unsubscribe(channel, this.#hear))
    }
    if (subscribed.listeners.size === 0 && this.#byTopic.get(topic) === subscribed) this.#byTopic.delete(topic)
  }

  /** Rejects only if Redis does: if the connection ends meanwhile, the next one subscribes all topics again. */
  async #ask(client: Client, ask: () => Promise<void>): Promise<void> {
    await ask().catch(error => {
      if (client === this.#client && client.isReady) throw error
    })
  }
}

function topicsOf(content: string): readonly Topic[] | undefined {
  try {
    return v.parse(losses, JSON.parse(content)) ?? undefined
  } catch {
    // A later version may name them in another way.
    return undefined
  }
}
