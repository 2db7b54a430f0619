import { type Clock, systemClock } from './clock.ts'

/** Resolves after `ms`; rejects with the reason of `signal` as soon as that aborts, and leaves no timer. */
export function pause(
  ms: number,
  { signal, clock = systemClock }: { signal?: AbortSignal | undefined; clock?: Clock | undefined } = {}
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abandon = () => {
      cancelTimer()
      reject(signal?.reason)
    }
    const cancelTimer = clock.after(ms, () => {
      signal?.removeEventListener('abort', abandon)
      resolve()
    })
    signal?.addEventListener('abort', abandon, { once: true })
  })
}
