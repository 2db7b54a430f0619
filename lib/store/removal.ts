import type { AccountId, SessionId } from '../protocol/wire/ids.ts'
import type { RemovableRef } from './rows.ts'

/** Removing what an account no longer wants, or may no longer keep. */
export interface RemovalStore {
  /**
   * A session is removed with its messages, usage and notices, a machine without its sessions; access
   * keys go with either. All of it is missing at once and no longer counts, except that attachment
   * bytes count until `sweepLeftovers` has removed them. That also removes anything else too large for
   * one transaction, even after a restart.
   */
  remove(account: AccountId, row: RemovableRef): Promise<{ clock: number } | 'missing'>
  /** Removes at most `limit` inactive sessions that nobody touched since `before`, as `remove` does. */
  removeOldSessions(before: number, limit: number): Promise<{ account: AccountId; session: SessionId; clock: number }[]>
  /**
   * Removes some expired uploads or attachments of removed sessions, or the next piece of a removed
   * session, machine or account: little enough that concurrent writes hardly wait. `more`: there may
   * be another.
   */
  sweepLeftovers(now: number): Promise<'more' | 'done'>
}
