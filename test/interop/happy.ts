import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Computer, environmentOf } from './computer.ts'

export const happyVersion = '1.2.5'

/** Where the published CLI is kept between runs; never inside the checkout. */
export function cacheDirectory(): string {
  const { HAPPY_CLI_CACHE, XDG_CACHE_HOME } = process.env
  return HAPPY_CLI_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'afield', `happy-${happyVersion}`)
}

/** Its entry file, or undefined when this very version is not in the cache. */
export function findHappy(cache: string): string | undefined {
  const home = join(cache, 'node_modules', 'happy')
  const entry = join(home, 'bin', 'happy.mjs')
  if (!existsSync(entry)) return undefined
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  return version === happyVersion ? entry : undefined
}

/** Fetches it from the npm registry; of the install scripts only its own runs, which unpacks tools that are in the package. */
export async function installHappy(cache: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, 'package.json'), '{ "private": true }\n')
  await succeed('npm', ['install', `happy@${happyVersion}`, '--ignore-scripts', '--no-audit', '--no-fund'], cache)
  await succeed(process.execPath, [join('node_modules', 'happy', 'scripts', 'unpack-tools.cjs')], cache)
}

async function succeed(command: string, args: string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${command} ${args[0]} ended with ${code}.`)
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
