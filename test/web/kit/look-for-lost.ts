/** Runs in the page. Reports what someone with large text on a narrow screen could not read or reach, one per line. */
export function lookForLost(): string[] {
  const lost: string[] = []
  const root = document.documentElement
  if (root.scrollWidth > innerWidth) lost.push(`the page is ${root.scrollWidth} px wide`)
  const isHidden = (element: Element) =>
    element.closest('[inert], [hidden], .vh, .skip, .folded, [aria-hidden="true"]') !== null ||
    !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  // Content that scrolls sideways is reachable, and an ellipsis shows that there is more.
  const scrollsSideways = (element: Element) => {
    for (let at: Element | null = element; at; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth && !at.matches('.scroll, .screen'))
        return true
    return false
  }
  const endsInDots = (element: Element) => {
    for (let at: Element | null = element; at; at = at.parentElement) if (getComputedStyle(at).textOverflow === 'ellipsis') return true
    return false
  }
  const name = (element: Element) =>
    `${element.tagName.toLowerCase()}.${element.className} “${(element.textContent ?? '').trim().slice(0, 40)}”`
  const covers = document.querySelector('dialog[open], .sheet')
  for (const element of document.querySelectorAll('main *, .sheet *, nav *')) {
    if (isHidden(element) || scrollsSideways(element)) continue
    const { left, right, width, height } = element.getBoundingClientRect()
    if (width === 0 || height === 0) continue
    const style = getComputedStyle(element)
    if (endsInDots(element)) continue
    if (right > innerWidth + 1 || left < -1)
      lost.push(`${name(element)} leaves the screen sideways, ${Math.round(left)} to ${Math.round(right)}`)
    for (const text of [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE)) {
      const range = document.createRange()
      range.selectNodeContents(text)
      if (range.getBoundingClientRect().right > innerWidth + 1) lost.push(`the text of ${name(element)} leaves the screen sideways`)
    }
    const ownText = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent?.trim())
    const isCut = style.overflowX !== 'visible' && style.textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1
    const isShort = style.overflowY === 'hidden' && element.scrollHeight > element.clientHeight * 1.3 && style.webkitLineClamp === 'none'
    if (ownText && (isCut || isShort)) lost.push(`${name(element)} is cut off`)
  }
  for (const element of document.querySelectorAll<HTMLElement>('button, a[href], input, textarea, summary')) {
    if (isHidden(element) || (covers && !covers.contains(element)) || scrollsSideways(element)) continue
    element.scrollIntoView({ block: 'center' })
    const { left, top, width, height } = element.getBoundingClientRect()
    if (width === 0 || height === 0) continue
    const hit = document.elementFromPoint(left + width / 2, top + height / 2)
    const isThere =
      hit !== null &&
      (element.contains(hit) ||
        // These disappear automatically, or on a tap.
        hit.closest('.to-end, .alert-bar') !== null ||
        hit.contains(element) ||
        element.closest('label')?.contains(hit) === true)
    if (!isThere) lost.push(`${name(element)} cannot be reached${hit ? `, ${name(hit)} is above it` : ''}`)
  }
  return lost
}
