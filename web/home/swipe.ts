import { useEffect, useRef } from 'preact/hooks'

/** Far enough that it does not happen while scrolling. */
const farPx = 96
const holdMs = 500
const clickWithinMs = 400
const stillPx = 8

interface Gestures {
  readonly isOff: boolean
  onStart(): void
  onEnd(): void
  onHold(): void
}

/**
 * A row under a finger: a swipe to the start of the line does one thing, to the end another, and holding selects it. Mouse users have
 * the menu of the row.
 */
export function useSwipe(of: Gestures) {
  const row = useRef<HTMLLIElement>(null)
  const latest = useRef(of)
  latest.current = of
  useEffect(() => (row.current === null ? undefined : watchSwipes(row.current, latest)), [])
  return row
}

/** Calls what `of` holds at that time. Returns a function that unsubscribes. */
export function watchSwipes(element: HTMLElement, of: { readonly current: Gestures }): () => void {
  let from: { x: number; y: number; pointer: number } | undefined
  let moved = 0
  let holding: ReturnType<typeof setTimeout> | undefined
  let hasActed = false
  let endedAt = 0
  const forward = () => (getComputedStyle(element).direction === 'rtl' ? -1 : 1)
  const show = (px: number) => {
    moved = px
    element.style.setProperty('--drawn', `${px}px`)
    element.dataset['drawn'] = px === 0 ? '' : px * forward() < 0 ? 'start' : 'end'
  }
  const begin = (event: PointerEvent) => {
    // The click of the previous press would have come by now.
    hasActed = false
    clearTimeout(holding)
    holding = undefined
    // Two fingers neither hold nor swipe.
    if (!event.isPrimary) {
      from = undefined
      return show(0)
    }
    const isOnMenu = event.target instanceof Element && event.target.closest('.row-menu') !== null
    if (event.pointerType === 'mouse' || of.current.isOff || isOnMenu) return
    from = { x: event.clientX, y: event.clientY, pointer: event.pointerId }
    holding = setTimeout(() => {
      hasActed = true
      from = undefined
      of.current.onHold()
    }, holdMs)
  }
  const move = (event: PointerEvent) => {
    if (from?.pointer !== event.pointerId) return
    const x = event.clientX - from.x
    const y = event.clientY - from.y
    if (Math.hypot(x, y) > stillPx) clearTimeout(holding)
    if (moved === 0 && Math.abs(y) >= Math.abs(x)) return
    if (Math.abs(x) > stillPx) show(Math.sign(x) * Math.min(farPx * 1.3, Math.abs(x)))
  }
  const end = (event: PointerEvent) => {
    clearTimeout(holding)
    endedAt = event.timeStamp
    if (from?.pointer !== event.pointerId) return
    const isFar = Math.abs(moved) >= farPx && event.type === 'pointerup'
    hasActed ||= moved !== 0
    const towards = moved * forward()
    from = undefined
    show(0)
    if (isFar) towards < 0 ? of.current.onStart() : of.current.onEnd()
  }
  // A swipe or hold does not also open the row. A press may end without a click, and the next one, for example of a key, is another.
  const click = (event: Event) => {
    if (!hasActed) return
    hasActed = false
    if (event.timeStamp - endedAt > clickWithinMs) return
    event.preventDefault()
    event.stopPropagation()
  }
  const noMenu = (event: Event) => {
    if (hasActed || holding !== undefined) event.preventDefault()
    holding = undefined
  }
  element.addEventListener('pointerdown', begin)
  element.addEventListener('pointermove', move)
  element.addEventListener('pointerup', end)
  element.addEventListener('pointercancel', end)
  element.addEventListener('click', click, true)
  element.addEventListener('contextmenu', noMenu)
  return () => {
    clearTimeout(holding)
    element.removeEventListener('pointerdown', begin)
    element.removeEventListener('pointermove', move)
    element.removeEventListener('pointerup', end)
    element.removeEventListener('pointercancel', end)
    element.removeEventListener('click', click, true)
    element.removeEventListener('contextmenu', noMenu)
  }
}
