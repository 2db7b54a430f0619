import { closeSync, existsSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../../../../async/pause.ts'
import type { HistoryPosition } from '../../agent.ts'
import { type Row, readRow } from './rows.ts'

/** Follows the file in which Claude Code records a conversation, line by line, each once. */
export interface Transcript {
  /**
   * Reads this file from now on, after the rest of the previous one. Everything before `offset` is past;
   * without one, everything older than this reader: a conversation switched to has its past in its file, or
   * copied into a new one.
   */
  follow(file: string, offset?: number): void
  /** Sends every complete new line. */
  read(): void
  /** Repeats that until it is so, or the time is over. */
  readUntil(isSo: () => boolean, withinMs: number): Promise<void>
  close(): void
}

interface TranscriptReader {
  onRow(row: Row): void
  /** Every line before this position was sent. */
  onRead(upTo: HistoryPosition): void
  clock?: Readonly<{ now(): number; elapsedMs(): number }>
}

const systemClock = { now: () => Date.now(), elapsedMs: () => performance.now() }

const lookEveryMs = 100
// Someone waits for it.
const lookAgainMs = 50
// A line is sent once even if the file was copied: by the id of its content.
const mostRemembered = 20_000

export function openTranscript({ onRow, onRead, clock = systemClock }: TranscriptReader): Transcript {
  let reading: HistoryPosition | undefined
  let isPastInFile = false
  const opened = clock.elapsedMs()
  let since = clock.now()
  const seen = new Set<string>()

  const isNew = (row: Row) => {
    if (row.type !== 'block' && row.type !== 'command') return true
    const key = `${row.uuid} ${row.index}`
    if (seen.has(key)) return false
    seen.add(key)
    const [oldest] = seen
    if (seen.size > mostRemembered && oldest !== undefined) seen.delete(oldest)
    return true
  }
  const read = () => {
    if (!reading) return
    const { lines, next } = newLines(reading)
    if (next.offset === reading.offset) return
    reading = next
    // By the current clock it began earlier, if that was set back.
    since = Math.min(since, clock.now() - (clock.elapsedMs() - opened))
    for (const line of lines) for (const row of readRow(line, isPastInFile ? since : 0)) if (isNew(row)) onRow(row)
    onRead(next)
  }
  const timer = setInterval(read, lookEveryMs)
  return {
    follow(file, offset) {
      if (reading?.file === file) return
      read()
      reading = { file, offset: offset ?? 0 }
      isPastInFile = offset === undefined
      onRead(reading)
      read()
    },
    read,
    async readUntil(isSo, withinMs) {
      const latest = performance.now() + withinMs
      read()
      while (!isSo() && performance.now() < latest) {
        await pause(lookAgainMs)
        read()
      }
    },
    close: () => clearInterval(timer)
  }
}

/** The complete lines from a position on; a last one without its end is still being written. */
export function newLines({ file, offset }: HistoryPosition): { lines: string[]; next: HistoryPosition } {
  const fresh = newBytes(file, offset)
  const end = fresh.lastIndexOf(0x0a) + 1
  const lines =
    end === 0
      ? []
      : fresh
          .subarray(0, end - 1)
          .toString()
          .split('\n')
  return { lines, next: { file, offset: offset + end } }
}

/** Where Claude Code records a conversation, now or later; its hooks name the file too, but later. */
export function transcriptFile(env: Readonly<Record<string, string>>, directory: string, conversation: string): string {
  return join(configFolder(env), 'projects', directory.replace(/[^a-zA-Z0-9]/g, '-'), `${conversation}.jsonl`)
}

/** How far it has recorded a conversation; undefined if its folder, which determines the file name, is gone. */
export function endOfTranscript(
  env: Readonly<Record<string, string>>,
  directory: string,
  conversation: string
): HistoryPosition | undefined {
  if (!existsSync(directory)) return undefined
  const file = transcriptFile(env, realpathSync(directory), conversation)
  return { file, offset: sizeOf(file) }
}

/** Without one it cannot be resumed: a conversation without messages was never recorded. */
export function hasTranscript(env: Readonly<Record<string, string>>, conversation: string): boolean {
  const projects = join(configFolder(env), 'projects')
  return existsSync(projects) && readdirSync(projects).some(folder => existsSync(join(projects, folder, `${conversation}.jsonl`)))
}

/** Where Claude Code stores its data. */
export function configFolder(env: Readonly<Record<string, string>>): string {
  return env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? env['USERPROFILE'] ?? '', '.claude')
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function newBytes(file: string, offset: number): Buffer {
  const length = sizeOf(file) - offset
  if (length <= 0) return Buffer.alloc(0)
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, readSync(handle, bytes, 0, length, offset))
  } finally {
    closeSync(handle)
  }
}
