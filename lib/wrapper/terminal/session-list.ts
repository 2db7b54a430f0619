import { homedir } from 'node:os'
import type { KnownSession, SessionNotes } from '../session-folder.ts'
import { fit, plain, type Style } from './style.ts'

/** What a person sees of each session, in the order given, with the number by which it is picked. */
export function drawSessions(sessions: readonly KnownSession[], now: number, style: Style, columns: number): string[] {
  const numberWidth = String(sessions.length).length
  return sessions.flatMap((session, index) => {
    const { metadata } = session.notes
    const room = columns - numberWidth - 5
    const number = String(index + 1).padStart(numberWidth)
    const state = session.pid === undefined ? `ended ${ago(now - session.at)}` : 'runs now'
    const about = `${metadata.agentTitle ?? 'An agent'} in ${tilde(metadata.path)}, ${state}`
    return [
      `  ${style.bold(number)}  ${fit(plain(titleOf(session.notes)), room)}`,
      `  ${' '.repeat(numberWidth)}  ${style.dim(fit(plain(about), room))}`
    ]
  })
}

/** Those in which every word stands somewhere: in the title, the folder, the agent or the id. */
export function findSessions(sessions: readonly KnownSession[], words: readonly string[]): KnownSession[] {
  return sessions.filter(({ notes }) => {
    const { metadata, id = '' } = notes
    const text = [titleOf(notes), metadata.path, metadata.agentTitle ?? '', id].join('\n').toLowerCase()
    return words.every(word => text.includes(word.toLowerCase()))
  })
}

function titleOf({ metadata, firstPrompt }: SessionNotes): string {
  return metadata.name || metadata.summary?.text || firstPrompt?.trim() || 'Nothing was said yet'
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

export function tilde(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}
