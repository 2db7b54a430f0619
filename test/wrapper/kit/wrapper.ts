import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { programFile } from '../../kit/program.ts'

/** A command of Afield in a process of its own, as a person runs it, without a terminal. */
export interface WrapperProcess {
  readonly child: ChildProcess
  /** Everything it wrote so far. */
  readonly output: string
  /** Resolves with what the pattern matched as soon as it was written; rejects when the process ends before. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
  kill(signal?: NodeJS.Signals): Promise<void>
}

export function runWrapper(
  t: Pick<Test, 'teardown'>,
  { home, args, env = {}, directory }: { home: string; args: readonly string[]; env?: Record<string, string>; directory?: string }
): WrapperProcess {
  const child = spawn(process.execPath, [programFile(env), ...args], {
    cwd: directory,
    env: { ...process.env, AFIELD_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  const news = new EventTarget()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      output += text
      news.dispatchEvent(new Event('news'))
    })
  }
  const ended = new Promise<number | string>(resolve => {
    child.once('close', (code, signal) => {
      resolve(signal ?? code ?? -1)
      news.dispatchEvent(new Event('news'))
    })
  })
  let isOver = false
  void ended.then(() => (isOver = true))
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    child.kill(signal)
    await ended
  }
  t.teardown(() => kill())
  return {
    child,
    get output() {
      return output
    },
    async says(pattern) {
      for (;;) {
        const match = pattern.exec(output)
        if (match) return match
        if (isOver) throw new Error(`it ended without saying ${pattern}:\n${output}`)
        await once(news, 'news')
      }
    },
    ended,
    kill
  }
}
