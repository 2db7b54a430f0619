import type { Bus, Topic } from '../../../bus/bus.ts'

type OnCallee = () => void

interface Ear {
  byMethod: Map<string, Set<OnCallee>>
  subscribed: Promise<() => Promise<void>>
}

/**
 * Callees that arrive while calls wait for them. One subscription for each account, however many of its
 * calls wait: each event is given to every subscriber, so one for each call would make a burst of calls
 * quadratic.
 */
export class Arrivals {
  readonly #bus: Pick<Bus, 'subscribe'>
  readonly #onError: (error: unknown) => void
  readonly #ears = new Map<Topic, Ear>()

  constructor(bus: Pick<Bus, 'subscribe'>, onError: (error: unknown) => void) {
    this.#bus = bus
    this.#onError = onError
  }

  /** `subscribed` never rejects. Without a subscription, only a callee that arrives while the call waits is missed. Call `end` once. */
  await(topic: Topic, method: string, onCallee: OnCallee): { subscribed: Promise<unknown>; end(): void } {
    const ear = this.#ears.get(topic) ?? this.#open(topic)
    const waiting = ear.byMethod.get(method) ?? new Set()
    ear.byMethod.set(method, waiting.add(onCallee))
    const end = () => {
      waiting.delete(onCallee)
      if (waiting.size === 0) ear.byMethod.delete(method)
      if (ear.byMethod.size === 0) this.#close(topic, ear)
    }
    return { subscribed: ear.subscribed, end }
  }

  #open(topic: Topic): Ear {
    const byMethod: Ear['byMethod'] = new Map()
    const subscribed = this.#bus
      .subscribe(topic, event => {
        if (event.type === 'callee-here') for (const onCallee of byMethod.get(event.method) ?? []) onCallee()
      })
      .catch(error => {
        this.#onError(error)
        // The next call tries again.
        if (this.#ears.get(topic) === ear) this.#ears.delete(topic)
        return async () => {}
      })
    const ear = { byMethod, subscribed }
    this.#ears.set(topic, ear)
    return ear
  }

  #close(topic: Topic, ear: Ear): void {
    if (this.#ears.get(topic) === ear) this.#ears.delete(topic)
    void ear.subscribed.then(unsubscribe => unsubscribe()).catch(this.#onError)
  }
}
