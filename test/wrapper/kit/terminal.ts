import { once } from 'node:events'
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Test } from 'tap'
import { spawn } from 'zigpty'

/** A command of Afield on a terminal, as a person sits before it. */
export interface PersonAtTerminal {
  readonly pid: number
  /** All that was ever on the screen, without colours, cursor moves and blanks: many a blank is a move of the cursor. */
  readonly seen: string
  type(keys: string): void
  /** Resolves when the pattern is found in what was written after `from`, which is a length of `seen`. */
  sees(pattern: RegExp, from?: number): Promise<void>
  readonly ended: Promise<number>
  kill(signal: NodeJS.Signals): void
}

export function runOnTerminal(
  t: Test,
  { home, args, env = {}, directory }: { home: string; args: readonly string[]; env?: Record<string, string>; directory: string }
): PersonAtTerminal {
  const bell = new EventTarget()
  let seen = ''
  const pty = spawn(process.execPath, [resolve('bin/afield.ts'), ...args], {
    cols: 100,
    rows: 30,
    cwd: directory,
    env: { ...process.env, ...env, AFIELD_HOME: home },
    onExit: () => bell.dispatchEvent(new Event('news'))
  })
  pty.onData(text => {
    seen += stripVTControlCharacters(String(text)).replace(/\s/g, '')
    bell.dispatchEvent(new Event('news'))
  })
  let isOver = false
  void pty.exited.then(() => (isOver = true))
  t.teardown(() => pty.kill('SIGKILL'))
  return {
    pid: pty.pid,
    get seen() {
      return seen
    },
    type: keys => pty.write(keys),
    async sees(pattern, from = 0) {
      while (!pattern.test(seen.slice(from))) {
        if (isOver) throw new Error(`it ended without ${pattern}:\n${seen}`)
        await once(bell, 'news')
      }
    },
    ended: pty.exited,
    kill: signal => pty.kill(signal)
  }
}
