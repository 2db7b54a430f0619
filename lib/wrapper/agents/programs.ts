import { accessSync, constants, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { CannotStart } from '../../exit.ts'
import type { AgentScreen } from './agent.ts'

/** The file that a command names: searched in the PATH like a shell does. */
export function findProgram(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter(folder => folder !== '')
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : ['']
  for (const folder of folders) {
    for (const ending of endings) {
      const file = join(folder, name + ending)
      if (isProgram(file)) return file
    }
  }
  return undefined
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The newest version of each agent that was run with all that is used of it. Another patch of these is taken to be the same. */
export const newestTested: Readonly<Record<string, string>> = { claude: '2.1.329', codex: '0.169.0', opencode: '1.18.33' }

/** How a version stands to the ones that were tested; undefined for an agent of which none was, or a version that says nothing. */
export function comparedToTested(agent: string, version: string | undefined): 'tested' | 'newer' | 'older' | undefined {
  const [triedMajor, triedMinor] = numbersOf(newestTested[agent] ?? '')
  const [major, minor] = numbersOf(version ?? '')
  if (triedMajor === undefined || triedMinor === undefined || major === undefined || minor === undefined) return undefined
  if (major === triedMajor && minor === triedMinor) return 'tested'
  return major > triedMajor || (major === triedMajor && minor > triedMinor) ? 'newer' : 'older'
}

/** What to tell the person about a version that may be another than Afield knows. */
export function newerThanTested(agent: string, title: string, version: string | undefined): string | undefined {
  if (comparedToTested(agent, version) !== 'newer') return undefined
  return `${title} ${version} is newer than tested (${newestTested[agent]}). What is new in it may be missing on your phone.`
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
  /** Whether the shell of Windows starts it. */
  shell: boolean
}

/**
 * What npm installs on Windows are scripts, which only its shell starts. That reads some signs in a way of its own, and no quotes keep it from
 * all of them: a command with such a sign is refused.
 */
export function startable(command: string, args: readonly string[], platform: string = process.platform): Command {
  if (platform !== 'win32' || !/\.(cmd|bat)$/i.test(command)) return { command, args, shell: false }
  const odd = args.find(arg => !/^[\w@+=:,./\\-]+$/.test(arg))
  if (odd !== undefined) throw new CannotStart(`${basename(command)} cannot be started on Windows with ${odd}.`)
  return { command: `"${command}"`, args, shell: true }
}

type Env = Readonly<Record<string, string | undefined>>

/** The Claude Code of this computer, also where its own installers put it, which a PATH of a non-interactive shell may lack. */
export function findClaude(env: Env): string | undefined {
  const installed = [join(homedir(), '.local', 'bin', 'claude'), join(homedir(), '.claude', 'local', 'claude')]
  return namedProgram(env, ['CLAUDE_CODE_EXECUTABLE', 'CLAUDE_BIN']) ?? findProgram('claude', env) ?? installed.find(isProgram)
}

/** The Codex of this computer, or undefined when there is none. Throws CannotStart when CODEX_BIN names something else. */
export function findCodex(env: Env): string | undefined {
  return namedProgram(env, ['CODEX_BIN']) ?? findProgram('codex', env)
}

export const howToGetCodex = 'Name its file in CODEX_BIN, or install it with:\n  npm install --global @openai/codex'

/** The opencode of this computer. Throws CannotStart when there is none. */
export function findOpencode(env: Env): string {
  const found = namedProgram(env, ['OPENCODE_BIN_PATH', 'OPENCODE_BIN']) ?? findProgram('opencode', env)
  if (found !== undefined) return found
  throw new CannotStart(
    'There is no command opencode here. Name its file in OPENCODE_BIN_PATH, or install it with:\n  npm install --global opencode-ai'
  )
}

/** The file that one of these variables names, the first of which is the one to tell of. Throws CannotStart when it is no program. */
function namedProgram(env: Env, variables: readonly [string, ...string[]]): string | undefined {
  const file = variables.map(variable => env[variable]).find(named => named)
  if (file === undefined || isProgram(file)) return file
  throw new CannotStart(`${variables[0]} names ${file}, which is no program.`)
}

/** The screen that an agent is to draw on; undefined, after saying so, where it can be given no terminal of its own. */
export async function screenIfAny(
  screen: AgentScreen | undefined,
  { whose, hasPty, tell }: { whose: string; hasPty?: boolean | undefined; tell(line: string): void }
): Promise<AgentScreen | undefined> {
  if (!screen || (hasPty ?? (await import('./pty.ts')).hasPty)) return screen
  tell(`There is no terminal for ${whose} on this kind of computer yet, so your phone drives it.`)
  return undefined
}
