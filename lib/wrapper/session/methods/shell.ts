import { spawn } from 'node:child_process'
import { findProgram } from '../../../program-in-path.ts'
import type { Confinement } from '../../home/confinement.ts'
import { agentEnvironment } from '../../home/credentials.ts'
import { hasGroups, signalGroup } from '../../home/processes.ts'
import { type AllowedOptions, type ReadOptions, readOptions } from './allowed-options.ts'

type Output = {
  success: boolean
  stdout: string
  stderr: string
  exitCode: number
  error?: string
}

interface ShellOptions {
  confinement(): Confinement
  mayUseShell(): boolean
  env: Readonly<Record<string, string | undefined>>
}

const timeoutMs = 30_000
const longestTimeoutMs = 10 * 60_000
const mostOutputBytes = 2 * 1024 * 1024

/** Commands for the phone, in the folder of its session. */
export function shellMethods({ confinement, mayUseShell, env }: ShellOptions) {
  // Existing apps send / for the session's own folder.
  const folder = (cwd: string | null | undefined) => confinement().check(cwd && cwd !== '/' ? cwd : '.')
  return {
    bash({ command, cwd, timeout }: { command: string; cwd?: string | null | undefined; timeout?: number | null | undefined }) {
      if (!mayUseShell()) return refused('The policy of this computer does not let phones run commands.')
      // The shell of Windows strips the outer quotes and leaves the rest as typed.
      const words = process.platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c', `"${command}"`] : ['/bin/sh', '-c', command]
      return run(words, folder(cwd), env, Math.min(timeout ?? timeoutMs, longestTimeoutMs))
    },
    ripgrep({ args, cwd }: { args: string[]; cwd?: string | null | undefined }) {
      const program = findProgram('rg', env)
      if (program === undefined) return refused('ripgrep (rg) is not installed on this computer.')
      const asked = offered(args)
      if ('refusal' in asked) return refused(asked.refusal)
      const { options, words } = asked
      const directory = folder(cwd)
      confinement().checkWords(pathsIn(asked), directory)
      return run([program, '--no-config', ...options, '--', ...words], directory, env, timeoutMs)
    }
  }
}

function offered(args: readonly string[]): ReadOptions | { refusal: string } {
  try {
    return readOptions(args, searchOptions)
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) }
  }
}

/** The first word is the pattern, unless an option sets it. */
function pathsIn({ options, words }: ReadOptions): readonly string[] {
  return options.some(option => option === '--files' || option.startsWith('--regexp=')) ? words : words.slice(1)
}

const anything = /^/
const number = /^\d{1,9}$/

// An option not listed here might run a program, or read arbitrary files or file lists, in this version or a later one.
const searchOptions: AllowedOptions = {
  switches: new Set([
    '--files',
    '--files-with-matches',
    '--count',
    '--count-matches',
    '--json',
    '--line-number',
    '--no-line-number',
    '--column',
    '--heading',
    '--no-heading',
    '--with-filename',
    '--no-filename',
    '--only-matching',
    '--hidden',
    '--no-ignore',
    '--no-ignore-vcs',
    '--no-messages',
    '--ignore-case',
    '--case-sensitive',
    '--smart-case',
    '--fixed-strings',
    '--word-regexp',
    '--multiline',
    '--null'
  ]),
  values: {
    '--regexp': anything,
    '--glob': anything,
    '--iglob': anything,
    '--type': /^[\w+-]+$/,
    '--type-not': /^[\w+-]+$/,
    '--max-count': number,
    '--max-depth': number,
    '--max-columns': number,
    '--max-filesize': /^\d{1,9}[KMG]?$/,
    '--after-context': number,
    '--before-context': number,
    '--context': number,
    '--sort': /^(none|path|modified|accessed|created)$/,
    '--color': /^(never|auto|always|ansi)$/
  },
  short: {
    '-l': '--files-with-matches',
    '-c': '--count',
    '-n': '--line-number',
    '-N': '--no-line-number',
    '-H': '--with-filename',
    '-o': '--only-matching',
    '-i': '--ignore-case',
    '-s': '--case-sensitive',
    '-S': '--smart-case',
    '-F': '--fixed-strings',
    '-w': '--word-regexp',
    '-U': '--multiline',
    '-0': '--null',
    '-e': '--regexp',
    '-g': '--glob',
    '-t': '--type',
    '-T': '--type-not',
    '-m': '--max-count',
    '-d': '--max-depth',
    '-M': '--max-columns',
    '-A': '--after-context',
    '-B': '--before-context',
    '-C': '--context'
  },
  // Happy's app uses it to list files. Links may lead out of the folder.
  ignored: new Set(['--follow'])
}

async function refused(error: string): Promise<Output> {
  return { success: false, stdout: '', stderr: '', exitCode: -1, error }
}

/** Ends it with all child processes at the time limit; output beyond the size limit is dropped. */
function run(command: readonly string[], directory: string, env: ShellOptions['env'], withinMs: number): Promise<Output> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd: directory,
    env: { ...agentEnvironment(env), GIT_TERMINAL_PROMPT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: hasGroups,
    windowsHide: true,
    windowsVerbatimArguments: program === 'cmd.exe'
  })
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
  }, withinMs)
  return new Promise(resolve => {
    const settle = (exitCode: number, error?: string) => {
      clearTimeout(timer)
      const texts = { stdout: stdout(), stderr: stderr() }
      resolve({ success: exitCode === 0, ...texts, exitCode, ...(error !== undefined && { error }) })
    }
    child.once('error', error => settle(-1, error.message))
    child.once('close', code => {
      if (isLate) settle(-1, 'Command timed out')
      else settle(code ?? -1)
    })
  })
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    const room = mostOutputBytes - bytes
    bytes += chunk.length
    if (room > 0) chunks.push(chunk.subarray(0, room))
  })
  return () => Buffer.concat(chunks).toString() + (bytes > mostOutputBytes ? `\n… ${bytes - mostOutputBytes} bytes left out …\n` : '')
}
