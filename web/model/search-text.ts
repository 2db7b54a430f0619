/** An indexed message: where, when, by whom. */
export interface Line {
  readonly seq: number
  readonly at: number
  readonly by: 'me' | 'agent'
  readonly text: string
}

export interface Hit extends Line {
  readonly session: string
}

/** The words of a query, normalized for comparison. */
export function wordsOf(query: string): string[] {
  return fold(query)
    .split(/\s+/)
    .filter(word => word !== '')
}

/** Whether a text contains every word, in any case and width. */
export function hasWords(text: string, words: readonly string[]): boolean {
  const folded = fold(text)
  return words.every(word => folded.includes(word))
}

/** The part of a text around its first match, split into matches and the rest. */
export function excerptOf(text: string, words: readonly string[]): { text: string; isMatch: boolean }[] {
  const plain = text.replaceAll(/\s+/g, ' ')
  const folded = fold(plain)
  // Folding may change lengths in rare scripts; then nothing is highlighted rather than the wrong letters.
  if (folded.length !== plain.length) return [{ text: plain.slice(0, before + after), isMatch: false }]
  const first = Math.min(...words.map(word => folded.indexOf(word)).filter(at => at >= 0), plain.length)
  const from = first <= before ? 0 : plain.indexOf(' ', first - before) + 1 || first - before
  const end = Math.min(plain.length, from + before + after)
  const parts: { text: string; isMatch: boolean }[] = []
  for (let at = from; at < end; ) {
    const [next, length] = nextMatch(folded, words, at)
    if (next > at) parts.push({ text: plain.slice(at, Math.min(next, end)), isMatch: false })
    if (next >= end) break
    parts.push({ text: plain.slice(next, next + length), isMatch: true })
    at = next + length
  }
  if (from > 0) parts.unshift({ text: '… ', isMatch: false })
  if (end < plain.length) parts.push({ text: '…', isMatch: false })
  return parts
}

function nextMatch(folded: string, words: readonly string[], from: number): [at: number, length: number] {
  const found = words.map(word => [folded.indexOf(word, from), word.length] as const).filter(([at]) => at >= 0)
  const [first = [folded.length, 0] as const] = found.sort((a, b) => a[0] - b[0] || b[1] - a[1])
  return [first[0], first[1]]
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

const before = 40
const after = 120
