import type { Clock } from '../../../async/clock.ts'
import { Deadlines } from '../../../async/deadlines.ts'
import type { Bus, Topic } from '../../../bus/bus.ts'

/** A subscription that no call uses is kept this long: an account that calls usually calls again. */
export const unusedMs = 60_000

type OnCallee = () => void

interface Waiters {
  byMethod: Map<string, Set<OnCallee>>
  subscribed: Promise<() => Promise<void>>
  /** Whether the bus has confirmed the subscription; one that it never does must not delay later calls. */
  isOpen: boolean
  close(): void
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
  readonly #unused: Deadlines

  constructor(bus: Pick<Bus, 'subscribe'>, clock: Clock, onError: (error: unknown) => void) {
    this.#bus = bus
    this.#unused = new Deadlines(clock, unusedMs)
    this.#onError = onError
  }

  /**
   * `subscribed` never rejects, and has resolved if `isOpen`. Without a subscription, only a callee that arrives while the call
   * waits is missed. Call `end` once.
   */
  await(topic: Topic, method: string, onCallee: OnCallee): { subscribed: Promise<unknown>; isOpen: boolean; end(): void } {
    const waiters = this.#waiters.get(topic) ?? this.#open(topic)
    this.#unused.end(waiters.close)
    const waiting = waiters.byMethod.get(method) ?? new Set()
    waiters.byMethod.set(method, waiting.add(onCallee))
    const end = () => {
      waiting.delete(onCallee)
      if (waiting.size === 0) waiters.byMethod.delete(method)
      const isClosed = this.#waiters.get(topic) !== waiters
      if (waiters.byMethod.size > 0 || isClosed) return
      if (waiters.isOpen) this.#unused.begin(waiters.close)
      else waiters.close()
    }
    return { subscribed: waiters.subscribed, isOpen: waiters.isOpen, end }
  }

  close(): void {
    this.#unused.close()
    for (const { close } of this.#waiters.values()) close()
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
    const close = () => {
      if (this.#waiters.get(topic) === waiters) this.#waiters.delete(topic)
      void subscribed.then(unsubscribe => unsubscribe()).catch(this.#onError)
    }
    const waiters: Waiters = { byMethod, subscribed, isOpen: false, close }
    void subscribed.then(() => {
      waiters.isOpen = true
    })
    this.#waiters.set(topic, waiters)
    return waiters
  }
}
