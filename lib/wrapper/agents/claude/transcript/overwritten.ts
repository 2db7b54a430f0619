import { readFileSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { longestDiffSide } from './steps.ts'

/** What stood in the files that Claude Code writes as a whole, read before it does. */
export interface Overwritten {
  /** Undefined when there was nothing, when it cannot be shown, and for uses of other tools. */
  read(call: string, tool: string, input: Record<string, unknown>): string | undefined
}

const mostKept = 20

/** To be asked when a use is announced, before it is carried out: later it answers what it knew then. */
export function createOverwritten(): Overwritten {
  const known = new Map<string, string | undefined>()
  return {
    read(call, tool, input) {
      if (tool !== 'Write') return undefined
      if (!known.has(call)) known.set(call, textOf(input['file_path'], input['content']))
      const [oldest] = known.keys()
      if (known.size > mostKept && oldest !== undefined) known.delete(oldest)
      return known.get(call)
    }
  }
}

function textOf(path: unknown, content: unknown): string | undefined {
  if (typeof path !== 'string' || !isAbsolute(path)) return undefined
  try {
    const stats = statSync(path)
    if (!stats.isFile() || stats.size > longestDiffSide) return undefined
    const text = readFileSync(path, 'utf8')
    // The same: it was asked too late.
    return text === content || text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
