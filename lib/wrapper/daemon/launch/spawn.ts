import { randomUUID } from 'node:crypto'
import type { ParamsOfMachineCall, ResultOfMachineCall } from '../../../protocol/sealed/calls/machine-calls.ts'
import { saveSignIn } from '../../agents/codex/sign-in.ts'
import { refuseOpen } from '../../histories/open-elsewhere.ts'
import { agentEnvironment } from '../../home/credentials.ts'
import { isFolder, makeFolder, refuseFile } from '../../session/methods/folders.ts'
import { findAgent } from '../computer/agents.ts'
import { allowedFolders } from '../computer/folders.ts'
import { lookAtRepository } from '../computer/git.ts'
import { makeWorktree } from '../computer/worktrees.ts'
import { type StartNotes, startSessionProcess } from './launch.ts'

type Env = Readonly<Record<string, string | undefined>>
type Params = ParamsOfMachineCall<'spawn-happy-session'>
type Started = ResultOfMachineCall<'spawn-happy-session'>

export interface SpawnDeps {
  home: string
  server: string
  env: Env
}

/** Starts a session for a phone. */
export async function spawnSession(deps: SpawnDeps, params: Params): Promise<Started> {
  const { home, server, env } = deps
  const agent = findAgent(params.agent || 'claude')
  const given = allowedVariables(params.environmentVariables ?? {})
  const resume = conversationOf(agent.name, params)
  refuseOpen(home, resume, agentEnvironment(env))
  const asked = allowedFolders(home).check(params.directory)
  if (!isFolder(asked)) {
    refuseFile(asked)
    if (params.approvedNewDirectoryCreation === false) return { type: 'requestToApproveDirectoryCreation', directory: asked }
    makeFolder(asked)
  }
  const { directory, about } = await placeOf(deps, asked, params)
  const tag = randomUUID()
  const sessionId = await startSessionProcess({
    tag,
    start: params.start ?? undefined,
    home,
    server,
    directory,
    command: agent.command,
    notes: {
      mode: params.permissionMode ?? undefined,
      model: params.modelMode ?? undefined,
      effort: params.effortLevel ?? undefined,
      prompt: params.prompt ?? undefined,
      resume,
      about
    },
    title: agent.title,
    env: { ...agentEnvironment(env), ...given, ...signedInWith({ home, tag, agent: agent.name }, params.token) }
  })
  return { type: 'success', sessionId }
}

const branchWithinMs = 1_500

/** Where it works, and the session's own description of that. */
async function placeOf(
  { home, env }: SpawnDeps,
  folder: string,
  params: Params
): Promise<{ directory: string; about: StartNotes['about'] }> {
  const about = {
    ...(params.parentSessionId && { parentSessionId: params.parentSessionId }),
    ...(params.forkedFromMessageId && { forkedFromMessageId: params.forkedFromMessageId }),
    ...(params.isSideChat != null && { isSideChat: params.isSideChat })
  }
  if (params.worktree) {
    const base = params.worktree.base ?? undefined
    const aim = params.worktree.about ?? params.prompt ?? ''
    const { worktree, directory } = await makeWorktree(folder, { home, base, about: aim, env })
    return { directory, about: { ...about, worktree, gitBranch: worktree.branch } }
  }
  const branch = (await lookAtRepository(folder, env, branchWithinMs))?.branch
  return { directory: folder, about: { ...about, ...(branch !== undefined && { gitBranch: branch }) } }
}

function conversationOf(agent: string, { conversation, resumeClaudeSessionId, resumeCodexThreadId }: Params): string | undefined {
  const id = conversation || (agent === 'claude' && resumeClaudeSessionId) || (agent === 'codex' && resumeCodexThreadId) || undefined
  if (id !== undefined && !/^[\w.:-]+$/.test(id)) throw new Error('This is not a conversation ID.')
  return id
}

/**
 * What existing apps set for an agent: its keys, addresses and models. Anything else could make it run
 * other programs.
 */
const settable =
  /^(ANTHROPIC|OPENAI|AZURE_OPENAI|GEMINI|GOOGLE|DEEPSEEK|GROQ|MISTRAL|OPENROUTER|XAI|TOGETHER|CLAUDE_CODE|CODEX)_[A-Z0-9_]*(KEY|TOKEN|URL|MODEL|MODELS|REGION|PROJECT|LOCATION|VERSION|TIMEOUT_MS)$/

function allowedVariables(given: Readonly<Record<string, string>>): Record<string, string> {
  const strange = Object.keys(given).find(name => !settable.test(name))
  if (strange !== undefined) throw new Error(`The variable ${strange} cannot be set from a phone.`)
  return { ...given }
}

/** As existing daemons pass on a token. */
function signedInWith(
  { home, tag, agent }: { home: string; tag: string; agent: string },
  token: string | null | undefined
): Record<string, string> {
  if (!token) return {}
  if (agent === 'claude') return { CLAUDE_CODE_OAUTH_TOKEN: token }
  if (agent !== 'codex') throw new Error('Only Claude Code and Codex accept a token.')
  return saveSignIn(home, tag, token)
}
