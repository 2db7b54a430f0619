import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import { CannotStart } from '../../exit.ts'
import { folded, widthOf } from './style.ts'

/** The parts of the screen that the wrapper uses. */
export interface Terminal {
  /** Whether lines can be drawn over. */
  readonly isTTY: boolean
  /** Infinity without a screen: a file or another program gets each sentence on one line. */
  readonly columns: number
  readonly rows: number
  write(text: string): void
  onResize(listener: () => void): () => void
  /** The line that a person types; undefined if there is no one to answer. Rejects with CannotStart on Ctrl-C or Ctrl-D. */
  ask(question: string): Promise<string | undefined>
}

/** Sentences for a person, wrapped between words. */
export function tell(terminal: Pick<Terminal, 'columns' | 'write'>, sentences: string): void {
  terminal.write(`${folded(sentences, terminal.columns)}\n`)
}

/** The same on standard error, where a program may read standard output. */
export function note(sentences: string): void {
  tell(processTerminal(process.stderr), sentences)
}

const roomToAnswer = 2
// The exit code that a shell uses after Ctrl-C.
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
      // Rarely used, so not loaded before every agent.
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
 * A few lines at the bottom that are redrawn in place. Without a terminal each line is written once, when it is new.
 * `draw` returns the lines for a number of columns; none may be longer.
 */
interface Block {
  redraw(): void
  /** Clears the block so that others can write, until `resume`. */
  suspend(): void
  resume(): void
  /** The block stays as last drawn, and later output goes below it. */
  close(): void
}

export function openBlock(terminal: Terminal, draw: (columns: number) => string[]): Block {
  return terminal.isTTY ? liveBlock(terminal, draw) : plainBlock(terminal, draw)
}

const redrawEveryMs = 100
// A log shows only lasting facts.
const rewriteEveryMs = 500

function liveBlock(terminal: Terminal, draw: (columns: number) => string[]): Block {
  let drawn: string[] = []
  let shown = ''
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let isSuspended = false

  // A terminal that became narrower has wrapped lines drawn for more columns.
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

/** Lines that have scrolled away cannot be redrawn: on a low screen the blank lines are dropped first, then the uppermost lines. */
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
