import { type OpenRequest, openRequests } from './session-decisions.ts'
import type { Home, LastLine, MachineView, SessionView } from './store.ts'

/** What a session is doing, as its glyph shows it. */
export type SessionState = 'needs' | 'working' | 'done' | 'failed' | 'quiet' | 'away'

/** Something an agent waits for a person with. */
export interface OpenDecision {
  readonly session: SessionView
  readonly request: OpenRequest
}

export interface Groups {
  /** Oldest first. */
  readonly decisions: readonly OpenDecision[]
  readonly working: readonly SessionView[]
  readonly quiet: readonly SessionView[]
}

export function groupSessions(home: Home): Groups {
  const newestFirst = [...home.sessions.values()].sort((a, b) => lastMovedAt(b) - lastMovedAt(a))
  const stateOf = (session: SessionView) => stateOfSession(session, home)
  return {
    decisions: newestFirst.flatMap(openDecisions).sort((a, b) => a.request.createdAt - b.request.createdAt),
    working: newestFirst.filter(session => stateOf(session) === 'working'),
    quiet: newestFirst.filter(session => !['working', 'needs'].includes(stateOf(session)))
  }
}

/** Requests without an answer, of a session whose helper is there to take one. */
export function openDecisions(session: SessionView): OpenDecision[] {
  if (!session.isActive) return []
  return openRequests(session.agentState ?? undefined).map(request => ({ session, request }))
}

export function stateOfSession(session: SessionView, home: Pick<Home, 'seenSeq'>): SessionState {
  if (session.isActive) {
    if (openDecisions(session).length > 0) return 'needs'
    if (session.isThinking) return 'working'
  } else if (session.metadata?.lifecycleState === 'running') {
    return 'away'
  }
  if (lastLineOf(session)?.end === 'failed') return 'failed'
  if (session.last?.end === 'cancelled') return 'quiet'
  return isUnread(session, home) ? 'done' : 'quiet'
}

/** Its last line; undefined when that is how a turn ended which the running session has left behind. */
export function lastLineOf({ isActive, isThinking, last, metadata }: SessionView): LastLine | undefined {
  if (!isActive || last?.end === undefined) return last
  const isBegunAgain = (metadata?.lifecycleStateSince ?? 0) > last.at
  return isThinking || isBegunAgain || last.end === 'cancelled' ? undefined : last
}

export function isUnread(session: SessionView, { seenSeq }: Pick<Home, 'seenSeq'>): boolean {
  return session.seq > (seenSeq.get(session.id) ?? 0)
}

/** What a person calls it: the title, else the name, else the folder. Undefined when nothing of it can be read. */
export function titleOf({ metadata }: Pick<SessionView, 'metadata'>): string | undefined {
  if (!metadata) return undefined
  return [metadata.summary?.text, metadata.name, folderOf(metadata.path)].find(text => text !== undefined && text.trim() !== '')
}

/** The last part of a path, of either kind. */
export function folderOf(path: string): string {
  return path.split(/[/\\]/).findLast(part => part !== '') ?? path
}

/** What a person calls the agent. */
export function agentOf({ metadata }: Pick<SessionView, 'metadata'>): string | undefined {
  if (!metadata) return undefined
  return metadata.agentTitle ?? (metadata.flavor ? (agentNames[metadata.flavor] ?? metadata.flavor) : 'Claude Code')
}

export function hostOf({ metadata }: Pick<SessionView, 'metadata'>, machine: MachineView | undefined): string | undefined {
  return machine?.metadata?.displayName ?? machine?.metadata?.host ?? metadata?.host
}

export function lastMovedAt({ last, updatedAt, createdAt }: Pick<SessionView, 'last' | 'updatedAt' | 'createdAt'>): number {
  return last?.at ?? Math.max(updatedAt, createdAt)
}

const agentNames: Record<string, string> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini',
  opencode: 'OpenCode',
  openclaw: 'OpenClaw',
  agy: 'Antigravity',
  acp: 'Agent',
  demo: 'Demo agent'
}
