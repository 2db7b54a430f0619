import type { Clock } from '../../../async/clock.ts'
import { type Bus, type BusEvent, instanceTopic, type Topic } from '../../../bus/bus.ts'

const askEveryMs = 1_000
/** An instance that left so many questions unanswered is gone: within five seconds of its last answer. */
const mostUnanswered = 3

interface Watched {
  unanswered: number
  readonly onGone: Set<() => void>
  stop(): void
}

/**
 * Whether the instances whose callees work on our calls still run. They are asked only meanwhile, and an instance does not
 * ask itself, so a single one is never asked.
 */
export class CalleeInstances {
  readonly #bus: Pick<Bus, 'publish'>
  readonly #clock: Clock
  readonly #self: string
  readonly #replyTo: Topic
  readonly #watched = new Map<string, Watched>()

  constructor(bus: Pick<Bus, 'publish'>, clock: Clock, self: string) {
    this.#bus = bus
    this.#clock = clock
    this.#self = self
    this.#replyTo = instanceTopic(self)
  }

  /** What came on this instance's own topic. */
  hear(event: BusEvent): void {
    if (event.type === 'instance-asked') this.#bus.publish(event.replyTo, { type: 'instance-here', instance: this.#self })
    const watched = event.type === 'instance-here' ? this.#watched.get(event.instance) : undefined
    if (watched) watched.unanswered = 0
  }

  /** The returned function ends it; call it once. */
  watch(instance: string, onGone: () => void): () => void {
    if (instance === this.#self) return () => {}
    const watched = this.#watched.get(instance) ?? this.#begin(instance)
    watched.onGone.add(onGone)
    return () => {
      watched.onGone.delete(onGone)
      if (watched.onGone.size === 0) watched.stop()
    }
  }

  close(): void {
    for (const { stop } of [...this.#watched.values()]) stop()
  }

  #begin(instance: string): Watched {
    const ask = () => {
      if (watched.unanswered === mostUnanswered) {
        watched.stop()
        for (const onGone of [...watched.onGone]) onGone()
        return
      }
      watched.unanswered += 1
      cancel = this.#clock.after(askEveryMs, ask)
      this.#bus.publish(instanceTopic(instance), { type: 'instance-asked', replyTo: this.#replyTo })
    }
    const watched: Watched = {
      unanswered: 0,
      onGone: new Set(),
      stop: () => {
        cancel()
        if (this.#watched.get(instance) === watched) this.#watched.delete(instance)
      }
    }
    let cancel = this.#clock.after(askEveryMs, ask)
    this.#watched.set(instance, watched)
    return watched
  }
}
