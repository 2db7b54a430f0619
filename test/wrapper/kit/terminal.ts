import { once } from 'node:events'

import xterm from '@xterm/headless'
import type { Test } from 'tap'
import { spawnOnPty } from '../../../lib/wrapper/agents/pty.ts'
import { programFile } from '../../kit/program.ts'

/** A command of Afield on a terminal, as a person sits before it. */
export interface PersonAtTerminal {
  readonly pid: number
  /** What is on the screen now, and what scrolled off it above. */
  readonly screen: string
  type(keys: string): void
  /** Resolves when the pattern is on the screen. */
  sees(pattern: RegExp): Promise<void>
  readonly ended: Promise<number>
  kill(signal: NodeJS.Signals): void
}

export function runOnTerminal(
  t: Pick<Test, 'teardown'>,
  {
    home,
    args,
    env = {},
    directory,
    columns = 100,
    program = [process.execPath, programFile(env)]
  }: {
    home: string
    args: readonly string[]
    env?: Record<string, string>
    directory: string
    columns?: number
    /** Afield: from its sources unless told. */
    program?: readonly string[]
  }
): PersonAtTerminal {
  const bell = new EventTarget()
  const screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  const options = { cols: columns, rows, cwd: directory, env: { ...process.env, ...env, AFIELD_HOME: home } }
  const { pty, ended: hasEnded } = spawnOnPty([...program, ...args], options, bytes =>
    screen.write(bytes, () => bell.dispatchEvent(new Event('news')))
  )
  // A program asks its terminal where the cursor is, and waits for the answer.
  screen.onData(answer => pty.write(answer))
  let isOver = false
  // What was written last is on the screen a moment after the program is gone.
  const ended = hasEnded.then(({ code }) => new Promise<number>(resolve => screen.write('', () => resolve(code))))
  void ended.then(() => {
    isOver = true
    bell.dispatchEvent(new Event('news'))
  })
  t.teardown(() => pty.kill('SIGKILL'))
  return {
    pid: pty.pid,
    get screen() {
      return textOf(screen)
    },
    type: keys => pty.write(keys),
    async sees(pattern) {
      while (!pattern.test(textOf(screen))) {
        if (isOver) throw new Error(`it ended without ${pattern}:\n${textOf(screen)}`)
        await once(bell, 'news')
      }
    },
    ended,
    kill: signal => pty.kill(signal)
  }
}

const rows = 30

function textOf({ buffer }: xterm.Terminal): string {
  const { active } = buffer
  return Array.from({ length: active.length }, (_, line) => active.getLine(line)?.translateToString(true) ?? '').join('\n')
}
