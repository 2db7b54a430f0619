import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findProgram, isProgram } from '../../../program-in-path.ts'
import type { ResultOfMachineCall } from '../../../protocol/sealed/calls/machine-calls.ts'
import { configFolder } from '../../agents/claude/transcript/transcript.ts'
import { comparedToTested } from '../../agents/programs.ts'
import { agentEnvironment } from '../../home/credentials.ts'

type Env = Readonly<Record<string, string | undefined>>

interface KnownAgent {
  /** As existing apps name it. */
  name: string
  title: string
  /** The required program; none for the one bundled with Afield. */
  program: string | undefined
  /** The Afield command that runs it. */
  command: readonly string[]
  /** How a person installs it, and signs in. */
  install: string
  signIn?: string
  /** Undefined if it cannot be known without running it. */
  isSignedIn?(env: Env): boolean | undefined
}

export const knownAgents: readonly KnownAgent[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    program: 'claude',
    command: ['claude'],
    install: 'npm install -g @anthropic-ai/claude-code',
    signIn: 'claude /login',
    // On macOS its sign-in is in the keychain, which is not read.
    isSignedIn: env =>
      hasAny(env, ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']) ||
      existsSync(join(configFolder(agentEnvironment(env)), '.credentials.json')) ||
      (process.platform === 'darwin' ? undefined : false)
  },
  {
    name: 'codex',
    title: 'Codex',
    program: 'codex',
    command: ['codex'],
    install: 'npm install -g @openai/codex',
    signIn: 'codex login',
    isSignedIn: env =>
      hasAny(env, ['OPENAI_API_KEY', 'CODEX_API_KEY']) || existsSync(join(env['CODEX_HOME'] || inHome('.codex'), 'auth.json'))
  },
  {
    name: 'gemini',
    title: 'Gemini',
    program: 'gemini',
    command: ['run', '--', 'gemini', '--acp'],
    install: 'npm install -g @google/gemini-cli',
    signIn: 'gemini',
    isSignedIn: env => hasAny(env, ['GEMINI_API_KEY', 'GOOGLE_API_KEY']) || existsSync(inHome('.gemini', 'oauth_creds.json'))
  },
  {
    name: 'opencode',
    title: 'opencode',
    program: 'opencode',
    command: ['opencode'],
    install: 'npm install -g opencode-ai',
    signIn: 'opencode auth login',
    // Its keys may also be in the configuration of a project.
    isSignedIn: env => existsSync(join(env['XDG_DATA_HOME'] || inHome('.local', 'share'), 'opencode', 'auth.json')) || undefined
  },
  {
    name: 'qwen',
    title: 'Qwen Code',
    program: 'qwen',
    command: ['run', '--', 'qwen', '--acp'],
    install: 'npm install -g @qwen-code/qwen-code',
    signIn: 'qwen',
    isSignedIn: env => hasAny(env, ['OPENAI_API_KEY']) || existsSync(inHome('.qwen', 'oauth_creds.json')) || undefined
  },
  {
    name: 'goose',
    title: 'Goose',
    program: 'goose',
    command: ['run', '--', 'goose', 'acp'],
    install: 'https://block.github.io/goose/docs/getting-started/installation',
    signIn: 'goose configure'
  },
  { name: 'demo', title: 'Demo agent', program: undefined, command: ['demo', '--folder', '.'], install: '' }
]

export function findAgent(name: string): KnownAgent {
  const known = knownAgents.find(agent => agent.name === name)
  if (!known) throw new Error(`This computer has no agent called ${name}.`)
  return known
}

type Choices = ResultOfMachineCall<'choices'>

/** The installed agents, with version and sign-in, and how to get the others. */
export async function lookForAgents(env: Env): Promise<Pick<Choices, 'agents'> & { missingAgents: NonNullable<Choices['missingAgents']> }> {
  const looked = await Promise.all(
    knownAgents.map(async ({ name, title, program, install, signIn, isSignedIn }) => {
      const file = program === undefined ? undefined : fileOf(program, env)
      if (program !== undefined && file === undefined) return { missing: { agent: name, title, install } }
      const version = file === undefined ? undefined : await versionOf(file, env)
      const tested = comparedToTested(name, version)
      const known = isSignedIn?.(env)
      return {
        here: {
          agent: name,
          title,
          ...(version !== undefined && { version }),
          ...(tested !== undefined && { tested }),
          ...(known !== undefined && { isSignedIn: known }),
          ...(signIn !== undefined && { signIn })
        }
      }
    })
  )
  return {
    agents: looked.flatMap(({ here }) => here ?? []),
    missingAgents: looked.flatMap(({ missing }) => missing ?? [])
  }
}

/** The installed ones, by the names that existing apps know, for the metadata of the machine. */
export function agentsByName(env: Env): Record<string, boolean> {
  const looked = knownAgents.flatMap(({ name, program }) => (program === undefined ? [] : [[name, fileOf(program, env) !== undefined]]))
  return { ...notRun, ...Object.fromEntries(looked) }
}

// Existing apps expect these too.
const notRun = { openclaw: false }

// Where a person can name the file, and where installers put it, which a service's PATH may lack.
const namedIn: Readonly<Record<string, string>> = { claude: 'CLAUDE_CODE_EXECUTABLE', codex: 'CODEX_BIN', opencode: 'OPENCODE_BIN_PATH' }

function fileOf(program: string, env: Env): string | undefined {
  const named = env[namedIn[program] ?? '']
  return [named, findProgram(program, env), inHome('.local', 'bin', program)].find(file => file && isProgram(file)) || undefined
}

const versions = new Map<string, string | undefined>()
const tellWithinMs = 4_000

/** Queried once, and again when the program was replaced. */
async function versionOf(file: string, env: Env): Promise<string | undefined> {
  const key = `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs}`
  if (!versions.has(key)) versions.set(key, await askVersion(file, env))
  return versions.get(key)
}

function askVersion(file: string, env: Env): Promise<string | undefined> {
  return new Promise(resolve => {
    const child = execFile(
      file,
      ['--version'],
      { timeout: tellWithinMs, killSignal: 'SIGKILL', env: agentEnvironment(env) },
      (error, stdout) => {
        resolve(error ? undefined : /\d+\.\d+[\w.+-]*/.exec(stdout)?.[0])
      }
    )
    child.stdin?.end()
  })
}

function hasAny(env: Env, names: readonly string[]): boolean {
  return names.some(name => (env[name] ?? '') !== '')
}

function inHome(...parts: string[]): string {
  return join(homedir(), ...parts)
}
