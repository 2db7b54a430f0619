import type { Bus, Topic } from '../../../bus/bus.ts'

type OnCallee = () => void

interface Waiters {
  byMethod: Map<string, Set<OnCallee>>
  subscribed: Promise<() => Promise<void>>
}

/**
 * Callees that arrive while calls wait for them. One subscription for each account, however many of its
 * calls wait: each event is given to every subscriber, so one for each call would make a burst of calls
 * quadratic.
 */
export class CalleeArrivals {
  readonly #bus: Pick<Bus, 'subscribe'>
  readonly #onError: (error: unknown) => void
  readonly #waiters = new Map<Topic, Waiters>()

  constructor(bus: Pick<Bus, 'subscribe'>, onError: (error: unknown) => void) {
    this.#bus = bus
    this.#onError = onError
  }

  /** `subscribed` never rejects. Without a subscription, only a callee that arrives while the call waits is missed. Call `end` once. */
  await(topic: Topic, method: string, onCallee: OnCallee): { subscribed: Promise<unknown>; end(): void } {
    const waiters = this.#waiters.get(topic) ?? this.#open(topic)
    const waiting = waiters.byMethod.get(method) ?? new Set()
    waiters.byMethod.set(method, waiting.add(onCallee))
    const end = () => {
      waiting.delete(onCallee)
      if (waiting.size === 0) waiters.byMethod.delete(method)
      if (waiters.byMethod.size === 0) this.#close(topic, waiters)
    }
    return { subscribed: waiters.subscribed, end }
  }

  #open(topic: Topic): Waiters {
    const byMethod: Waiters['byMethod'] = new Map()
    const subscribed = this.#bus
      .subscribe(topic, event => {
        if (event.type === 'callee-here') for (const onCallee of byMethod.get(event.method) ?? []) onCallee()
      })
      .catch(error => {
        this.#onError(error)
        // The next call tries again.
        if (this.#waiters.get(topic) === waiters) this.#waiters.delete(topic)
        return async () => {}
      })
    const waiters = { byMethod, subscribed }
    this.#waiters.set(topic, waiters)
    return waiters
  }

  #close(topic: Topic, waiters: Waiters): void {
    if (this.#waiters.get(topic) === waiters) this.#waiters.delete(topic)
    void waiters.subscribed.then(unsubscribe => unsubscribe()).catch(this.#onError)
  }
}
