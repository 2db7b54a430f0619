import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { type Row, readRow } from './rows.ts'

/** Where a reader stands: everything before the offset was told. */
export interface Cursor {
  file: string
  offset: number
}

/** Follows the file in which Claude Code writes down a conversation, line by line, each once. */
export interface Transcript {
  readonly cursor: Cursor | undefined
  /** Reads this file from now on, what the one before still holds first. */
  follow(cursor: Cursor): void
  /** Tells every whole line that is new. */
  read(): void
  close(): void
}

const lookEveryMs = 100
// A line is told once even when the file was copied: by the id of what it says.
const mostRemembered = 20_000

export function openTranscript(onRow: (row: Row, cursor: Cursor) => void): Transcript {
  let cursor: Cursor | undefined
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
    if (!cursor) return
    const { file, offset } = cursor
    const fresh = newBytes(file, offset)
    // A last line without its end is still being written.
    const end = fresh.lastIndexOf(0x0a) + 1
    if (end === 0) return
    cursor = { file, offset: offset + end }
    for (const line of fresh.subarray(0, end).toString().split('\n')) {
      for (const row of readRow(line)) if (isNew(row)) onRow(row, cursor)
    }
  }
  const timer = setInterval(read, lookEveryMs)
  return {
    get cursor() {
      return cursor
    },
    follow(next) {
      read()
      cursor = next
      read()
    },
    read,
    close: () => clearInterval(timer)
  }
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
