/** Far enough that it does not happen while scrolling to the top. */
const farPx = 110

/**
 * Pull to refresh: a finger pulls down an element scrolled to its top, and releases it. `far` is called with whether releasing would trigger it. Returns a
 * function that unsubscribes.
 */
export function watchPulls(element: HTMLElement, of: { far(isFar: boolean): void; pulled(): void }): () => void {
  let from: { x: number; y: number } | undefined
  let isPulled = false
  const show = (next: boolean) => {
    isPulled = next
    of.far(next)
  }
  const end = () => {
    from = undefined
    show(false)
  }
  // Pointer events are canceled as soon as the browser scrolls; touch events continue to the end.
  const begin = ({ touches: [finger, second] }: TouchEvent) => {
    from = finger && !second && element.scrollTop <= 0 ? { x: finger.clientX, y: finger.clientY } : undefined
  }
  const move = ({ touches: [finger, second] }: TouchEvent) => {
    if (from === undefined || finger === undefined) return
    const x = Math.abs(finger.clientX - from.x)
    const y = finger.clientY - from.y
    if (second || element.scrollTop > 0 || (!isPulled && x > Math.abs(y))) return end()
    show(y >= farPx)
  }
  const letGo = () => {
    const isMeant = isPulled
    end()
    if (isMeant) of.pulled()
  }
  const passive = { passive: true }
  element.addEventListener('touchstart', begin, passive)
  element.addEventListener('touchmove', move, passive)
  element.addEventListener('touchend', letGo)
  element.addEventListener('touchcancel', end)
  return () => {
    element.removeEventListener('touchstart', begin)
    element.removeEventListener('touchmove', move)
    element.removeEventListener('touchend', letGo)
    element.removeEventListener('touchcancel', end)
  }
}
