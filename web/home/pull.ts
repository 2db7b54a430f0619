/** Far enough that nobody does it while looking for the top. */
const farPx = 110

/**
 * A finger that draws down what stands at its top already, and lets go. `far` is told whether letting go would do it. Returned is what to
 * call to hear no more.
 */
export function hearPulls(element: HTMLElement, of: { far(isFar: boolean): void; pulled(): void }): () => void {
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
  // Pointers are taken away as soon as the browser scrolls; touches are told to their end.
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
