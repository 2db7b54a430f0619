import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Clock } from '../../../async/clock.ts'
import { every, type Repeating } from '../../../async/every.ts'

const everyMs = 10_000

/**
 * Calls `onChange` when the content of small files has changed and is the same in two checks, however they
 * were replaced: tools that renew certificates change links, and write the two files one after the other.
 */
export function watchFiles(files: readonly string[], clock: Clock, onChange: () => void): Repeating {
  let known = contentOf(files)
  let lastSeen = known

  function look(): void {
    const seen = contentOf(files)
    if (seen !== undefined && seen === lastSeen && seen !== known) {
      known = seen
      onChange()
    }
    lastSeen = seen
  }

  return every(clock, everyMs, look, () => {})
}

/** A digest; undefined while a file cannot be read. */
function contentOf(files: readonly string[]): string | undefined {
  try {
    const digest = createHash('sha256')
    for (const file of files) digest.update(readFileSync(file)).update('\0')
    return digest.digest('hex')
  } catch {
    return undefined
  }
}
