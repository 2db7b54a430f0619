import { createInterface } from 'node:readline/promises'
import type { WriteStream } from 'node:tty'

/** The screen, as far as the wrapper uses it. */
export interface Terminal {
  readonly isTTY: boolean
  readonly columns: number
  write(text: string): void
  onResize(listener: () => void): () => void
  /** The line that a person answers; undefined when nobody can. */
  ask(question: string): Promise<string | undefined>
}

export function processTerminal(output: WriteStream = process.stdout): Terminal {
  return {
    get isTTY() {
      return output.isTTY === true
    },
    get columns() {
      return output.columns || 80
    },
    write: text => void output.write(text),
    onResize(listener) {
      output.on('resize', listener)
      return () => output.off('resize', listener)
    },
    async ask(question) {
      if (!output.isTTY || !process.stdin.isTTY) return undefined
      const lines = createInterface({ input: process.stdin, output })
      try {
        return await lines.question(question)
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
export interface Block {
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
  let height = 0
  let shown = ''
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let isSuspended = false

  const clear = () => (height > 0 ? `\x1b[${height}F\x1b[0J` : '')
  const paint = () => {
    clearTimeout(timer)
    timer = undefined
    if (isSuspended) return
    const lines = draw(terminal.columns)
    const text = lines.map(line => `${line}\n`).join('')
    if (text === shown) return
    terminal.write(clear() + text)
    height = lines.length
    shown = text
  }
  const stopListening = terminal.onResize(() => {
    // The terminal may have wrapped what was there, so its height is not known any more: what is above scrolls away.
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
      height = 0
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

function plainBlock(terminal: Terminal, draw: (columns: number) => string[]): Block {
  let shown = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const write = () => {
    clearTimeout(timer)
    timer = undefined
    const lines = draw(Number.POSITIVE_INFINITY).filter(line => line.trim() !== '')
    for (const line of lines) if (!shown.has(line)) terminal.write(`${line.trim()}\n`)
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
