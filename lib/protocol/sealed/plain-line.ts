/** One line without invisible characters or changes of direction. Emoji are preserved. */
export function plainLine(text: string): string {
  return text
    .replace(/[^\S\u{feff}]+/gu, ' ')
    .replace(unseen, '')
    .trim()
}

/** The first non-empty line of a markdown text, without the marks. */
export function firstLine(markdown: string): string {
  for (const whole of markdown.slice(0, mostLookedAt).split(/\r?\n/)) {
    const line = whole.slice(0, longestLine)
    const plain = isMarkAlone.test(line) ? '' : plainLine(withoutMarks(line))
    if (plain !== '') return plain
  }
  return ''
}

/** The title of a session until its agent finds one: the first prompt. Undefined for a bare command, such as `/compact`. */
export function titleOfPrompt(prompt: string): string | undefined {
  const line = firstLine(prompt)
  return line === '' || /^\/\S+$/.test(line) ? undefined : shortened(line, longestTitle)
}

/** Truncated after a word if one ends nearby, otherwise between letters, with an ellipsis. */
export function shortened(line: string, longest: number): string {
  const letters = [...letterBreaks.segment(line)].map(({ segment }) => segment)
  if (letters.length <= longest) return line
  const cut = letters.slice(0, longest - 1).join('')
  const wordEnd = letters[longest - 1] === ' ' ? cut.length : cut.lastIndexOf(' ')
  return `${(wordEnd > cut.length / 2 ? cut.slice(0, wordEnd) : cut).replace(/[\s,;:.]+$/, '')}…`
}

const longestTitle = 80
// Longer than any row; an agent may write a megabyte in one line.
const longestLine = 1000
const mostLookedAt = 20_000
const letterBreaks = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

// Joiners are part of letters and emoji. Tags are part of a few flags, and can hide whole sentences elsewhere.
const unseen =
  /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u{ad}\u{115f}\u{1160}\u{180e}\u{200b}\u{2060}-\u{2065}\u{206a}-\u{206f}\u{2800}\u{3164}\u{feff}\u{ffa0}\u{fff9}-\u{fffb}\u{e0000}-\u{e0fff}]|\u{34f}/gu

/** A fence of code, a rule, or the line below the head of a table. */
const isMarkAlone = /^\s*(?:`{3,}[^`]*|~{3,}.*|(?:[-*_]\s*){3,}|\|?[\s:|-]+\|[\s:|-]*)$/

function withoutMarks(line: string): string {
  return line
    .replace(/^(?:\s*(?:#{1,6}(?=\s)|>|[-*+](?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s)))+\s*/, '')
    .replace(/!?\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)/g, '$1')
    .replace(/(\*{1,3}|~~|`{1,3})(?=\S)(.*?\S)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}_])(_{1,3})(?=[^\s_])(.*?[^\s_])\1(?![\p{L}\p{N}_])/gu, '$2')
}
