import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import { CannotStart } from '../../exit.ts'
import { folded, widthOf } from './style.ts'

/** The screen, as far as the wrapper uses it. */
export interface Terminal {
  /** Whether lines can be drawn over. */
  readonly isTTY: boolean
  /** Infinity where there is no screen: a file, or another program, has each sentence on one line. */
  readonly columns: number
  readonly rows: number
  write(text: string): void
  onResize(listener: () => void): () => void
  /** The line that a person answers; undefined when nobody can. Rejects with CannotStart when they press Ctrl-C or Ctrl-D instead. */
  ask(question: string): Promise<string | undefined>
}

/** Sentences for a person, broken between words. */
export function tell(terminal: Pick<Terminal, 'columns' | 'write'>, sentences: string): void {
  terminal.write(`${folded(sentences, terminal.columns)}\n`)
}

/** The same where a program may read the output: on the error output, as it is no part of what was asked for. */
export function note(sentences: string): void {
  tell(processTerminal(process.stderr), sentences)
}

const roomToAnswer = 2
// As a shell says of a program that Ctrl-C ended.
const interrupted = 130

export function processTerminal(output: WriteStream = process.stdout, { TERM } = process.env): Terminal {
  return {
    get isTTY() {
      return output.isTTY === true && TERM !== 'dumb'
    },
    get columns() {
      return output.isTTY ? output.columns || 80 : Number.POSITIVE_INFINITY
    },
    get rows() {
      return output.rows || 24
    },
    write: text => void output.write(text),
    onResize(listener) {
      output.on('resize', listener)
      return () => output.off('resize', listener)
    },
    async ask(question) {
      if (!output.isTTY || !process.stdin.isTTY) return undefined
      // Seldom asked, and loaded before every agent otherwise.
      const { createInterface } = await import('node:readline/promises')
      const lines = createInterface({ input: process.stdin, output })
      try {
        return await lines.question(folded(question, (output.columns || 80) - roomToAnswer))
      } catch (error) {
        if (!(error instanceof Error && error.name === 'AbortError')) throw error
        output.write('\n')
        throw new CannotStart('Nothing was done.', interrupted)
      } finally {
        lines.close()
      }
    }
  }
}

/**
 * A few lines at the bottom that are drawn over and over. Without a terminal they are written once each, when they are new.
 * `draw` gives the lines for a number of columns; none may be longer.
 */
interface Block {
  redraw(): void
  /** Leaves the screen to somebody else, at once, until `resume`. */
  suspend(): void
  resume(): void
  /** The block stays as it was last, and what is written next comes below. */
  close(): void
}

export function openBlock(terminal: Terminal, draw: (columns: number) => string[]): Block {
  return terminal.isTTY ? liveBlock(terminal, draw) : plainBlock(terminal, draw)
}

const redrawEveryMs = 100
// A log shows what lasts.
const rewriteEveryMs = 500

function liveBlock(terminal: Terminal, draw: (columns: number) => string[]): Block {
  let drawn: string[] = []
  let shown = ''
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let isSuspended = false

  // A terminal that became narrower has wrapped the lines that were drawn for more columns.
  const height = () => drawn.reduce((rows, line) => rows + rowsOf(line, terminal.columns), 0)
  const clear = () => (drawn.length > 0 ? `\x1b[${height()}F\x1b[0J` : '')
  const paint = () => {
    clearTimeout(timer)
    timer = undefined
    if (isSuspended) return
    const lines = asFits(draw(terminal.columns), terminal.rows)
    const text = lines.map(line => `${line}\n`).join('')
    if (text === shown) return
    terminal.write(clear() + text)
    drawn = lines
    shown = text
  }
  const stopListening = terminal.onResize(() => {
    shown = ''
    paint()
  })
  paint()
  return {
    redraw() {
      if (!isClosed) timer ??= setTimeout(paint, redrawEveryMs)
    },
    suspend() {
      terminal.write(clear())
      isSuspended = true
    },
    resume() {
      isSuspended = false
      drawn = []
      shown = ''
      paint()
    },
    close() {
      if (isClosed) return
      isClosed = true
      stopListening()
      paint()
    }
  }
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / columns))
}

/** What has scrolled away cannot be drawn over: on a low screen first the space between the lines goes, then the uppermost ones. */
function asFits(lines: string[], rows: number): string[] {
  if (lines.length < rows) return lines
  return lines.filter(line => line !== '').slice(-Math.max(1, rows - 1))
}

function plainBlock(terminal: Terminal, draw: (columns: number) => string[]): Block {
  let shown = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const write = () => {
    clearTimeout(timer)
    timer = undefined
    const lines = draw(Number.POSITIVE_INFINITY).filter(line => line.trim() !== '')
    for (const line of lines) if (!shown.has(line)) tell(terminal, line.trim())
    shown = new Set(lines)
  }
  write()
  return {
    redraw() {
      timer ??= setTimeout(write, rewriteEveryMs)
    },
    suspend() {},
    resume: write,
    close: write
  }
}
