import { homedir } from 'node:os'
import type { AgentHistory } from '../../protocol/sealed/calls/machine-work.ts'
import { titleOfPrompt } from '../../protocol/sealed/plain-line.ts'
import type { KnownSession } from '../home/session-folder.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import { fit, fitPath, plain, type Style, widthOf } from './style.ts'

/** A session with the number that a person uses for it, the same in every command: its position among all sessions of this computer. */
export interface NumberedSession extends KnownSession {
  number: number
}

export function numbered(sessions: readonly KnownSession[]): NumberedSession[] {
  return sessions.map((session, index) => ({ ...session, number: index + 1 }))
}

/** The list of sessions for a person, in the order given; with `ids` also their ids on the server. */
export function drawSessions(
  sessions: readonly NumberedSession[],
  now: number,
  style: Style,
  columns: number,
  { ids = false }: { ids?: boolean } = {}
): string[] {
  return drawNumbered(
    sessions.map(({ notes, pid, at, number }) => ({
      number,
      title: titleOf(notes),
      agent: notes.metadata.agentTitle ?? 'An agent',
      folder: notes.metadata.path,
      state: pid === undefined ? `ended ${ago(now - at)}` : 'running now',
      ...(ids && { id: notes.id ?? 'not on the server yet' })
    })),
    style,
    columns
  )
}

/** The same for a program. */
export function describeSessions(sessions: readonly NumberedSession[]) {
  return sessions.map(({ notes, pid, at, number }) => ({
    number,
    id: notes.id,
    title: titleOf(notes),
    agent: notes.metadata.agentTitle,
    folder: notes.metadata.path,
    isRunning: pid !== undefined,
    notedAt: new Date(at).toISOString()
  }))
}

interface Entry {
  /** Otherwise its position in the list. */
  number?: number
  title: string
  agent: string
  folder: string
  state: string
  id?: string
}

/** Two lines each, three on a narrow screen, and one more for an id. A folder that is too long keeps its end. */
export function drawNumbered(entries: readonly Entry[], style: Style, columns: number): string[] {
  const numberWidth = String(Math.max(...entries.map(({ number }, index) => number ?? index + 1))).length
  const room = columns - numberWidth - 5
  return entries.flatMap(({ number, title, agent, folder, state, id }, index) => {
    return [
      `  ${style.bold(String(number ?? index + 1).padStart(numberWidth))}  ${fit(plain(title), room)}`,
      ...[...about({ agent, folder, state }, room), ...(id === undefined ? [] : [id])].map(
        line => `  ${' '.repeat(numberWidth)}  ${style.dim(line)}`
      )
    ]
  })
}

/** The state gets its own line if too little of the folder would remain. */
function about({ agent, folder, state }: Pick<Entry, 'agent' | 'folder' | 'state'>, room: number): string[] {
  const [before, path, behind] = [plain(`${agent} in`), plain(tilde(folder)), plain(`, ${state}`)]
  const left = room - widthOf(before) - 1
  if (left - widthOf(behind) >= Math.min(widthOf(path), leastPath)) return [`${before} ${fitPath(path, left - widthOf(behind))}${behind}`]
  return [fit(`${before} ${fitPath(path, Math.max(8, left))}`, room), plain(state)]
}

const leastPath = 14

/** Sessions that contain every word: in the title, the folder, the agent or the id. */
export function findSessions<Session extends KnownSession>(sessions: readonly Session[], words: readonly string[]): Session[] {
  return sessions.filter(({ notes }) => {
    const { metadata, id = '' } = notes
    const text = [titleOf(notes), metadata.path, metadata.agentTitle ?? '', id].join('\n').toLowerCase()
    return words.every(word => text.includes(word.toLowerCase()))
  })
}

function titleOf({ metadata, firstPrompt }: SessionNotes): string {
  return metadata.name || metadata.summary?.text || titleOfPrompt(firstPrompt ?? '') || 'No messages yet'
}

export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h ago`
  const days = Math.floor(hours / 24)
  return days === 1 ? 'yesterday' : `${days} days ago`
}

function tilde(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** Conversations of agents, numbered for a person to pick one. */
export function drawHistories(histories: readonly AgentHistory[], now: number, style: Style, columns: number): string[] {
  const entries = histories.map(({ agent, title, folder, at, openIn }) => ({
    title,
    agent,
    folder,
    state: openIn ? 'open now' : ago(now - at)
  }))
  return drawNumbered(entries, style, columns)
}
