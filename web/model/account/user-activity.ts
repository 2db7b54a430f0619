const keptName = 'afield-watched-minutes'
/** How long the app counts as in use after the last touch. */
let watchedMs = 60_000 * (keptMinutes() ?? 1)
let touchedAt = 0
let tellAgain: (() => void) | undefined

/** As set for this device; stored, so that it applies from the next start on. */
export function setWatchedMinutes(minutes: number): void {
  if (watchedMs === minutes * 60_000) return
  watchedMs = minutes * 60_000
  globalThis.localStorage?.setItem(keptName, String(minutes))
  tellAgain?.()
}

/** For how long the app will count as in use without another touch. */
export function watchedForMs(now = Date.now()): number {
  return Math.max(0, touchedAt + watchedMs - now)
}

/** Called for some touches: the server knows how long one counts. Coming back to the app counts as a touch. Returns a function that stops it. */
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
