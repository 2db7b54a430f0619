import { renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type DecisionEntry, decisionEntry } from '../../protocol/sealed/rules.ts'
import { appendPrivateFile, makePrivateFolder, readPrivateFile } from '../home/private-files.ts'

/** What was decided on this computer, a line each, in `decisions.log` of the wrapper's home. Only its owner may read it. */
interface DecisionLog {
  add(entry: DecisionEntry): void
  /** The latest first. */
  read(): DecisionEntry[]
}

const mostBytes = 1024 * 1024
/** In characters, of what was asked. */
export const mostKept = 4000

/** Two files of at most `most` bytes: the full one takes the place of the older. */
export function openDecisionLog(home: string, most = mostBytes): DecisionLog {
  const path = join(home, 'decisions.log')
  const older = `${path}.1`
  return {
    add(entry) {
      makePrivateFolder(home)
      if (sizeOf(path) > most) renameSync(path, older)
      // The line end comes first, so that what follows a torn line is a line of its own.
      appendPrivateFile(path, `\n${JSON.stringify({ ...entry, what: entry.what.slice(0, mostKept) })}`)
    },
    read() {
      const lines = [older, path].flatMap(file => (readPrivateFile(file) ?? '').split('\n'))
      return lines.flatMap(readLine).reverse()
    }
  }
}

function readLine(line: string): DecisionEntry[] {
  try {
    const { data } = decisionEntry.safeParse(JSON.parse(line))
    return data ? [data] : []
  } catch {
    return []
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
