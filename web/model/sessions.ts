import { flavorOf } from '../../lib/client/happy/wrappers.ts'
import { plainLine } from '../../lib/protocol/sealed/plain-line.ts'
import type { SessionMetadata } from '../../lib/protocol/sealed/session.ts'
import { type OpenRequest, openRequests } from './decisions/decisions.ts'
import { type OpenQuestion, openQuestions } from './decisions/questions.ts'
import type { Home, LastLine, MachineView, SessionView } from './store.ts'

/** The state of a session, as its glyph shows it. `quiet`: its agent is connected and idle; of one that `ended` nothing runs. */
export type SessionState = 'needs' | 'working' | 'done' | 'failed' | 'quiet' | 'ended' | 'away'

/** An open request of an agent. */
export type OpenDecision = { readonly session: SessionView; readonly id: string; readonly createdAt: number } & (
  | { readonly type: 'permission'; readonly request: OpenRequest }
  | { readonly type: 'question'; readonly question: OpenQuestion }
)

export interface Groups {
  /** Oldest first. */
  readonly decisions: readonly OpenDecision[]
  readonly working: readonly SessionView[]
  readonly quiet: readonly SessionView[]
  readonly archived: readonly SessionView[]
}

/** Sessions of one folder of one machine. */
interface FolderGroup {
  readonly key: string
  readonly folder: string
  readonly machineId: string | undefined
  readonly sessions: readonly SessionView[]
}

/** Pinned ones first, then by last activity. */
export function groupSessions(home: Home, isAway: (session: SessionView) => boolean = () => false): Groups {
  const isPinned = ({ id }: SessionView) => (home.pinned.has(id) ? 1 : 0)
  const inOrder = [...home.sessions.values()].sort((a, b) => isPinned(b) - isPinned(a) || lastMovedAt(b) - lastMovedAt(a))
  const stateOf = (session: SessionView) => stateOfSession(session, home)
  const resting = inOrder.filter(session => !['working', 'needs'].includes(stateOf(session)))
  return {
    decisions: inOrder.flatMap(openDecisions).sort((a, b) => a.createdAt - b.createdAt),
    working: inOrder.filter(session => stateOf(session) === 'working'),
    quiet: resting.filter(session => !isAway(session)),
    archived: resting.filter(isAway)
  }
}

/** The same sessions by folder, starting with the folder of the first. */
export function byFolder(sessions: readonly SessionView[]): FolderGroup[] {
  const groups = new Map<string, FolderGroup & { sessions: SessionView[] }>()
  for (const session of sessions) {
    const { machineId } = session.metadata ?? {}
    const path = session.metadata ? projectPath(session.metadata) : ''
    const key = `${machineId ?? ''} ${path}`
    const known = groups.get(key)
    if (known) known.sessions.push(session)
    else groups.set(key, { key, folder: folderName(path), machineId, sessions: [session] })
  }
  return [...groups.values()]
}

function waiting(session: SessionView, { id, createdAt }: { id: string; createdAt: number }) {
  return { session, id, createdAt }
}

/** Open permissions and questions, of a session whose daemon can accept an answer. */
export function openDecisions(session: SessionView): OpenDecision[] {
  if (!session.isActive) return []
  const state = session.agentState ?? undefined
  const requests = openRequests(state).map(request => ({ type: 'permission' as const, request, ...waiting(session, request) }))
  const questions = openQuestions(state).map(question => ({ type: 'question' as const, question, ...waiting(session, question) }))
  return [...requests, ...questions].sort((a, b) => a.createdAt - b.createdAt)
}

/** Its computer was unlinked: the account no longer lists it, so nothing there can go on with the session. */
export function isUnlinked({ metadata }: Pick<SessionView, 'metadata'>, { machines, asOf }: Pick<Home, 'machines' | 'asOf'>): boolean {
  // Before everything was listed once, computers may still be on their way.
  return asOf !== undefined && metadata?.machineId !== undefined && !machines.has(metadata.machineId)
}

export function stateOfSession(session: SessionView, home: Pick<Home, 'seenSeq' | 'machines' | 'asOf'>): SessionState {
  if (session.isActive) {
    if (openDecisions(session).length > 0) return 'needs'
    if (session.isThinking) return 'working'
  } else if (session.metadata?.lifecycleState === 'running' && !isUnlinked(session, home)) {
    return 'away'
  }
  if (lastLineOf(session)?.end === 'failed') return 'failed'
  if (session.last?.end !== 'cancelled' && isUnread(session, home)) return 'done'
  return session.isActive ? 'quiet' : 'ended'
}

/** Its last line; undefined if it is the end of a turn that the running session has already passed. */
export function lastLineOf({ isActive, isThinking, last, metadata }: SessionView): LastLine | undefined {
  if (!isActive || last?.end === undefined) return last
  const isBegunAgain = (metadata?.lifecycleStateSince ?? 0) > last.at
  return isThinking || isBegunAgain || last.end === 'cancelled' ? undefined : last
}

export function isUnread(session: SessionView, { seenSeq }: Pick<Home, 'seenSeq'>): boolean {
  return session.seq > (seenSeq.get(session.id) ?? 0)
}

/** The display name of a session: the title, otherwise the name, otherwise the folder. Undefined if nothing can be decrypted. */
export function titleOf({ metadata }: Pick<SessionView, 'metadata'>): string | undefined {
  if (!metadata) return undefined
  return [metadata.summary?.text, metadata.name, projectOf(metadata)].map(text => plainLine(text ?? '')).find(text => text !== '')
}

/** The display name of a session's place: the folder of the project, also if it works in a copy. */
export function projectOf(metadata: Place): string {
  return folderName(projectPath(metadata))
}

/** It works in a copy of the project. */
export function isInCopy(metadata: Place): boolean {
  return projectPath(metadata) !== metadata.path
}

type Place = Pick<SessionMetadata, 'path' | 'worktree'>

// Copies made by an agent or another wrapper reveal their project by their path.
function projectPath({ path, worktree }: Place): string {
  const below = worktree && path.startsWith(worktree.path) ? path.slice(worktree.path.length) : undefined
  if (worktree && below !== undefined && /^(?:$|[/\\])/.test(below)) return worktree.repository + below
  return path.replace(/[/\\]\.(?:claude[/\\]worktrees|dev[/\\]worktree)[/\\][^/\\]+/, '')
}

/** The last part of a path of either kind. */
export function folderName(path: string): string {
  return path.split(/[/\\]/).findLast(part => part !== '') ?? path
}

/** The display name of the agent. */
export function agentOf({ metadata }: Pick<SessionView, 'metadata'>): string | undefined {
  if (!metadata) return undefined
  return metadata.agentTitle ?? agentNames[flavorOf(metadata)] ?? flavorOf(metadata)
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
