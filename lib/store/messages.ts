import type { AccountId, SessionId } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'
import type { Appended, MessageDraft, Page } from './rows.ts'

export interface Receipts {
  deliveredSeq: number
  readSeq: number
}

/** The messages of sessions, and their receipts. */
export interface MessageStore {
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
  /**
   * Each number only rises, to the session's last seq at most; a read message counts as delivered.
   * `moved`: whether one rose, and with it the clock.
   */
  markReceipts(
    account: AccountId,
    session: SessionId,
    upTo: Partial<Receipts>
  ): Promise<(Receipts & { moved: boolean; clock: number }) | 'missing'>
}
