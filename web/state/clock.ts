import { type ReadonlySignal, signal } from '@preact/signals'

const minuteNow = signal(Date.now())

/** Now, in ms since 1970, renewed twice a minute while somebody may be looking: for ages in rows. */
export const now: ReadonlySignal<number> = minuteNow

const renew = () => {
  if (document.visibilityState === 'visible') minuteNow.value = Date.now()
}

export function startClock(): void {
  setInterval(renew, 30_000)
  document.addEventListener('visibilitychange', renew)
}
