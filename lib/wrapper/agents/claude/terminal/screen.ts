import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from '../../../../schema.ts'
import { lease } from '../../../home/ownership.ts'
import type { Console } from '../../../terminal/console.ts'
import { howEnded, openPty } from '../../pty.ts'
import { configFolder } from '../transcript/transcript.ts'

/** The Claude Code program in the person's terminal; the person's keys go to it. */
export interface OwnScreen {
  /** Resolves when it accepts pasted text. */
  readonly isReady: Promise<void>
  readonly status: OwnStatus['now']
  readonly ended: Promise<TerminalEnd>
  write(keys: string): void
  end(): Promise<void>
}

/** `left` by its person, `died` with the given reason, or `refused` to start, before any key was pressed. */
export type TerminalEnd = { type: 'left' } | { type: 'died' | 'refused'; how: string }

/** `wasHeard` says whether a hook was called. Throws CannotStart. */
export function openOwnScreen(
  program: { command: string; args: readonly string[]; directory: string; env: Readonly<Record<string, string>> },
  console: Console,
  wasHeard: () => boolean
): OwnScreen {
  const pty = openPty(program, console)
  const status = readOwnStatus(program.env, pty.pid)
  pty.onOutput(output => status.see(output))
  const release = lease(pty.pid, { of: 'agent', title: 'Claude Code', folder: program.directory })
  let hasKeys = false
  const giveKeysBack = console.takeKeys(keys => {
    hasKeys = true
    pty.write(keys.toString())
  })
  const stopResizing = console.onResize(() => pty.resize(console))
  const endOf = ({ code, signal }: { code: number; signal: number }): TerminalEnd => {
    if (code === 0 && signal === 0) return { type: 'left' }
    const how = howEnded({ code, signal })
    return { type: wasHeard() || hasKeys || signal !== 0 ? 'died' : 'refused', how }
  }
  return {
    isReady: pty.isReady,
    get status() {
      return status.now
    },
    ended: pty.ended.then(how => {
      release()
      giveKeysBack()
      stopResizing()
      return endOf(how)
    }),
    write: keys => pty.write(keys),
    end: () => pty.end()
  }
}

/** Claude Code's state outside its conversation. */
export interface OwnStatus {
  /** `waiting`: a dialog is open, even one without a hook. Undefined if unknown. */
  readonly now: 'idle' | 'busy' | 'waiting' | undefined
  /** Its terminal output; for a version without a status file its title says whether it works. */
  see(output: string): void
}

function readOwnStatus(env: Readonly<Record<string, string>>, pid: number): OwnStatus {
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

const statusFile = v.looseObject({ status: v.picklist(['idle', 'busy', 'waiting']) })

function inFile(file: string): OwnStatus['now'] {
  try {
    return v.parse(statusFile, JSON.parse(readFileSync(file, 'utf8'))).status
  } catch {
    return undefined
  }
}

// A star before the name when it waits for its person, and something that turns while it works.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const titles = /\x1b\](?:0|2);([^\x07\x1b]*)(?:\x07|\x1b\\)/g

function inTitle(output: string): 'idle' | 'busy' | undefined {
  // Those without such a sign are of programs that it runs.
  const title = [...output.matchAll(titles)].map(([, text = '']) => text).findLast(text => /^\S /.test(text))
  if (title === undefined) return undefined
  return title.startsWith('\u2733') ? 'idle' : 'busy'
}
