import { basename } from 'node:path'
import type { RewindPoint } from '../../../protocol/sealed/calls/machine-work.ts'
import { kindOf } from '../../agents/kinds.ts'
import { findClaudeHistory, forkClaude, rewindPoints } from '../../histories/claude.ts'
import { codexForking } from '../../histories/codex-fork.ts'
import { agentEnvironment } from '../../home/credentials.ts'
import { listSessions } from '../../home/session-folder.ts'
import type { AgentProgram, SessionNotes } from '../../home/session-notes.ts'
import { knownAgents } from '../computer/agents.ts'
import { type SpawnDeps, spawnSession } from './spawn.ts'

interface ForkParams {
  sessionId: string
  /** Only up to the end of the turn that starts there. */
  at?: string | undefined
  prompt?: string | null | undefined
}

/**
 * Starts a session with the history of another one on this computer, and resolves to its id. Throws, with a
 * sentence for the phone.
 */
export async function forkSession(deps: SpawnDeps, { sessionId, at, prompt }: ForkParams): Promise<string> {
  const notes = notesOf(deps.home, sessionId)
  const agent = nameOf(notes.program)
  const conversation = await forkOf(deps, notes, at)
  const started = await spawnSession(deps, {
    directory: notes.metadata.path,
    agent,
    conversation,
    parentSessionId: sessionId,
    ...(at !== undefined && { forkedFromMessageId: at }),
    ...(prompt && { prompt })
  })
  if (started.type !== 'success') throw new Error('The folder of this session no longer exists.')
  return started.sessionId
}

/**
 * The folder in which a session can be forked. Throws, with a sentence for the phone, if only the whole
 * session can be.
 */
export async function rewindPointsOf({ home, env }: SpawnDeps, session: string): Promise<RewindPoint[]> {
  const notes = notesOf(home, session)
  const own = agentEnvironment(env)
  switch (notes.program?.kind) {
    case 'claude':
      return rewindPoints(findClaudeHistory(own, conversationOf(notes)))
    case 'codex': {
      const points = await codexForking({ home, env: own }).rewindPoints(conversationOf(notes))
      return points.map(({ itemId, ...point }) => ({ uuid: itemId, ...point }))
    }
    default:
      throw new Error('Only sessions of Claude Code and Codex can be forked at one of their messages.')
  }
}

function notesOf(home: string, session: string): SessionNotes {
  const known = listSessions(home).find(({ notes }) => notes.id === session)
  if (!known) throw new Error('This computer does not know the session.')
  return known.notes
}

function conversationOf({ metadata }: SessionNotes): string {
  if (!metadata.agentSessionId) throw new Error('This session has no messages yet.')
  return metadata.agentSessionId
}

async function forkOf(deps: SpawnDeps, notes: SessionNotes, at: string | undefined): Promise<string> {
  const env = agentEnvironment(deps.env)
  const kind = notes.program?.kind
  if (kind === 'claude') return forkClaude(findClaudeHistory(env, conversationOf(notes)), at)
  if (kind === 'codex' && at !== undefined) return codexForking({ home: deps.home, env }).fork(conversationOf(notes), at)
  return forkByAgent(deps, notes, at)
}

/** The agent itself makes the second conversation, in a separate process that ends with that. */
async function forkByAgent({ home, env }: SpawnDeps, notes: SessionNotes, at: string | undefined): Promise<string> {
  const { program, metadata } = notes
  if (!program) throw new Error('This session was started by an earlier version and cannot be forked.')
  const resume = conversationOf(notes)
  const kind = kindOf(program, { home, env, mayFetch: async () => false, tell() {} })
  if (at !== undefined) throw new Error(`Sessions of ${kind.title} can only be forked as a whole.`)
  const agent = await kind.start({ directory: metadata.path, env: agentEnvironment(env), resume })
  try {
    if (!agent.fork) throw new Error(`${kind.title} has no way to fork a session.`)
    return await agent.fork()
  } finally {
    await agent.stop()
  }
}

/** The agent's name on phones. */
function nameOf(program: AgentProgram | undefined): string {
  if (program?.kind !== 'acp') return program?.kind ?? ''
  const known = knownAgents.find(agent => agent.command[0] === 'run' && agent.program === basename(program.command))
  if (!known) throw new Error(`Sessions of ${basename(program.command)} can only be forked at the terminal.`)
  return known.name
}
