import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { connection } from './connection.ts'

const minuteNow = signal(Date.now())
const offNow = signal(0)

/** The current time in ms since 1970, updated twice a minute while the app is visible: for ages in rows. */
export const now: ReadonlySignal<number> = minuteNow

/** How far this device's clock is ahead of the server's, in ms; 0 if the difference is negligible. */
export const clockOff: ReadonlySignal<number> = offNow

/** The current time by the server's clock, for comparison with times of others. */
export function trueNow(): number {
  return Date.now() - offNow.peek()
}

const renew = () => {
  if (document.visibilityState !== 'visible') return
  minuteNow.value = trueNow()
  // The person may be correcting the clock.
  if (offNow.peek() !== 0) void checkClock()
}

export function startClock(): void {
  setInterval(renew, 30_000)
  document.addEventListener('visibilitychange', renew)
  effect(() => {
    if (connection.value.type === 'live') void checkClock()
  })
}

/** Asks the server for the time. Without an answer the known offset stays. */
export async function checkClock(): Promise<void> {
  const askedAt = performance.now()
  const answer = await fetch('/health', { method: 'HEAD' }).catch(() => undefined)
  const tookMs = performance.now() - askedAt
  const serverTime = Date.parse(answer?.headers.get('date') ?? '')
  if (Number.isNaN(serverTime) || tookMs > longestAskMs) return
  const off = Date.now() - tookMs / 2 - serverTime
  const noticed = Math.abs(off) < noticedMs ? 0 : off
  if (Math.abs(noticed - offNow.peek()) < noticedMs && noticed !== 0) return
  offNow.value = noticed
  minuteNow.value = trueNow()
}

const noticedMs = 2 * 60_000
const longestAskMs = 10_000
