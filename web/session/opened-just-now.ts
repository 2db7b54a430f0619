import type { RefObject } from 'preact'
import { useCallback, useEffect, useRef } from 'preact/hooks'

/** Long enough for what is drawn in the worker. */
const openedWithinMs = 3_000

/** Tells whether somebody has pressed something in there just now: what grows then was opened, and is read from its beginning. */
export function useOpenedJustNow(inside: RefObject<HTMLElement | null>): () => boolean {
  const pressedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const element = inside.current
    const pressed = ({ target }: Event) => {
      if (target instanceof Element && target.closest('button, summary')) pressedAt.current = performance.now()
    }
    element?.addEventListener('click', pressed, true)
    return () => element?.removeEventListener('click', pressed, true)
  }, [])
  return useCallback(() => performance.now() - pressedAt.current < openedWithinMs, [])
}
