import type { QuietDays } from '../core/preferences.ts'
import { lastMovedAt, openDecisions, stateOfSession } from './sessions.ts'
import type { Home, SessionView } from './store.ts'

/**
 * Whether a session stands in the archive. A person put it there and nothing was said since, or it was quiet for long. What needs a person,
 * works, failed, is unread or stands first on this device is never put away by itself.
 */
export function isArchived(session: SessionView, home: Pick<Home, 'seenSeq' | 'pinned'>, { quietDays, now }: ArchiveRule): boolean {
  const state = stateOfSession(session, home)
  if (state === 'working' || openDecisions(session).length > 0) return false
  if (isPutAway(session)) return true
  if (quietDays === 'never' || home.pinned.has(session.id) || state === 'failed' || state === 'done') return false
  const movedAt = Math.max(lastMovedAt(session), session.metadata?.restoredAt ?? 0)
  return now - movedAt > quietDays * dayMs
}

interface ArchiveRule {
  readonly quietDays: QuietDays
  /** In ms since 1970. */
  readonly now: number
}

/** By a person, on whichever device. The last words of an agent that ends for it come a moment later and do not take it out again. */
function isPutAway({ metadata, last }: SessionView): boolean {
  const at = metadata?.archivedAt
  return typeof at === 'number' && (last?.at ?? 0) <= at + lastWordsMs
}

/** The archive by months, the latest first. */
export function byMonth(sessions: readonly SessionView[]): { month: string; at: number; sessions: SessionView[] }[] {
  const months = new Map<string, { month: string; at: number; sessions: SessionView[] }>()
  for (const session of [...sessions].sort((a, b) => lastMovedAt(b) - lastMovedAt(a))) {
    const at = lastMovedAt(session)
    const date = new Date(at)
    const month = `${date.getFullYear()}-${date.getMonth() + 1}`
    const known = months.get(month)
    if (known) known.sessions.push(session)
    else months.set(month, { month, at, sessions: [session] })
  }
  return [...months.values()]
}

/** Longer than an undo bar stays and an agent takes to end after it. */
const lastWordsMs = 60_000
const dayMs = 24 * 3600_000
