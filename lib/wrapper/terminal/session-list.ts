import { homedir } from 'node:os'
import { titleOfPrompt } from '../../protocol/sealed/plain-line.ts'
import type { KnownSession, SessionNotes } from '../session-folder.ts'
import { fit, fitPath, plain, type Style } from './style.ts'

/** What a person sees of each session, in the order given, with the number by which it is picked. */
export function drawSessions(sessions: readonly KnownSession[], now: number, style: Style, columns: number): string[] {
  return drawNumbered(
    sessions.map(({ notes, pid, at }) => ({
      title: titleOf(notes),
      agent: notes.metadata.agentTitle ?? 'An agent',
      folder: notes.metadata.path,
      state: pid === undefined ? `ended ${ago(now - at)}` : 'runs now'
    })),
    style,
    columns
  )
}

interface Entry {
  title: string
  agent: string
  folder: string
  state: string
}

/** Two lines for each. Of a folder that is too long the end is left, so that what stands behind it can be read. */
export function drawNumbered(entries: readonly Entry[], style: Style, columns: number): string[] {
  const numberWidth = String(entries.length).length
  const room = columns - numberWidth - 5
  return entries.flatMap(({ title, agent, folder, state }, index) => {
    const [before, behind] = [plain(`${agent} in `), plain(`, ${state}`)]
    const about = `${before} ${fitPath(plain(tilde(folder)), Math.max(10, room - before.length - 1 - behind.length))}${behind}`
    return [
      `  ${style.bold(String(index + 1).padStart(numberWidth))}  ${fit(plain(title), room)}`,
      `  ${' '.repeat(numberWidth)}  ${style.dim(fit(about, room))}`
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
  return metadata.name || metadata.summary?.text || titleOfPrompt(firstPrompt ?? '') || 'Nothing was said yet'
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
