import type { AccountId, Sealed, SessionId } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'
import type { SessionRow } from './rows.ts'

export interface SessionDraft {
  id: SessionId
  tag: string
  metadata: Sealed
  agentState: Sealed | null
  dataKey: Sealed | null
  now: number
}

/** The sessions of an account. */
export interface SessionStore {
  /** The same tag on the same account always names the same session, which a repeat returns unchanged. */
  openSession(account: AccountId, draft: SessionDraft, quotas?: Quotas): Promise<{ session: SessionRow; created: boolean; clock: number }>
  listSessions(account: AccountId, limit: number): Promise<SessionRow[]>
  /** Active ones with a keepalive after `since`, latest first. */
  listActiveSessions(account: AccountId, ask: { since: number; limit: number }): Promise<SessionRow[]>
  /** By id, descending: those below `before` that changed after `changedSince`. */
  pageSessions(
    account: AccountId,
    page: { before: string | undefined; changedSince: number; limit: number }
  ): Promise<{ sessions: SessionRow[]; more: boolean }>
  findSession(account: AccountId, session: SessionId): Promise<SessionRow | 'missing'>
}

/** A session as a database returns it; SQLite has no booleans. */
export interface FlatSession extends Omit<SessionRow, 'metadata' | 'agentState' | 'active'> {
  metadata: Sealed | null
  metadataVersion: number
  agentState: Sealed | null
  agentStateVersion: number
  active: boolean | number
}

export function sessionOf({ metadata, metadataVersion, agentState, agentStateVersion, active, ...row }: FlatSession): SessionRow {
  return {
    ...row,
    metadata: { version: metadataVersion, value: metadata },
    agentState: { version: agentStateVersion, value: agentState },
    active: Boolean(active)
  }
}

/** What a draft is once it is stored. */
export function openedSession({ id, metadata, agentState, dataKey, now }: SessionDraft): SessionRow {
  return {
    id,
    metadata: { version: 0, value: metadata },
    agentState: { version: 0, value: agentState },
    dataKey,
    lastSeq: 0,
    deliveredSeq: 0,
    readSeq: 0,
    active: true,
    activeAt: now,
    createdAt: now,
    updatedAt: now
  }
}
