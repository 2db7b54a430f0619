import { closeSync, openSync, readSync } from 'node:fs'

/** A conversation stored by an agent. */
export interface History {
  agent: 'claude' | 'codex' | 'opencode'
  id: string
  /** When it was last written to, in milliseconds since 1970. */
  at: number
}

/** In a file of its own. */
export interface FiledHistory extends History {
  agent: 'claude' | 'codex'
  file: string
}

/** The agent reported its beginning. */
export interface ToldHistory extends History {
  agent: 'opencode'
  beginning: Beginning
}

/** The text of its beginning. */
export interface Beginning {
  title: string
  folder: string
}

/** One message in it. */
export interface Saying {
  by: 'person' | 'agent'
  text: string
}

const headBytes = 256 * 1024

/** The first lines of a file, as many as are cheap to read. */
export function headOf(file: string): string[] {
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(headBytes)
    const text = bytes.subarray(0, readSync(handle, bytes, 0, headBytes, 0)).toString()
    const lines = text.split('\n')
    return text.endsWith('\n') || lines.length === 1 ? lines : lines.slice(0, -1)
  } finally {
    closeSync(handle)
  }
}
