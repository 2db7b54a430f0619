import type { AccountId } from '../protocol/wire/ids.ts'
import type { RowRef } from './rows.ts'

/** Which sessions and machines are active, as last seen. */
export interface PresenceStore {
  /** Presence; best effort, does not move the clock. A missing or foreign row is skipped. */
  markActive(marks: readonly { account: AccountId; row: RowRef; active: boolean; at: number }[]): Promise<void>
  /** Marks rows without a keepalive since `before` as inactive and returns them. */
  sweepActive(before: number): Promise<{ account: AccountId; row: RowRef; activeAt: number }[]>
}
