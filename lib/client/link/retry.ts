import { createBackoff } from '../../async/backoff.ts'
import { type Clock, systemClock } from '../../async/clock.ts'
import { pause } from '../../async/pause.ts'
import { mayRetry, type Refused, type Unreachable } from './refusals.ts'

interface RetryOptions {
  /** Stops the attempts; `attempt` then rejects with its reason. */
  signal: AbortSignal
  clock?: Clock | undefined
  random?: (() => number) | undefined
  /** The longest wait; half a minute by default. */
  longestMs?: number | undefined
  /** Before each wait. */
  onWait?: ((error: Refused | Unreachable, waitMs: number) => void) | undefined
}

export interface Retrier {
  /**
   * Retries until it succeeds, waiting longer each time; rejects with errors that waiting does not
   * fix. One call at a time.
   */
  attempt<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result>
  /** Ends the current wait, if any. */
  hurry(): void
  /**
   * Also aborts the current attempt, for a connection that is probably dead, and starts the next one
   * at once.
   */
  restart(): void
}

/**
 * A browser reuses connections for later requests. Those that died while the network was lost swallow
 * requests silently, so the first requests get less time: each one aborted removes one such
 * connection.
 */
const afterRestartMs = [2_000, 3_000, 6_000]

function abort(attempt: AbortController): () => void {
  return () => attempt.abort()
}

/** From half a second to the longest wait, with full jitter, or as long as the server asks for. */
export function createRetrier({ signal, clock = systemClock, random = Math.random, longestMs = 30_000, onWait }: RetryOptions): Retrier {
  const backoff = createBackoff({ firstMs: 500, longestMs, random })
  let attempt = new AbortController()
  let wait = new AbortController()
  let hurried: readonly number[] = []
  signal.addEventListener('abort', () => {
    attempt.abort(signal.reason)
    wait.abort(signal.reason)
  })

  async function waitAfter(error: Refused | Unreachable): Promise<void> {
    const waitMs = Math.max(backoff.nextMs(), error.retryAfterMs ?? 0)
    wait = new AbortController()
    onWait?.(error, waitMs)
    await pause(waitMs, { signal: wait.signal, clock }).catch(() => {})
  }

  return {
    async attempt(work) {
      for (;;) {
        signal.throwIfAborted()
        attempt = new AbortController()
        const [limitMs, ...later] = hurried
        hurried = later
        const cancelLimit = limitMs === undefined ? () => {} : clock.after(limitMs, abort(attempt))
        try {
          const result = await work(attempt.signal)
          backoff.reset()
          hurried = []
          return result
        } catch (error) {
          signal.throwIfAborted()
          if (attempt.signal.aborted) continue
          if (!mayRetry(error)) throw error
          await waitAfter(error)
        } finally {
          cancelLimit()
        }
      }
    },
    hurry: () => wait.abort(),
    restart() {
      hurried = afterRestartMs
      attempt.abort()
      wait.abort()
    }
  }
}
