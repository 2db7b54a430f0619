import type { QuietDays } from '../core/preferences.ts'
import { lastMovedAt, openDecisions, stateOfSession } from './sessions.ts'
import type { Home, SessionView } from './store.ts'

/**
 * Whether a session is in the archive: a person put it there and nothing was said since, or it was idle for long. A session that needs a person,
 * works, failed, is unread or is pinned on this device is never archived automatically.
 */
export function isArchived(
  session: SessionView,
  home: Pick<Home, 'seenSeq' | 'pinned' | 'machines' | 'asOf'>,
  { quietDays, now }: ArchiveRule
): boolean {
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

/** By a person, on any device. The last messages of an agent that ends because of it come a moment later and do not unarchive it. */
function isPutAway({ metadata, last }: SessionView): boolean {
  const at = metadata?.archivedAt
  return typeof at === 'number' && (last?.at ?? 0) <= at + lastWordsMs
}

/** The archive by month, newest first. */
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

/** Longer than the undo bar is shown and an agent takes to end after it. */
const lastWordsMs = 60_000
const dayMs = 24 * 3600_000
