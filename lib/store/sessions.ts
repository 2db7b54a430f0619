import type { AccountId, Sealed, SessionId } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'
import type { Appended, MessageDraft, Page, SessionRow } from './rows.ts'

/** Sessions and their messages. */
export interface SessionStore {
  /** The same tag on the same account always names the same session, which a repeat returns unchanged. */
  openSession(
    account: AccountId,
    draft: { id: SessionId; tag: string; metadata: Sealed; agentState: Sealed | null; dataKey: Sealed | null; now: number },
    quotas?: Quotas
  ): Promise<{ session: SessionRow; created: boolean; clock: number }>
  listSessions(account: AccountId, limit: number): Promise<SessionRow[]>
  /** Those marked as active that showed a sign of life after `since`, the latest first. */
  listActiveSessions(account: AccountId, ask: { since: number; limit: number }): Promise<SessionRow[]>
  /** By id, descending: those below `before` that changed after `changedSince`. */
  pageSessions(
    account: AccountId,
    page: { before: string | undefined; changedSince: number; limit: number }
  ): Promise<{ sessions: SessionRow[]; more: boolean }>
  findSession(account: AccountId, session: SessionId): Promise<SessionRow | 'missing'>
  /** Removes at most `limit` sessions that are not active and that nobody touched since `before`, as `remove` does. */
  removeOldSessions(before: number, limit: number): Promise<{ account: AccountId; session: SessionId; clock: number }[]>

  /** Stores each draft at most once per localId and numbers the new ones without gaps, in the order given. `full`: no seq below 2^31 - 1 is left. */
  appendMessages(
    account: AccountId,
    session: SessionId,
    drafts: readonly MessageDraft[],
    now: number,
    quotas?: Quotas
  ): Promise<Appended | 'missing' | 'full'>
  /** `after`: ascending; `before`: descending. Exactly one of them. */
  readMessages(
    account: AccountId,
    session: SessionId,
    page: { after: number; limit: number } | { before: number; limit: number }
  ): Promise<Page | 'missing'>
}
