export interface VisibleSpan {
  readonly text: string
  /** True when `text` stands for a character that would not be seen, or would change how others are read. */
  readonly isEscape: boolean
}

/**
 * A text that a person decides on, with every character that could hide or reorder something written out: controls, bidirectional
 * marks, zero-width and other invisible characters, spaces that are not spaces. Line ends and tabs stay.
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

/** The same as one text, where nothing can be marked. */
export function visible(text: string): string {
  return makeVisible(text)
    .map(span => span.text)
    .join('')
}

export function hasHidden(text: string): boolean {
  return text.search(hidden) >= 0
}

// Categories Cc, Cf (bidi marks, zero width, tags), Zl, Zp, and spaces other than the plain one; lone surrogates; blank-looking letters;
// variation selectors. Tab and line feed are what they seem. A carriage return is not: it overwrites a line in a terminal.
const hidden =
  /(?![\t\n ])(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Cs}\p{Co}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{3164}\u{ffa0}\u{2800}]|\p{Variation_Selector}|\u{34f})/gu
