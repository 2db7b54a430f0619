import { useEffect, useRef } from 'preact/hooks'

/** Far enough that it does not happen while scrolling. */
const farPx = 72
const stillPx = 10

/** A horizontal swipe: against the reading direction goes on, along it goes back. Elements that scroll sideways keep their own swipes. */
export function useSwipeAcross<Element extends HTMLElement>(of: { onNext(): void; onBefore(): void }) {
  const area = useRef<Element>(null)
  const latest = useRef(of)
  latest.current = of
  useEffect(() => {
    const element = area.current
    if (element === null) return
    let from: { x: number; y: number; pointer: number } | undefined
    const begin = (event: PointerEvent) => {
      from =
        event.pointerType === 'mouse' || isTaken(event.target)
          ? undefined
          : { x: event.clientX, y: event.clientY, pointer: event.pointerId }
    }
    const end = (event: PointerEvent) => {
      if (from?.pointer !== event.pointerId) return
      const x = event.clientX - from.x
      const y = event.clientY - from.y
      from = undefined
      if (Math.abs(x) < farPx || Math.abs(x) < 2 * Math.abs(y)) return
      const isForward = getComputedStyle(element).direction === 'rtl' ? x > 0 : x < 0
      if (isForward) latest.current.onNext()
      else latest.current.onBefore()
    }
    const cancel = () => {
      from = undefined
    }
    element.addEventListener('pointerdown', begin)
    element.addEventListener('pointerup', end)
    element.addEventListener('pointercancel', cancel)
    return () => {
      element.removeEventListener('pointerdown', begin)
      element.removeEventListener('pointerup', end)
      element.removeEventListener('pointercancel', cancel)
    }
  }, [])
  return area
}

/**
 * Dragging the head of a sheet down far enough closes it. `isHeld` reports when it must stay.
 */
export function dragDown(sheet: HTMLElement, handle: HTMLElement, of: { isHeld(): boolean; close(): void }): void {
  let from: { y: number; pointer: number } | undefined
  const drawn = (event: PointerEvent) => Math.max(0, event.clientY - (from?.y ?? event.clientY))
  const show = (px: number) => {
    sheet.style.translate = px === 0 ? '' : `0 ${px}px`
  }
  handle.addEventListener('pointerdown', event => {
    const isButton = event.target instanceof Element && event.target.closest('button') !== null
    if (event.pointerType === 'mouse' || isButton || of.isHeld()) return
    from = { y: event.clientY, pointer: event.pointerId }
    handle.setPointerCapture(event.pointerId)
  })
  handle.addEventListener('pointermove', event => {
    if (from?.pointer === event.pointerId && drawn(event) > stillPx) show(drawn(event))
  })
  const end = (event: PointerEvent) => {
    if (from?.pointer !== event.pointerId) return
    const isFar = drawn(event) >= Math.min(farPx * 2, sheet.clientHeight / 3) && event.type === 'pointerup' && !of.isHeld()
    from = undefined
    show(0)
    if (isFar) of.close()
  }
  handle.addEventListener('pointerup', end)
  handle.addEventListener('pointercancel', end)
}

function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return true
  if (target.closest('button, input, textarea, select') !== null) return true
  for (let at: Element | null = target; at !== null; at = at.parentElement)
    if (at.scrollWidth > at.clientWidth + 1 && isScroller(at)) return true
  return false
}

function isScroller(element: Element): boolean {
  return ['auto', 'scroll'].includes(getComputedStyle(element).overflowX)
}
