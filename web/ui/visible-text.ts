import { hidden } from '../../lib/protocol/sealed/decisions/hidden-characters.ts'

interface VisibleSpan {
  readonly text: string
  /** True if `text` stands for a character that would be invisible, or would change how others are read. */
  readonly isEscape: boolean
}

/**
 * A text that a person decides on, with every character escaped that could hide or reorder something: control characters, bidirectional
 * marks, zero-width and other invisible characters, unusual spaces. Line breaks and tabs stay.
 */
export function makeVisible(text: string): VisibleSpan[] {
  const spans: VisibleSpan[] = []
  let plain = 0
  for (const match of text.matchAll(hidden)) {
    if (match.index > plain) spans.push({ text: text.slice(plain, match.index), isEscape: false })
    const code = match[0].codePointAt(0) ?? 0
    spans.push({ text: `\\u{${code.toString(16)}}`, isEscape: true })
    plain = match.index + match[0].length
  }
  if (plain < text.length) spans.push({ text: text.slice(plain), isEscape: false })
  return spans
}

/** The same as a plain string, where nothing can be marked. */
export function visible(text: string): string {
  return makeVisible(text)
    .map(span => span.text)
    .join('')
}

/**
 * For prose, where an invisible character may belong to a script or an emoji: escapes only what changes the order in which the
 * rest is read.
 */
export function withVisibleBidi(text: string): string {
  return text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, mark => `\\u{${mark.charCodeAt(0).toString(16)}}`)
}
