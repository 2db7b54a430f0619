import { stripVTControlCharacters } from 'node:util'

export interface Style {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  needs(text: string): string
  bad(text: string): string
}

/** Colours of the sixteen that every terminal has, so that they fit its theme; none if unwanted or not a terminal. */
export function styleFor(terminal: { isTTY: boolean }, env: Readonly<Record<string, string | undefined>>): Style {
  const hasColours = terminal.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const wrap = (on: number, off: number) => (text: string) => (hasColours ? `\x1b[${on}m${text}\x1b[${off}m` : text)
  return { bold: wrap(1, 22), dim: wrap(2, 22), good: wrap(32, 39), needs: wrap(33, 39), bad: wrap(31, 39) }
}

/** Text from an agent or a server as one line that cannot move the cursor or colour the screen. */
export function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
}

/** Truncates to a number of columns, after a word if one ends nearby, with an ellipsis for what is missing. The text must be plain. */
export function fit(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  const cut = upTo(text, columns - 1)
  const lastSpace = cut.lastIndexOf(' ')
  const isWordCut = lastSpace > 0 && text[cut.length] !== ' ' && cut.length - lastSpace <= longestLostWord
  return `${(isWordCut ? cut.slice(0, lastSpace) : cut).trimEnd()}…`
}

/** The same for a path, whose end says more than its beginning. */
export function fitPath(path: string, columns: number): string {
  const letters = [...path]
  if (widthOf(path) <= columns) return path
  while (letters.length > 0 && widthOf(letters.join('')) >= columns) letters.shift()
  return `…${letters.join('')}`
}

/** Wraps the text between words; only a word longer than a line is broken. The text must be plain. */
export function wrapped(text: string, columns: number): string[] {
  const lines = []
  let rest = text
  while (widthOf(rest) > columns) {
    const most = upTo(rest, columns) || ([...rest][0] ?? '')
    const lastSpace = rest[most.length] === ' ' ? most.length : most.lastIndexOf(' ')
    const [word = ''] = rest.slice(lastSpace + 1).split(' ', 1)
    const line = lastSpace > 0 && (most.length - lastSpace <= longestLostWord || widthOf(word) <= columns) ? rest.slice(0, lastSpace) : most
    lines.push(line.trimEnd())
    rest = rest.slice(line.length).trimStart()
  }
  return [...lines, rest]
}

// A longer one is a path or an address; showing a part of it is better than nothing.
const longestLostWord = 12

function upTo(text: string, columns: number): string {
  let cut = ''
  let width = 0
  for (const letter of text) {
    width += widthOf(letter)
    if (width > columns) break
    cut += letter
  }
  return cut
}

/** Wraps sentences between words, where the terminal would break within them. Indented lines are meant to be copied, and are not broken. */
export function folded(text: string, columns: number): string {
  return text
    .split('\n')
    .map(line => (line.startsWith(' ') ? line : foldedLine(line, columns)))
    .join('\n')
}

/** The same for an indented sentence. */
export function foldedIndented(text: string, columns: number): string {
  return folded(text, columns - aside.length).replace(/^/gm, aside)
}

const aside = '  '

function foldedLine(text: string, columns: number): string {
  let line = ''
  const lines = []
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(`${line} ${word}`) > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

/** Columns on screen: wide letters and pictures use two, joining marks none. */
export function widthOf(text: string): number {
  let width = 0
  for (const letter of text) width += isWide.test(letter) ? 2 : isMark.test(letter) ? 0 : 1
  return width
}

// The halves of a flag are narrow. The selector for picture style (U+FE0F) makes a sign wider if the terminal supports it.
const isWide =
  /(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const isMark = /(?!\ufe0f)[\p{Mn}\p{Me}]/u
