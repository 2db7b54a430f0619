import type { Clock } from './clock.ts'

/** Work that is repeated until it is closed. */
export interface Repeating {
  /** No further run starts. Resolves when the current one is over; never rejects. */
  close(): Promise<void>
}

/**
 * Runs `run` every `ms`, for the first time after one wait. If a run returns a promise, the next wait
 * starts when that settles, so that two never overlap. Errors of a run go to `onError`, and the next
 * run still happens.
 */
export function every(clock: Pick<Clock, 'after'>, ms: number, run: () => unknown, onError: (error: unknown) => void): Repeating {
  let isClosed = false
  let running: Promise<unknown> = Promise.resolve()
  let cancel = clock.after(ms, begin)

  function begin(): void {
    try {
      const result = run()
      if (result instanceof Promise) running = result.catch(onError).then(wait)
      else wait()
    } catch (error) {
      onError(error)
      wait()
    }
  }

  function wait(): void {
    if (!isClosed) cancel = clock.after(ms, begin)
  }

  return {
    async close() {
      isClosed = true
      cancel()
      await running
    }
  }
}
