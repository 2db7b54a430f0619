import { useLayoutEffect, useState } from 'preact/hooks'

const mostRows = 8

/** As high as its text, up to eight lines; returned is how many those are. `field-sizing` does it where the browser knows it; this is for the others. */
export function useGrowing(area: { current: HTMLTextAreaElement | null }, text: string, isShown: boolean): number {
  const [lines, setLines] = useState(1)
  useLayoutEffect(() => {
    const element = area.current
    if (element === null || !isShown) return
    const sizesItself = CSS.supports('field-sizing', 'content')
    if (!sizesItself) element.rows = 1
    const line = Number.parseFloat(getComputedStyle(element).lineHeight)
    const now = Math.max(1, Math.round((element.scrollHeight - 14) / line))
    if (!sizesItself) element.rows = Math.min(mostRows, now)
    // On the whole screen it is as high as that.
    if (element.closest('.whole') === null) setLines(now)
  }, [text, isShown])
  return lines
}
