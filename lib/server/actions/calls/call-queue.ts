import type { Clock } from '../../../async/clock.ts'
import { Deadlines } from '../../../async/deadlines.ts'

/**
 * Existing clients send bursts; calls above the limit wait, up to a number, and no longer than an answer
 * may take.
 */
export const mostCallsInFlight = 32
const mostCallsWaiting = 256
const waitWithinMs = 30_000

interface Line {
  inFlight: number
  /** The first is next. */
  waiting: Set<(turn: 'go' | 'timed-out') => void>
}

/** Limits the concurrent calls of one caller; others of it wait their turn. */
export class CallQueue {
  readonly #limits: Deadlines
  readonly #lines = new Map<string, Line>()

  constructor(clock: Clock) {
    this.#limits = new Deadlines(clock, waitWithinMs)
  }

  /**
   * After `go`, call `leave` once when done. `go` is called at once if there is a free slot, or if no more
   * may wait.
   */
  enter(caller: string): 'go' | 'too-many' | Promise<'go' | 'timed-out'> {
    const line = this.#lines.get(caller) ?? { inFlight: 0, waiting: new Set() }
    this.#lines.set(caller, line)
    if (line.inFlight < mostCallsInFlight) {
      line.inFlight += 1
      return 'go'
    }
    if (line.waiting.size >= mostCallsWaiting) return 'too-many'
    const { promise, resolve } = Promise.withResolvers<'go' | 'timed-out'>()
    const onTurn = (turn: 'go' | 'timed-out') => {
      this.#limits.end(onLimit)
      line.waiting.delete(onTurn)
      resolve(turn)
    }
    const onLimit = () => onTurn('timed-out')
    line.waiting.add(onTurn)
    this.#limits.begin(onLimit)
    return promise
  }

  leave(caller: string): void {
    const line = this.#lines.get(caller)
    if (!line) return
    const [next] = line.waiting
    if (next) {
      next('go')
      return
    }
    line.inFlight -= 1
    if (line.inFlight === 0) this.#lines.delete(caller)
  }

  close(): void {
    this.#limits.close()
    for (const { waiting } of this.#lines.values()) for (const onTurn of [...waiting]) onTurn('timed-out')
  }
}
