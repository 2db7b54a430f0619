import type { Clock } from '../../../async/clock.ts'
import { Deadlines } from '../../../async/deadlines.ts'

/**
 * Existing clients send bursts; calls above the limit wait, up to a number, and no longer than an answer
 * may take.
 */
export const mostCallsInFlight = 32
const mostCallsWaiting = 256
const waitWithinMs = 30_000

interface CallerCalls {
  inFlight: number
  /** The first is next. */
  waiting: Set<(turn: 'go' | 'timed-out') => void>
}

/** Limits the concurrent calls of one caller; others of it wait their turn. */
export class CallQueue {
  readonly #limits: Deadlines
  readonly #callers = new Map<string, CallerCalls>()

  constructor(clock: Clock) {
    this.#limits = new Deadlines(clock, waitWithinMs)
  }

  /**
   * After `go`, call `leave` once when done. `go` is called at once if there is a free slot, or if no more
   * may wait.
   */
  enter(caller: string): 'go' | 'too-many' | Promise<'go' | 'timed-out'> {
    const own = this.#callers.get(caller) ?? { inFlight: 0, waiting: new Set() }
    this.#callers.set(caller, own)
    if (own.inFlight < mostCallsInFlight) {
      own.inFlight += 1
      return 'go'
    }
    if (own.waiting.size >= mostCallsWaiting) return 'too-many'
    const { promise, resolve } = Promise.withResolvers<'go' | 'timed-out'>()
    const onTurn = (turn: 'go' | 'timed-out') => {
      this.#limits.end(onLimit)
      own.waiting.delete(onTurn)
      resolve(turn)
    }
    const onLimit = () => onTurn('timed-out')
    own.waiting.add(onTurn)
    this.#limits.begin(onLimit)
    return promise
  }

  leave(caller: string): void {
    const own = this.#callers.get(caller)
    if (!own) return
    const [next] = own.waiting
    if (next) {
      next('go')
      return
    }
    own.inFlight -= 1
    if (own.inFlight === 0) this.#callers.delete(caller)
  }

  close(): void {
    this.#limits.close()
    for (const { waiting } of this.#callers.values()) for (const onTurn of [...waiting]) onTurn('timed-out')
  }
}
