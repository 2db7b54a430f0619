import type { AccountId, Sealed, SessionId } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'
import type { SessionRow } from './rows.ts'

/** The sessions of an account. */
export interface SessionStore {
  /** The same tag on the same account always names the same session, which a repeat returns unchanged. */
  openSession(
    account: AccountId,
    draft: { id: SessionId; tag: string; metadata: Sealed; agentState: Sealed | null; dataKey: Sealed | null; now: number },
    quotas?: Quotas
  ): Promise<{ session: SessionRow; created: boolean; clock: number }>
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
