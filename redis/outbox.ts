import { randomUUID } from 'node:crypto'
import { systemClock } from '../lib/async/clock.ts'
import { withDeadline } from '../lib/async/deadline.ts'
import { limitsTopic, type Topic } from '../lib/bus/bus.ts'
import type { Frame } from './frames.ts'
import type { Client } from './link.ts'

/** Of events that wait while Redis is away. */
const mostWaitingBytes = 4 * 1024 * 1024
/** Of events that Redis has not confirmed; one that reads nothing is given up. */
const mostInFlightBytes = 128 * 1024 * 1024
/** Topics are named up to so many; above it everything counts as lost. */
const mostLostTopics = 256
/** Large events are fetched at once, or not at all. */
const parcelForS = 30

interface OutboxDeps {
  prefix: string
  self: string
  /** Redis rejected something that it should take. */
  onRefused(error: unknown): void
  /** Events may not have left; undefined: of any topic. */
  onLost(topics: readonly Topic[] | undefined): void
  onStalled(): void
}

interface Outgoing {
  topic: Topic
  frame: Frame
}

/** Where other ends hear what this one could not publish. */
export function lossChannel(prefix: string): string {
  return `${prefix}lost`
}

/** What goes to other instances. Never waits: what cannot leave is counted as lost, and said once Redis is back. */
export class Outbox {
  readonly #deps: OutboxDeps
  #client: Client | undefined
  readonly #inFlight = new Set<Outgoing>()
  #inFlightBytes = 0
  #waiting: Outgoing[] = []
  #waitingBytes = 0
  #lost = new Set<Topic>()
  #settled: (() => void) | undefined

  constructor(deps: OutboxDeps) {
    this.#deps = deps
  }

  send(topic: Topic, frame: Frame): void {
    if (this.#client) this.#publish(this.#client, { topic, frame })
    // What was used of limits matters now, and must not take the room of changes.
    else if (topic === limitsTopic) return
    else if (this.#waitingBytes + frame.bytes <= mostWaitingBytes) {
      this.#waiting.push({ topic, frame })
      this.#waitingBytes += frame.bytes
    } else this.#lost.add(topic)
  }

  /** Something on this topic cannot be published. */
  lose(topic: Topic): void {
    this.#lost.add(topic)
    if (this.#client) this.#tellLosses(this.#client)
  }

  /** A new connection: others learn first what they will not get, then they get what waited. */
  up(client: Client): void {
    this.#client = client
    this.#tellLosses(client)
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    for (const each of waiting) this.#publish(client, each)
  }

  /** Of what is in flight nobody knows whether it arrived, and it is not sent twice. */
  down(client: Client): void {
    if (client !== this.#client) return
    this.#client = undefined
    for (const { topic } of this.#inFlight) this.#lost.add(topic)
    this.#inFlight.clear()
    this.#inFlightBytes = 0
    this.#settled?.()
  }

  /** The content of a large event; undefined if it cannot be had. */
  async fetch(parcel: string, withinMs: number): Promise<string | undefined> {
    const client = this.#client
    if (!client) return undefined
    const found = await withDeadline(withinMs, async () => client.get(this.#keyOf(parcel))).catch(() => null)
    return found ?? undefined
  }

  /** Resolves once nothing is in flight, or the time is up. */
  settled(withinMs: number): Promise<void> {
    if (this.#inFlight.size === 0) return Promise.resolve()
    return new Promise(resolve => {
      const cancel = systemClock.after(withinMs, resolve)
      this.#settled = () => {
        cancel()
        resolve()
      }
    })
  }

  #publish(client: Client, outgoing: Outgoing): void {
    const { topic, frame } = outgoing
    this.#inFlight.add(outgoing)
    this.#inFlightBytes += frame.bytes
    const content = frame.isParcel ? `*${this.#store(client, frame)}` : frame.content
    client.publish(this.#deps.prefix + topic, `${this.#deps.self} ${content}`).then(
      () => this.#left(outgoing),
      error => {
        // A connection that ended has counted it as lost already.
        if (this.#left(outgoing)) this.#refused(topic, error)
      }
    )
    if (this.#inFlightBytes > mostInFlightBytes) this.#deps.onStalled()
  }

  /** In order with what is published: the value is there when its name arrives. */
  #store(client: Client, { content }: Frame): string {
    const parcel = randomUUID()
    client.set(this.#keyOf(parcel), content, { expiration: { type: 'EX', value: parcelForS } }).catch(error => {
      // Who fetches it finds nothing, and counts it as lost.
      if (client === this.#client) this.#deps.onRefused(error)
    })
    return parcel
  }

  #left(outgoing: Outgoing): boolean {
    if (!this.#inFlight.delete(outgoing)) return false
    this.#inFlightBytes -= outgoing.frame.bytes
    if (this.#inFlight.size === 0) this.#settled?.()
    return true
  }

  #refused(topic: Topic, error: unknown): void {
    this.#deps.onRefused(error)
    this.lose(topic)
  }

  #tellLosses(client: Client): void {
    if (this.#lost.size === 0) return
    const lost = this.#lost
    this.#lost = new Set()
    const topics = lost.size > mostLostTopics ? undefined : [...lost]
    client.publish(lossChannel(this.#deps.prefix), `${this.#deps.self} ${JSON.stringify(topics ?? null)}`).catch(() => {
      for (const topic of lost) this.#lost.add(topic)
    })
    this.#deps.onLost(topics)
  }

  #keyOf(parcel: string): string {
    return `${this.#deps.prefix}parcel:${parcel}`
  }
}
