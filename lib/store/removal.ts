import type { AccountId, SessionId } from '../protocol/wire/ids.ts'
import type { RemovableRef } from './rows.ts'

/** Taking away what an account no longer wants, or may no longer keep. */
export interface RemovalStore {
  /**
   * A session goes with its messages, usage and notices, a machine leaves its sessions; access keys go with either. All of it is
   * missing at once and counts no more, save that the bytes of attachments count until `sweepLeftovers` has removed them, as it
   * does what else is too much for one transaction, also after a restart.
   */
  remove(account: AccountId, row: RemovableRef): Promise<{ clock: number } | 'missing'>
  /** Removes at most `limit` sessions that are not active and that nobody touched since `before`, as `remove` does. */
  removeOldSessions(before: number, limit: number): Promise<{ account: AccountId; session: SessionId; clock: number }[]>
  /**
   * Removes some uploads whose time is over or attachments of removed sessions, or the next piece of what is left of a removed
   * session, machine or account: little enough that whoever writes meanwhile hardly waits. `more`: there may be another.
   */
  sweepLeftovers(now: number): Promise<'more' | 'done'>
}
