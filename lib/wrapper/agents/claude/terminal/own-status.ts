import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { configFolder } from '../transcript/transcript.ts'

/** What Claude Code says of itself beside its conversation. */
export interface OwnStatus {
  /** `waiting`: a dialog is open, also one that no hook tells of. Undefined when it does not say. */
  readonly now: 'idle' | 'busy' | 'waiting' | undefined
  /** What it writes to its terminal; of a version that keeps no status file its title says whether it works. */
  see(output: string): void
}

export function readOwnStatus(env: Readonly<Record<string, string>>, pid: number): OwnStatus {
  const file = join(configFolder(env), 'sessions', `${pid}.json`)
  let titled: 'idle' | 'busy' | undefined
  return {
    get now() {
      return inFile(file) ?? titled
    },
    see(output) {
      titled = inTitle(output) ?? titled
    }
  }
}

const statusFile = z.looseObject({ status: z.enum(['idle', 'busy', 'waiting']) })

function inFile(file: string): OwnStatus['now'] {
  try {
    return statusFile.parse(JSON.parse(readFileSync(file, 'utf8'))).status
  } catch {
    return undefined
  }
}

// A star before the name when it waits for its person, and something that turns while it works.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const titles = /\x1b\](?:0|2);([^\x07\x1b]*)(?:\x07|\x1b\\)/g

function inTitle(output: string): 'idle' | 'busy' | undefined {
  const [, title] = [...output.matchAll(titles)].at(-1) ?? []
  if (title === undefined || !/^\S /.test(title)) return undefined
  return title.startsWith('\u2733') ? 'idle' : 'busy'
}
