import { execFile } from 'node:child_process'
import { findProgram } from '../../../program-in-path.ts'
import { agentEnvironment } from '../../home/credentials.ts'

export interface Finished {
  readonly exitCode: number
  readonly stdout: Buffer
  readonly stderr: string
  /** It exceeded the output limit, or was ended for taking too long. */
  readonly isCut: boolean
}

interface RunLimits {
  input?: string | undefined
  withinMs?: number
  mostBytes?: number
}

type Environment = Readonly<Record<string, string | undefined>>

const withinMs = 20_000
const mostBytes = 8 * 1024 * 1024

/** Runs a program without a shell, in a folder, until it ends or reaches a limit. Rejects only if it cannot be started. */
export function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Environment,
  limits: RunLimits = {}
): Promise<Finished> {
  const options = {
    cwd,
    env: definite(env),
    encoding: 'buffer' as const,
    timeout: limits.withinMs ?? withinMs,
    killSignal: 'SIGKILL' as const,
    maxBuffer: limits.mostBytes ?? mostBytes,
    windowsHide: true
  }
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error && child.pid === undefined) return reject(new Error('This program could not be started.', { cause: error }))
      const isCut = error?.killed === true || String(error?.code) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
      const exitCode = typeof error?.code === 'number' ? error.code : error ? -1 : 0
      resolve({ exitCode, stdout, stderr: stderr.toString(), isCut })
    })
    // It may end without reading all input.
    child.stdin?.on('error', () => {})
    child.stdin?.end(limits.input ?? '')
  })
}

export interface Git {
  /** Reads: runs nothing that the repository names, contacts no other computer, takes no lock. Throws if git is not installed. */
  read(args: readonly string[], limits?: RunLimits): Promise<Finished>
  /** Like the person's own git, with everything the repository configures. */
  act(args: readonly string[], limits?: RunLimits): Promise<Finished>
}

export class NoGit extends Error {
  override name = 'NoGit'
}

/** Git in one folder. */
export function gitIn(folder: string, env: Environment): Git {
  const program = () => {
    const found = findProgram('git', env)
    if (found === undefined) throw new NoGit('Git is not installed on this computer.')
    return found
  }
  return {
    read: async (args, limits) => runProgram(program(), [...harmless, ...args], folder, readingEnvironment(env), limits),
    act: async (args, limits) => runProgram(program(), args, folder, { ...plainEnvironment(env), GIT_EDITOR: ':' }, limits)
  }
}

const harmless = [
  '--no-pager',
  '--no-optional-locks',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'log.showSignature=false'
]

// Variables that could redirect git or make it run or print something else. The identity for commits stays the person's own.
const keptVariables = /^GIT_(AUTHOR|COMMITTER)_|^GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$|^GIT_CEILING_DIRECTORIES$|^GIT_EXEC_PATH$/

function plainEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(agentEnvironment(env)).filter(([name]) => !name.startsWith('GIT_') || keptVariables.test(name))
  return { ...Object.fromEntries(kept), GIT_TERMINAL_PROMPT: '0' }
}

/** Messages in English, since they are parsed; paths are literal; nothing is fetched. */
function readingEnvironment(env: Environment): Record<string, string> {
  return {
    ...plainEnvironment(env),
    LC_ALL: 'C',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_PAGER: 'cat'
  }
}

function definite(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** Why git failed, in a sentence for the phone. */
export function refusalOf({ stderr, isCut }: Finished): Error {
  if (isCut) return new Error('Git took too long here.')
  if (/index\.lock|Another git process/.test(stderr)) return new Error('Git is busy here. Try again in a moment.')
  if (/dubious ownership/.test(stderr)) return new Error('This repository belongs to another user of the computer, so Git does not use it.')
  const said = stderr
    .split('\n')
    .map(line => line.replace(/^(fatal|error): /, '').trim())
    .find(line => line !== '' && !line.startsWith('hint:'))
  return new Error(`Git said: ${said ?? 'nothing'}`)
}
