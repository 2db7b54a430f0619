/**
 * Runs in the page. Reports press targets smaller than a finger needs, one per line. The target is the area that reacts to a press, including
 * `::before` and `::after`, and the label of a field. As in WCAG 2.5.8, a link in a sentence may be as high as its line. The
 * number of a code line can be pressed anywhere on its line, which is wide but close to the next: 24 px are enough there.
 */
export function lookForSmall(): string[] {
  const least = 44
  const small: string[] = []
  const pressed = 'button, a[href], input, textarea, select, summary, [role="button"], [role="option"], [role="menuitem"], [role="tab"]'
  const name = (element: Element) => {
    const said = element.getAttribute('aria-label') ?? element.textContent ?? ''
    return `${element.tagName.toLowerCase()}.${element.className} in .${element.parentElement?.className} “${said.trim().slice(0, 30)}”`
  }
  const isHidden = (element: Element) =>
    element.closest('[inert], [hidden], .vh, .skip, .folded, [aria-hidden="true"]') !== null ||
    !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  const isInSentence = (element: Element) => {
    if (!element.matches('a[href]') || !getComputedStyle(element).display.startsWith('inline')) return false
    const around = element.closest('p, li, td, dd, small, h1, h2, h3, h4, blockquote')
    return around !== null && (around.textContent ?? '').trim().length > (element.textContent ?? '').trim().length
  }
  const covers = document.querySelector('dialog[open], .sheet')
  for (const element of document.querySelectorAll<HTMLElement>(pressed)) {
    if (isHidden(element) || (covers && !covers.contains(element)) || isInSentence(element)) continue
    if (element.matches('input[type="file"], :disabled')) continue
    const larger = element.closest('label, .wl:has(> button.ln)') ?? element
    const enough = larger.matches('.wl') ? 24 : least
    const boxes = [element, larger].map(each => each.getBoundingClientRect())
    const [own] = boxes as [DOMRect]
    if (own.width === 0 || own.height === 0) continue
    let left = Math.min(...boxes.map(box => box.left))
    let right = Math.max(...boxes.map(box => box.right))
    let top = Math.min(...boxes.map(box => box.top))
    let bottom = Math.max(...boxes.map(box => box.bottom))
    for (const pseudo of ['::before', '::after']) {
      const style = getComputedStyle(element, pseudo)
      if (style.content === 'none' || style.position !== 'absolute' || style.pointerEvents === 'none') continue
      const offset = (side: 'left' | 'right' | 'top' | 'bottom') => Number.parseFloat(style[side]) || 0
      const holder = element.offsetParent === null || getComputedStyle(element).position !== 'static' ? element : element.offsetParent
      const around = holder.getBoundingClientRect()
      left = Math.min(left, around.left + offset('left'))
      right = Math.max(right, around.right - offset('right'))
      top = Math.min(top, around.top + offset('top'))
      bottom = Math.max(bottom, around.bottom - offset('bottom'))
    }
    const [width, height] = [Math.round(right - left), Math.round(bottom - top)]
    if (width < enough || height < enough) small.push(`${name(element)} is ${width} by ${height}`)
  }
  return [...new Set(small)]
}
