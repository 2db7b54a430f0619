import type { AccountId, SessionId } from '../protocol/wire/ids.ts'

/** Storage used by one account. */
interface AccountStorage {
  sessions: number
  messages: number
  bytes: {
    /** Of their sealed text. */
    messages: number
    /** Including unfinished ones and those waiting to be swept. */
    attachments: number
    artifacts: number
    /**
     * The size of sessions, machines, settings and keys with values; the only amount here without a
     * quota.
     */
    state: number
  }
}

/** Storage used by one session: its messages, as sealed text, and its attachments. */
export interface SessionSize {
  id: SessionId
  bytes: number
}

export interface StorageStore {
  readStorage(account: AccountId): Promise<AccountStorage | 'missing'>
  /** Of every session of the account. */
  readSessionSizes(account: AccountId): Promise<SessionSize[]>
}
