import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CannotStart } from '../../../exit.ts'
import { findProgram } from '../../../program-in-path.ts'
import { startAcp } from '../acp/acp.ts'
import type { Agent, AgentKind, StartAgent } from '../agent.ts'
import { findCodex, howToGetCodex, screenIfAny } from '../programs.ts'

interface CodexOptions {
  /** The wrapper's home. */
  home: string
  env: Readonly<Record<string, string | undefined>>
  tell(line: string): void
  /** Whether a program can get its own terminal here; detected if omitted. */
  hasPty?: boolean | undefined
}

/**
 * The person's installed Codex. Its own app server serves its screen here and the phone at once; a version
 * without such a server is driven through the adapter `codex-acp`, by the phone alone.
 */
export function codexKind(options: CodexOptions): AgentKind {
  return {
    flavor: 'codex',
    title,
    program: { kind: 'codex' },
    hasOwnScreen: true,
    async start(how) {
      const codex = findCodex(options.env)
      if (codex === undefined) return startAdapter(options, how, `The command codex was not found. ${howToGetCodex}`)
      const version = await versionOf(codex, how)
      const isOld = version === undefined || isBefore(version, oldestKnown)
      if (isOld || process.platform === 'win32') {
        const why = isOld
          ? `Afield supports Codex ${oldestKnown.join('.')} and later; this is ${version?.text ?? 'an unknown version'}.`
          : 'Afield does not support the app server of Codex on Windows yet.'
        return startAdapter(options, how, why, codex)
      }
      const screen = await screenIfAny(how.screen, { ...options, whose: 'Codex’s own screen' })
      const { startSharedCodex } = await import('./shared-codex.ts')
      try {
        return await startSharedCodex({ home: options.home, codex, version: version.text, how: { ...how, screen } })
      } catch (error) {
        const sentence = error instanceof Error ? error.message : String(error)
        if (isBefore(version, firstUnknown))
          throw error instanceof CannotStart ? error : new CannotStart(`Codex did not start: ${sentence}`)
        return startAdapter(options, how, `Afield does not support Codex ${version.text} yet, and could not start it. ${sentence}`, codex)
      }
    }
  }
}

const title = 'Codex'
// Tested completely with: 0.169.
const oldestKnown = [0, 169, 0]
const firstUnknown = [0, 170, 0]
const versionWithinMs = 15_000

interface Version {
  text: string
  numbers: number[]
}

async function versionOf(codex: string, { env }: StartAgent): Promise<Version | undefined> {
  try {
    const { stdout } = await promisify(execFile)(codex, ['--version'], { env: { ...env }, timeout: versionWithinMs })
    const text = /\d+\.\d+\.\d+\S*/.exec(stdout)?.[0]
    return text === undefined ? undefined : { text, numbers: text.split(/[.-]/).slice(0, 3).map(Number) }
  } catch {
    return undefined
  }
}

function isBefore({ numbers }: Version, other: readonly number[]): boolean {
  const differs = other.findIndex((number, index) => number !== numbers[index])
  return differs >= 0 && (numbers[differs] ?? 0) < (other[differs] ?? 0)
}

/** Says why, and drives Codex through its adapter if installed. */
async function startAdapter({ env, tell }: CodexOptions, how: StartAgent, why: string, codex?: string): Promise<Agent> {
  const adapter = findProgram('codex-acp', env)
  if (adapter === undefined) {
    throw new CannotStart(
      codex === undefined ? why : `${why} Update it, or install its adapter: npm install --global @agentclientprotocol/codex-acp`
    )
  }
  tell(`${why} It runs through codex-acp on your phone instead.`)
  // By default, a second model answers Codex's requests.
  const begin = { INITIAL_AGENT_MODE: 'workspace-write', ...(codex !== undefined && { CODEX_PATH: codex }) }
  const { screen: _, ...rest } = how
  return startAcp({ command: adapter, args: [], title, isHeardAgain: true }, { ...rest, env: { ...begin, ...how.env } })
}
