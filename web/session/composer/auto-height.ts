import { useLayoutEffect, useState } from 'preact/hooks'

const mostRows = 8

/** As high as its text, up to eight lines; returns that limit. For browsers without `field-sizing`. */
export function useAutoHeight(area: { current: HTMLTextAreaElement | null }, text: string, isShown: boolean): number {
  const [lines, setLines] = useState(1)
  useLayoutEffect(() => {
    const element = area.current
    if (element === null || !isShown) return
    const sizesItself = CSS.supports('field-sizing', 'content')
    if (!sizesItself) element.rows = 1
    const line = Number.parseFloat(getComputedStyle(element).lineHeight)
    const now = Math.max(1, Math.round((element.scrollHeight - 14) / line))
    if (!sizesItself) element.rows = Math.min(mostRows, now)
    // In full-screen mode the screen is the limit.
    if (element.closest('.whole') === null) setLines(now)
  }, [text, isShown])
  return lines
}
