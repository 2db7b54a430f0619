import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { CannotStart } from '../../exit.ts'
import { findProgram, isProgram } from '../../program-in-path.ts'
import type { AgentScreen } from './agent.ts'

/** The newest version of each agent tested with everything we use. Patch releases count as the same. */
export const newestTested: Readonly<Record<string, string>> = { claude: '2.1.329', codex: '0.169.0', opencode: '1.18.33' }

/** How a version compares to the tested ones; undefined for an agent without any, or an unknown version. */
export function comparedToTested(agent: string, version: string | undefined): 'tested' | 'newer' | 'older' | undefined {
  const [triedMajor, triedMinor] = numbersOf(newestTested[agent] ?? '')
  const [major, minor] = numbersOf(version ?? '')
  if (triedMajor === undefined || triedMinor === undefined || major === undefined || minor === undefined) return undefined
  if (major === triedMajor && minor === triedMinor) return 'tested'
  return major > triedMajor || (major === triedMajor && minor > triedMinor) ? 'newer' : 'older'
}

/** What to tell the person about an untested version. */
export function newerThanTested(agent: string, title: string, version: string | undefined): string | undefined {
  if (comparedToTested(agent, version) !== 'newer') return undefined
  return `${title} ${version} is newer than tested (${newestTested[agent]}). Its new features may be missing on your phone.`
}

function numbersOf(version: string): number[] {
  return version
    .split('.')
    .slice(0, 2)
    .map(part => Number.parseInt(part, 10))
    .filter(Number.isInteger)
}

interface Command {
  command: string
  args: readonly string[]
  /** Whether it is started by the Windows shell. */
  shell: boolean
}

/**
 * npm installs scripts on Windows, which only its shell starts. That interprets some characters, and
 * quoting does not protect all of them: a command with such a character is rejected.
 */
export function startable(command: string, args: readonly string[], platform: string = process.platform): Command {
  if (platform !== 'win32' || !/\.(cmd|bat)$/i.test(command)) return { command, args, shell: false }
  const odd = args.find(arg => !/^[\w@+=:,./\\-]+$/.test(arg))
  if (odd !== undefined) throw new CannotStart(`${basename(command)} cannot be started on Windows with ${odd}.`)
  return { command: `"${command}"`, args, shell: true }
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * This computer's Claude Code, also where its own installers put it, which a non-interactive shell's PATH
 * may lack.
 */
export function findClaude(env: Env): string | undefined {
  const installed = [join(homedir(), '.local', 'bin', 'claude'), join(homedir(), '.claude', 'local', 'claude')]
  return namedProgram(env, ['CLAUDE_CODE_EXECUTABLE', 'CLAUDE_BIN']) ?? findProgram('claude', env) ?? installed.find(isProgram)
}

/** This computer's Codex, or undefined if there is none. Throws CannotStart if CODEX_BIN names something else. */
export function findCodex(env: Env): string | undefined {
  return namedProgram(env, ['CODEX_BIN']) ?? findProgram('codex', env)
}

export const howToGetCodex = 'Set CODEX_BIN to its path, or install it with:\n  npm install --global @openai/codex'

/** This computer's opencode. Throws CannotStart if there is none. */
export function findOpencode(env: Env): string {
  const found = namedProgram(env, ['OPENCODE_BIN_PATH', 'OPENCODE_BIN']) ?? findProgram('opencode', env)
  if (found !== undefined) return found
  throw new CannotStart(
    'The command opencode was not found. Set OPENCODE_BIN_PATH to its path, or install it with:\n  npm install --global opencode-ai'
  )
}

/**
 * The file named by one of these variables, the first of which is used in the error. Throws CannotStart if
 * it is not a program.
 */
function namedProgram(env: Env, variables: readonly [string, ...string[]]): string | undefined {
  const file = variables.map(variable => env[variable]).find(named => named)
  if (file === undefined || isProgram(file)) return file
  throw new CannotStart(`${variables[0]} is set to ${file}, which is not a program.`)
}

/** The screen for an agent; undefined, after saying so, if it cannot get its own terminal. */
export async function screenIfAny(
  screen: AgentScreen | undefined,
  { whose, hasPty, tell }: { whose: string; hasPty?: boolean | undefined; tell(line: string): void }
): Promise<AgentScreen | undefined> {
  if (!screen || (hasPty ?? (await import('./pty.ts')).hasPty)) return screen
  tell(`Afield cannot show ${whose} on this kind of computer yet, so use your phone.`)
  return undefined
}
