/** Markdown still being written, with unclosed marks at its end closed, so that no mark is visible that is about to become formatting. */
export function closed(text: string): string {
  if (isInFence(text)) return text
  const block = text.slice(lastBlockAt(text))
  const rest = block.replaceAll(/(`+)[^`]+\1/g, '').replace(/^[ \t]*\*[ \t]/, '')
  const ticks = /`+/.exec(rest)?.[0]
  if (ticks !== undefined) return block.endsWith(ticks) ? text.slice(0, -ticks.length) : `${text}${ticks}`
  const strong = rest.split('**')
  if (strong.length % 2 === 1) return text
  const begun = strong.at(-1) ?? ''
  if (begun === '') return text.slice(0, -2)
  if (/^\s/.test(begun)) return text
  return `${text.replace(/[*\s]+$/, '')}**`
}

/** Where the last paragraph or item begins. */
function lastBlockAt(text: string): number {
  let end = text.length
  while (end > 0) {
    const begin = text.lastIndexOf('\n', end - 1) + 1
    const line = text.slice(begin, end)
    if (line.trim() === '') return end
    if (/^[ \t]*(?:[-+>#|]|\*[ \t]|\d+[.)][ \t])/.test(line)) return begin
    end = begin - 1
  }
  return 0
}

function isInFence(text: string): boolean {
  let open: string | undefined
  for (const [, marks = ''] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) {
    if (open === undefined) open = marks
    else if (marks.startsWith(open)) open = undefined
  }
  return open !== undefined
}
