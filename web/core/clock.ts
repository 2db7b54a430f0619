import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { connection } from './connection.ts'

const minuteNow = signal(Date.now())
const offNow = signal(0)

/** Now, in ms since 1970, renewed twice a minute while somebody may be looking: for ages in rows. */
export const now: ReadonlySignal<number> = minuteNow

/** How much the clock of this device is ahead of the server's, in ms; 0 as long as nobody would notice. */
export const clockOff: ReadonlySignal<number> = offNow

/** Now as the server has it: what others did at a time is held against this one. */
export function trueNow(): number {
  return Date.now() - offNow.peek()
}

const renew = () => {
  if (document.visibilityState !== 'visible') return
  minuteNow.value = trueNow()
  // Somebody may be setting it right.
  if (offNow.peek() !== 0) void checkClock()
}

export function startClock(): void {
  setInterval(renew, 30_000)
  document.addEventListener('visibilitychange', renew)
  effect(() => {
    if (connection.value.type === 'live') void checkClock()
  })
}

/** Asks the server what time it is. Without an answer everything stays as it was believed to be. */
export async function checkClock(): Promise<void> {
  const askedAt = performance.now()
  const answer = await fetch('/health', { method: 'HEAD' }).catch(() => undefined)
  const tookMs = performance.now() - askedAt
  const told = Date.parse(answer?.headers.get('date') ?? '')
  if (Number.isNaN(told) || tookMs > longestAskMs) return
  const off = Date.now() - tookMs / 2 - told
  const noticed = Math.abs(off) < noticedMs ? 0 : off
  if (Math.abs(noticed - offNow.peek()) < noticedMs && noticed !== 0) return
  offNow.value = noticed
  minuteNow.value = trueNow()
}

const noticedMs = 2 * 60_000
const longestAskMs = 10_000
