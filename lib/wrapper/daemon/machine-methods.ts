import { homedir } from 'node:os'
import { withDeadline } from '../../async/deadline.ts'
import { pause } from '../../async/pause.ts'
import type { MachineHandlers } from '../../client/machine-calls.ts'
import type { ParamsOfMachineCall, ResultOfMachineCall } from '../../protocol/sealed/machine-calls.ts'
import { findProgram } from '../agents/find-program.ts'
import { agentEnvironment } from '../credentials.ts'
import { type Confinement, confine } from '../methods/confine.ts'
import { fileMethods } from '../methods/files.ts'
import { isFolder, makeFolder } from '../methods/folders.ts'
import { readPolicy } from '../methods/policy.ts'
import { type KnownSession, listSessions } from '../session-folder.ts'
import { startSession } from './starting.ts'

export interface MachineMethodsDeps {
  home: string
  server: string
  env: Readonly<Record<string, string | undefined>>
  /** Ends the daemon; sessions go on. */
  stop(): void
}

/** What a phone may ask of this computer while no session is concerned. */
export function machineMethods(deps: MachineMethodsDeps): MachineHandlers {
  const { home } = deps
  // Outside of sessions a phone looks for a folder; it reads no files.
  const files = fileMethods(() => allowedFolders(home))
  return {
    'spawn-happy-session': params => spawn(deps, params),
    'resume-happy-session': params => resume(deps, params),
    'stop-session': ({ sessionId }) => stopSession(home, sessionId),
    'stop-daemon': () => {
      // The answer has to leave before the line is closed.
      setTimeout(deps.stop, answerFirstMs)
      return { message: 'Daemon stop request acknowledged, starting shutdown sequence...' }
    },
    listDirectory: files.listDirectory,
    getDirectoryTree: files.getDirectoryTree,
    choices: () => ({ agents: installedAgents(deps.env), recentFolders: recentFolders(home), home: homedir() })
  }
}

const answerFirstMs = 50

function allowedFolders(home: string): Confinement {
  return confine(readPolicy(home).folders, home)
}

type Started = ResultOfMachineCall<'spawn-happy-session'>

async function spawn(deps: MachineMethodsDeps, params: ParamsOfMachineCall<'spawn-happy-session'>): Promise<Started> {
  const { home, server, env } = deps
  const agent = params.agent || 'claude'
  const known = agents.find(({ name }) => name === agent)
  if (!known) throw new Error(`This computer knows no agent called ${agent}.`)
  const folder = allowedFolders(home).check(params.directory)
  if (!isFolder(folder)) {
    if (params.approvedNewDirectoryCreation === false) return { type: 'requestToApproveDirectoryCreation', directory: folder }
    makeFolder(folder)
  }
  const prompt = params.prompt ? [params.prompt] : []
  const sessionId = await startSession({
    home,
    server,
    directory: folder,
    command: [...known.command, ...(known.takesPrompt ? prompt : [])],
    mode: params.permissionMode,
    env: { ...agentEnvironment(env), ...allowedVariables(params.environmentVariables ?? {}) }
  })
  return { type: 'success', sessionId }
}

async function resume(deps: MachineMethodsDeps, params: ParamsOfMachineCall<'resume-happy-session'>): Promise<Started> {
  const { home, env } = deps
  const { notes, pid } = await settled(home, params.sessionId)
  if (pid !== undefined) return { type: 'success', sessionId: params.sessionId }
  const command = ['resume', params.sessionId]
  const at = { home, server: notes.server, directory: notes.metadata.path, command, mode: params.permissionMode }
  return { type: 'success', sessionId: await startSession({ ...at, env: agentEnvironment(env) }) }
}

/** A session by its id on the server, or by its process as existing clients write it: `PID-123`. */
function stopSession(home: string, id: string): { message: string } {
  const pid = /^PID-(\d+)$/.exec(id)?.[1]
  const running = listSessions(home).find(session => session.pid !== undefined && (session.notes.id === id || String(session.pid) === pid))
  if (running?.pid === undefined) throw new Error('No such session runs on this computer.')
  process.kill(running.pid, 'SIGTERM')
  return { message: 'Session stopped' }
}

/** One that is ending is waited for: it would not read another word. */
async function settled(home: string, id: string): Promise<KnownSession> {
  return withDeadline(endWithinMs, async signal => {
    for (;;) {
      const known = listSessions(home).find(({ notes }) => notes.id === id)
      if (!known) throw new Error('This computer does not know the session.')
      if (known.pid === undefined || !known.notes.isEnding) return known
      await pause(lookEveryMs, { signal })
    }
  })
}

const endWithinMs = 15_000
const lookEveryMs = 50

interface KnownAgent {
  /** As existing apps name it. */
  name: string
  title: string
  /** The program that must be there; none for the one that comes with Afield. */
  program: string | undefined
  command: readonly string[]
  takesPrompt: boolean
}

const agents: readonly KnownAgent[] = [
  { name: 'claude', title: 'Claude Code', program: 'claude', command: ['claude'], takesPrompt: true },
  { name: 'codex', title: 'Codex', program: 'codex-acp', command: ['run', '--', 'codex-acp'], takesPrompt: false },
  { name: 'gemini', title: 'Gemini', program: 'gemini', command: ['run', '--', 'gemini', '--acp'], takesPrompt: false },
  { name: 'opencode', title: 'opencode', program: 'opencode', command: ['run', '--', 'opencode', 'acp'], takesPrompt: false },
  { name: 'qwen', title: 'Qwen Code', program: 'qwen', command: ['run', '--', 'qwen', '--acp'], takesPrompt: false },
  { name: 'goose', title: 'Goose', program: 'goose', command: ['run', '--', 'goose', 'acp'], takesPrompt: false },
  { name: 'demo', title: 'Demo agent', program: undefined, command: ['demo', '--folder', '.'], takesPrompt: true }
]

function installedAgents(env: MachineMethodsDeps['env']): { agent: string; title: string }[] {
  return agents
    .filter(({ program }) => program === undefined || findProgram(program, env) !== undefined)
    .map(({ name, title }) => ({ agent: name, title }))
}

const mostRecent = 12

function recentFolders(home: string): string[] {
  const folders = listSessions(home).map(({ notes }) => notes.metadata.path)
  return [...new Set(folders)].filter(isFolder).slice(0, mostRecent)
}

/** What existing apps set for an agent: its keys, addresses and models. Anything else could make it run other programs. */
const settable =
  /^(ANTHROPIC|OPENAI|AZURE_OPENAI|GEMINI|GOOGLE|DEEPSEEK|GROQ|MISTRAL|OPENROUTER|XAI|TOGETHER|CLAUDE_CODE|CODEX)_[A-Z0-9_]*(KEY|TOKEN|URL|MODEL|MODELS|REGION|PROJECT|LOCATION|VERSION|TIMEOUT_MS)$/

function allowedVariables(given: Readonly<Record<string, string>>): Record<string, string> {
  const strange = Object.keys(given).find(name => !settable.test(name))
  if (strange !== undefined) throw new Error(`The variable ${strange} may not be set from a phone.`)
  return { ...given }
}
