import type { RetryReason } from '../../../../protocol/sealed/session.ts'
import * as v from '../../../../schema.ts'
import { type Console, withWrite } from '../../../terminal/console.ts'
import type { AgentEvent } from '../../agent.ts'

type Retrying = Extract<AgentEvent, { type: 'retrying' }>

/**
 * The adapter is asked to pass on Claude Code's raw events: only the end of a stream says that its text is
 * void.
 */
export const handedOn = { claudeCode: { emitRawSDKMessages: [{ type: 'system', subtype: 'api_retry' }, { type: 'stream_event' }] } }

const frame = v.object({
  message: v.object({
    type: v.literal('system'),
    subtype: v.literal('api_retry'),
    attempt: v.number(),
    max_retries: v.number(),
    retry_delay_ms: v.number(),
    error_status: v.fallback(v.nullish(v.number()), undefined)
  })
})

const abandoned = v.object({
  message: v.object({ type: v.literal('stream_event'), parent_tool_use_id: v.null(), abandoned_blocks: v.looseObject({}) })
})

/** As passed on by the adapter. */
export function readRetry(method: string, params: unknown): Retrying | undefined {
  if (method !== '_claude/sdkMessage') return undefined
  // The stream broke off, and the model is asked again without streaming.
  if (v.safeParse(abandoned, params).success) return { type: 'retrying', inMs: 0, why: 'other' }
  const { data } = v.safeParse(frame, params)
  if (!data) return undefined
  const { attempt, max_retries: of, retry_delay_ms: inMs, error_status: status } = data.message
  return { type: 'retrying', attempt, of, inMs, why: reasonOf(status) }
}

/** At its own terminal only its screen shows it. Passes on what is written to the console. */
export function watchForRetries(console: Console, onRetry: (retrying: Retrying) => void): Console {
  const screen = createScreenLines(() => console.rows)
  let last: Retrying | undefined
  return withWrite(console, bytes => {
    console.write(bytes)
    screen.write(Buffer.from(bytes))
    const now = screen.lines.map(retryIn).findLast(said => said !== undefined)
    // Its seconds are counted down there, and in every report.
    if (now && (now.attempt !== last?.attempt || now.why !== last?.why)) onRetry(now)
    last = now
  })
}

const line = /^(.*)retrying in (\d+)s · attempt (\d+)\/(\d+)/

function retryIn(text: string): Retrying | undefined {
  const [, why = '', seconds, attempt, of] = line.exec(text) ?? []
  if (attempt === undefined) return undefined
  return { type: 'retrying', attempt: Number(attempt), of: Number(of), inMs: Number(seconds) * 1_000, why: reasonIn(why) }
}

/** For the first attempts it gives no reason. */
function reasonIn(words: string): RetryReason {
  if (/\b529\b|overloaded/i.test(words)) return 'overloaded'
  return /\b429\b|rate limit/i.test(words) ? 'limit' : 'other'
}

/** Without a status there was no answer. */
function reasonOf(status: number | null | undefined): RetryReason {
  if (status === 529) return 'overloaded'
  if (status === 429) return 'limit'
  if (status === 401 || status === 403) return 'sign-in'
  return status == null ? 'unreachable' : 'other'
}

/**
 * The content of a terminal, as far as it follows from its output. Handles cursor movement and erasing;
 * colours are ignored.
 */
interface ScreenLines {
  write(bytes: Uint8Array): void
  /** From the top; lines never written are empty. */
  readonly lines: readonly string[]
}

function createScreenLines(rows: () => number): ScreenLines {
  return new Screen(rows)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they move the cursor
const pieces = /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[^[\]]|[\r\n\b]|[^\x00-\x1f\x7f]+/g
// Not whole yet: the rest comes with the next bytes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin it
const begun = /\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?)?$/
// Whatever is written, no line grows beyond this, and no incomplete sequence is kept longer.
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
      if (kind !== undefined) this.#applyControl(kind, given.split(';').map(Number))
      else if (piece === '\n') this.#feed()
      else if (piece === '\r') this.#column = 0
      else if (piece === '\b') this.#goTo(this.#row, this.#column - 1)
      else if (!piece.startsWith('\x1b')) this.#put(piece)
    }
  }

  #applyControl(kind: string, [first = 0, second = 0]: readonly number[]): void {
    if (kind === 'K') this.#eraseLine(first)
    else if (kind === 'J') this.#eraseScreen(first)
    else this.#goTo(...this.#target(kind, first || 1, second || 1))
  }

  /** Moves the cursor. */
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

  /** At the bottom all lines scroll up. */
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

  /** The same within its line. */
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
