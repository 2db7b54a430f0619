/** What stands on a terminal, as far as it follows from what was written there. Knows what moves a cursor and what erases; a colour changes nothing. */
interface ScreenLines {
  write(bytes: Uint8Array): void
  /** From the top; what was never written to is empty. */
  readonly lines: readonly string[]
}

export function createScreenLines(rows: () => number): ScreenLines {
  return new Screen(rows)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they move the cursor
const pieces = /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[^[\]]|[\r\n\b]|[^\x00-\x1f\x7f]+/g
// Not whole yet: the rest comes with the next bytes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin it
const begun = /\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?)?$/
// Whatever is written, no line grows beyond this, and nothing that begins is kept longer.
const most = 1_000

class Screen implements ScreenLines {
  lines: string[] = []
  readonly #rows: () => number
  readonly #decoder = new TextDecoder()
  #rest = ''
  #row = 0
  #column = 0

  constructor(rows: () => number) {
    this.#rows = rows
  }

  write(bytes: Uint8Array): void {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true })
    const [rest = ''] = begun.exec(text) ?? []
    this.#rest = rest.length < most ? rest : ''
    for (const [piece, given = '', kind] of text.slice(0, text.length - rest.length).matchAll(pieces)) {
      if (kind !== undefined) this.#obey(kind, given.split(';').map(Number))
      else if (piece === '\n') this.#feed()
      else if (piece === '\r') this.#column = 0
      else if (piece === '\b') this.#goTo(this.#row, this.#column - 1)
      else if (!piece.startsWith('\x1b')) this.#put(piece)
    }
  }

  #obey(kind: string, [first = 0, second = 0]: readonly number[]): void {
    if (kind === 'K') this.#eraseLine(first)
    else if (kind === 'J') this.#eraseScreen(first)
    else this.#goTo(...this.#target(kind, first || 1, second || 1))
  }

  /** Where the cursor goes. */
  #target(kind: string, count: number, second: number): [row: number, column: number] {
    const here: [row: number, column: number] = [this.#row, this.#column]
    const [row, column] = here
    const targets: Readonly<Record<string, [row: number, column: number]>> = {
      A: [row - count, column],
      B: [row + count, column],
      C: [row, column + count],
      D: [row, column - count],
      E: [row + count, 0],
      F: [row - count, 0],
      G: [row, count - 1],
      d: [count - 1, column],
      H: [count - 1, second - 1],
      f: [count - 1, second - 1]
    }
    return targets[kind] ?? here
  }

  #goTo(row: number, column: number): void {
    this.#row = Math.max(0, Math.min(row, this.#rows() - 1))
    this.#column = Math.max(0, Math.min(column, most))
  }

  /** At the bottom all lines go up. */
  #feed(): void {
    if (this.#row < this.#rows() - 1) this.#row++
    else this.lines.shift()
  }

  #put(text: string): void {
    const now = [...(this.lines[this.#row] ?? '').padEnd(this.#column)]
    const put = [...text].slice(0, Math.max(0, most - this.#column))
    now.splice(this.#column, put.length, ...put)
    this.#set(now.join(''))
    this.#column += put.length
  }

  /** From the cursor on, up to it, or all. */
  #eraseScreen(which: number): void {
    if (which === 0 || which === 1) this.#eraseLine(which)
    if (which === 0) this.lines.length = Math.min(this.lines.length, this.#row + 1)
    else this.lines = which === 1 ? this.lines.map((line, row) => (row < this.#row ? '' : line)) : []
  }

  /** The same in its line. */
  #eraseLine(which: number): void {
    const now = [...(this.lines[this.#row] ?? '')]
    if (which === 0) this.#set(now.slice(0, this.#column).join(''))
    if (which === 1) this.#set(now.map((cell, at) => (at <= this.#column ? ' ' : cell)).join(''))
    if (which === 2) this.#set('')
  }

  #set(line: string): void {
    while (this.lines.length < this.#row) this.lines.push('')
    this.lines[this.#row] = line
  }
}
