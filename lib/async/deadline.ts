import { type Clock, systemClock } from './clock.ts'

export class DeadlineExceeded extends Error {
  override name = 'DeadlineExceeded'
  readonly limitMs: number

  constructor(limitMs: number) {
    super(`not done within ${limitMs} ms`)
    this.limitMs = limitMs
  }
}

/** Whether `work` is done by then; leaves no timer. */
export async function isDoneWithin(limitMs: number, work: Promise<unknown>, clock: Clock = systemClock): Promise<boolean> {
  try {
    await withDeadline(limitMs, () => work, { clock })
    return true
  } catch (error) {
    if (error instanceof DeadlineExceeded) return false
    throw error
  }
}

/**
 * Settles like `work`, or rejects with DeadlineExceeded after `limitMs`, or with the reason of
 * `signal` if that aborts first. In both cases the signal passed to `work` is aborted with the same
 * reason; work that ignores it continues in the background, and its outcome is dropped.
 */
export async function withDeadline<T>(
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  { signal, clock = systemClock }: { signal?: AbortSignal | undefined; clock?: Clock | undefined } = {}
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const { promise: interrupted, reject } = Promise.withResolvers<never>()
  controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })

  const passOn = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', passOn, { once: true })
  const cancelTimer = clock.after(limitMs, () => controller.abort(new DeadlineExceeded(limitMs)))
  const attempt = async () => work(controller.signal)
  try {
    return await Promise.race([attempt(), interrupted])
  } finally {
    cancelTimer()
    signal?.removeEventListener('abort', passOn)
  }
}
