/** The name that `word` is likely a typo of: at most two edits away, and not an entirely different one. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names.map(name => ({ name, slips: slipsBetween(word, name) })).toSorted((a, b) => a.slips - b.slips)
  return best && best.slips <= 2 && best.slips < word.length ? best.name : undefined
}

/** The number of letters inserted, omitted, changed, or swapped with the next one. */
function slipsBetween(from: string, to: string): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line]
    for (let at = 1; at <= to.length; at += 1) {
      const changed = least(row, at - 1) + (from[line - 1] === to[at - 1] ? 0 : 1)
      const isSwapped = line > 1 && at > 1 && from[line - 1] === to[at - 2] && from[line - 2] === to[at - 1]
      const swapped = isSwapped ? least(before, at - 2) + 1 : changed
      next.push(Math.min(changed, swapped, least(row, at) + 1, least(next, at - 1) + 1))
    }
    before = row
    row = next
  }
  return least(row, to.length)
}

function least(row: readonly number[], at: number): number {
  return row[at] ?? Number.POSITIVE_INFINITY
}
