import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { endedIn, readNotes } from '../../home/session-folder.ts'
import { settledUpTo, wakingReason } from '../../home/session-notes.ts'

/** What must be known of an ended session to see whether something waits for its agent. */
interface EndedSession {
  id: string
  server: string
  /** Messages up to here do not resume it. */
  settledUpTo: number
  /** Names the person's last reason waiting in it. */
  reason: string | undefined
}

interface EndedSessions {
  /** Their current state on disk, whichever process ended or resumed one. */
  all(): readonly EndedSession[]
}

// Some disks have no finer timestamps.
const coarsestMs = 3_000
const readAnywayMs = 5 * 60_000

/**
 * The ended sessions of this computer. They are read again if one was added or removed; otherwise checking
 * them is checking one folder.
 */
export function openEndedSessions(home: string, now: () => number = Date.now): EndedSessions {
  const folder = endedIn(home)
  let read: { changedAt: number; at: number; sessions: readonly EndedSession[] } | undefined
  let known = new Map<string, { version: string; session: EndedSession | undefined }>()

  const readAll = (): readonly EndedSession[] => {
    const before = known
    known = new Map()
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      const version = versionOf(path)
      const unchanged = before.get(name)
      known.set(name, unchanged?.version === version ? unchanged : { version, session: readEnded(path) })
    }
    return [...known.values()].flatMap(({ session }) => session ?? [])
  }
  return {
    all() {
      const changedAt = statSync(folder).mtimeMs
      const at = now()
      const isOld = read && (read.changedAt !== changedAt || at < read.at || at - read.at > readAnywayMs)
      // Changes during the read may have been missed, and the next change may have the same timestamp.
      const isSure = read && Math.abs(read.at - read.changedAt) > coarsestMs
      if (!read || isOld || !isSure) read = { changedAt, at, sessions: readAll() }
      return read.sessions
    }
  }
}

function readEnded(path: string): EndedSession | undefined {
  const notes = readNotes(path)
  if (notes?.id === undefined || !notes.program) return undefined
  const known = { path, notes }
  return { id: notes.id, server: notes.server, settledUpTo: settledUpTo(known), reason: wakingReason(known) }
}

/** Notes are replaced as a whole, never modified in place. */
function versionOf(path: string): string {
  const stat = statSync(join(path, 'session.json'), { throwIfNoEntry: false })
  return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : ''
}
