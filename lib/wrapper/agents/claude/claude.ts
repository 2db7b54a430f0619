import { join } from 'node:path'
import { isSingleFile } from '../../../assets.ts'
import { CannotStart } from '../../../exit.ts'
import { findProgram } from '../../../program-in-path.ts'
import { ownProgram } from '../../home/own-process.ts'
import type { Agent, AgentKind, StartAgent } from '../agent.ts'
import { findClaude, screenIfAny } from '../programs.ts'
import { claudeAdapter, fetchAdapter, findAdapter } from './adapter.ts'
import { tellGoals } from './remote.ts'
import { handedOn, readRetry } from './terminal/retries.ts'
import { goalCommand } from './transcript/goals.ts'
import { endOfTranscript, hasTranscript } from './transcript/transcript.ts'

export interface ClaudeOptions {
  /** The wrapper's home; a fetched adapter is stored in it. */
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** Whether the adapter may be fetched from the npm registry; asked only if it is missing. */
  mayFetch(question: string): Promise<boolean>
  tell(line: string): void
  /** Whether a program can get its own terminal here; detected if omitted. */
  hasPty?: boolean | undefined
}

/** The person's installed Claude Code, driven through its ACP adapter, which runs on Afield's own Node.js. */
export function claudeKind(options: ClaudeOptions): AgentKind {
  const title = 'Claude Code'
  return {
    flavor: 'claude',
    title,
    program: { kind: 'claude' },
    hasOwnScreen: true,
    async start(how) {
      const claude = findClaude(options.env)
      if (claude === undefined) {
        throw new CannotStart(
          'The command claude was not found. Set CLAUDE_CODE_EXECUTABLE to its path, or install Claude Code with:\n  npm install --global @anthropic-ai/claude-code'
        )
      }
      // A session of ours without messages has none either, and nothing is lost.
      if (how.isUnsent && how.resume !== undefined && !hasTranscript(how.env, how.resume))
        throw new CannotStart(
          `Claude Code has no conversation ${how.resume} on this computer. List its conversations with: claude --resume`
        )
      const adapter = findAdapter(options.home) ?? (await fetchWithLeave(options))
      const program = isSingleFile() ? ownProgram(['run-module', adapter]) : { command: process.execPath, args: [adapter] }
      const startRemote = async ({ resume, ...how }: StartAgent) => {
        const { startAcp } = await loadAcp()
        const known = resume !== undefined && hasTranscript(how.env, resume) ? resume : undefined
        const placeOf = ({ conversation }: Agent) => endOfTranscript(how.env, how.directory, conversation)
        const agent = await startAcp(
          { ...program, title, more: { asked: handedOn, read: readRetry }, beside: (agent, tell) => tellGoals(placeOf(agent), tell) },
          { ...how, resume: known, env: { ...how.env, CLAUDE_CODE_EXECUTABLE: claude } }
        )
        const changeGoal = async (objective: string | undefined) => goalCommand(objective)
        return Object.assign(agent, { writesAt: () => placeOf(agent), changeGoal })
      }
      const screen = await screenIfAny(how.screen, { ...options, whose: 'Claude Code’s own screen' })
      if (!screen) return startRemote(how)
      const [{ startTwoModes }, { unknownVersion, versionOf }] = await Promise.all([import('./two-modes.ts'), import('./version.ts')])
      const warning = unknownVersion(await versionOf(claude, options.home, how.env))
      if (warning !== undefined) options.tell(warning)
      try {
        const agent = await startTwoModes({ home: options.home, claude, screen, how, warning, startRemote })
        if (!isSingleFile()) setTimeout(() => loadAcp().catch(() => {}), afterStartMs).unref()
        return agent
      } catch (error) {
        if (!(error instanceof CannotStart)) throw error
        options.tell(`${error.message} Use your phone instead.`)
        return startRemote(how)
      }
    }
  }
}

/** Its own screen does not need it, and it is large. */
function loadAcp() {
  return import('../acp/acp.ts')
}

// A session survives when npm replaces its program, which removes files that were not loaded yet. If they
// are already gone it continues at its own screen.
const afterStartMs = 5_000

async function fetchWithLeave(options: ClaudeOptions): Promise<string> {
  const { name, version } = claudeAdapter
  const question = `Afield runs Claude Code through ${name} ${version} (78 MB), which is not installed yet.\nInstall it with npm into ${join(options.home, 'agents')}?`
  if (!(await options.mayFetch(question)))
    throw new CannotStart(`Afield cannot run Claude Code without ${name}. Install it with --yes, or run:\n  ${howToFetch(options.home)}`)
  const npm = findProgram('npm', options.env)
  if (npm === undefined) {
    throw new CannotStart(`Afield needs ${name} to run Claude Code, and npm to install it. Install Node.js with npm and try again.`)
  }
  options.tell(`Installing ${name} ${version} …`)
  return fetchAdapter({ npm, home: options.home, env: options.env })
}

function howToFetch(home: string): string {
  return `npm install --omit=optional --ignore-scripts --prefix ${join(home, 'agents')} ${claudeAdapter.name}@${claudeAdapter.version}`
}
