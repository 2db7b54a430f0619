const keptName = 'afield-watched-minutes'
/** For so long after the last touch somebody counts as looking. */
let watchedMs = 60_000 * (keptMinutes() ?? 1)
let touchedAt = 0
let tellAgain: (() => void) | undefined

/** As the person chose it for this device; it counts from the first moment of the next start. */
export function setWatchedMinutes(minutes: number): void {
  if (watchedMs === minutes * 60_000) return
  watchedMs = minutes * 60_000
  globalThis.localStorage?.setItem(keptName, String(minutes))
  tellAgain?.()
}

/** For how long the app will count as looked at, if nobody touches it again. */
export function watchedForMs(now = Date.now()): number {
  return Math.max(0, touchedAt + watchedMs - now)
}

/** Told of a touch, but not of each: the server knows for how long one counts. Whoever comes back to the app has touched it. Returned is what ends it. */
export function watchTouches(
  tell: () => void,
  { target = document, now = Date.now }: { target?: Document; now?: () => number } = {}
): () => void {
  const stopped = new AbortController()
  let toldAt = Number.NEGATIVE_INFINITY
  const touched = () => {
    if (target.visibilityState !== 'visible') return
    touchedAt = now()
    if (touchedAt - toldAt < watchedMs / 4) return
    toldAt = touchedAt
    tell()
  }
  const options = { signal: stopped.signal, capture: true, passive: true }
  for (const name of ['pointerdown', 'keydown', 'wheel', 'touchmove', 'visibilitychange']) target.addEventListener(name, touched, options)
  tellAgain = tell
  touched()
  return () => {
    stopped.abort()
    tellAgain = undefined
  }
}

function keptMinutes(): number | undefined {
  const kept = globalThis.localStorage?.getItem(keptName)
  return kept === null || kept === undefined || !(Number(kept) >= 0) ? undefined : Math.min(5, Number(kept))
}
