import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { isPublishedThere, published } from '../kit/published.ts'
import { type Computer, environmentOf } from './computer.ts'

export const happyVersion = '1.2.5'

/** The entry file of the published CLI, or undefined when it was not fetched; see `test/kit/published.ts`. */
export function findHappy(): string | undefined {
  return isPublishedThere() ? published('happy/bin/happy.mjs') : undefined
}

/** One command of the CLI at work. */
export interface Running {
  child: ChildProcess
  /** Everything it printed so far. */
  printed(): string
  /** The first match in what it prints; rejects when it ends without. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>
}

export function happy(computer: Computer, args: string[], { cwd = computer.home, terminal = false } = {}): Running {
  const command = [process.execPath, computer.entry, ...args]
  // `script` lends it a terminal, which has no size of its own: the pairing asks for a key press.
  const inTerminal = `stty cols 100 rows 50; exec ${command.map(quote).join(' ')}`
  const [file = '', ...rest] = terminal ? ['script', '-qfec', inTerminal, '/dev/null'] : command
  const child = spawn(file, rest, { cwd, env: environmentOf(computer), stdio: 'pipe' })
  computer.teardown(() => child.kill('SIGKILL'))
  let text = ''
  const news = new EventEmitter().setMaxListeners(0)
  const take = (chunk: string) => {
    text += chunk
    news.emit('more')
  }
  child.stdout.setEncoding('utf8').on('data', take)
  child.stderr.setEncoding('utf8').on('data', take)
  const closed = once(child, 'close').finally(() => news.emit('more'))
  return {
    child,
    printed: () => text,
    async prints(pattern) {
      for (;;) {
        const match = pattern.exec(text)
        if (match) return match
        if (child.exitCode !== null) throw new Error(`happy ${args.join(' ')} ended with ${child.exitCode} without ${pattern}:\n${text}`)
        await once(news, 'more')
      }
    },
    ended: closed.then(([code, signal]) => code ?? signal)
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
