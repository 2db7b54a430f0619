/** Vibration patterns, in ms on and off; unused if reduced motion is preferred or the device cannot vibrate. */
const patterns = { held: [10], sent: [20], failed: [30, 60, 30] } as const

export function feel(what: keyof typeof patterns): void {
  if (typeof navigator.vibrate !== 'function' || matchMedia('(prefers-reduced-motion: reduce)').matches) return
  navigator.vibrate([...patterns[what]])
}
