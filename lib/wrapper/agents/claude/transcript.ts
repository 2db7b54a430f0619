import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { type Row, readRow } from './rows.ts'

/** Follows the file in which Claude Code writes down a conversation, line by line, each once. */
export interface Transcript {
  /** Reads this file from now on, what the one before still holds first. */
  follow(file: string): void
  /** Tells every whole line that is new. */
  read(): void
  close(): void
}

const lookEveryMs = 100
// A line is told once even when the file was copied: by the id of what it says.
const mostRemembered = 20_000

/**
 * Tells what was written since then, in milliseconds since 1970: a conversation that is gone on with has its past in the
 * same file, or copied into a new one.
 */
export function openTranscript(since: number, onRow: (row: Row) => void): Transcript {
  let reading: { file: string; offset: number } | undefined
  const seen = new Set<string>()

  const isNew = (row: Row) => {
    if (row.type !== 'block') return true
    const key = `${row.uuid} ${row.index}`
    if (seen.has(key)) return false
    seen.add(key)
    const [oldest] = seen
    if (seen.size > mostRemembered && oldest !== undefined) seen.delete(oldest)
    return true
  }
  const read = () => {
    if (!reading) return
    const { file, offset } = reading
    const fresh = newBytes(file, offset)
    // A last line without its end is still being written.
    const end = fresh.lastIndexOf(0x0a) + 1
    if (end === 0) return
    reading = { file, offset: offset + end }
    for (const line of fresh.subarray(0, end).toString().split('\n')) {
      for (const row of readRow(line, since)) if (isNew(row)) onRow(row)
    }
  }
  const timer = setInterval(read, lookEveryMs)
  return {
    follow(file) {
      if (reading?.file === file) return
      read()
      reading = { file, offset: 0 }
      read()
    },
    read,
    close: () => clearInterval(timer)
  }
}

function newBytes(file: string, offset: number): Buffer {
  const length = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) - offset
  if (length <= 0) return Buffer.alloc(0)
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, readSync(handle, bytes, 0, length, offset))
  } finally {
    closeSync(handle)
  }
}
