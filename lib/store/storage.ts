import type { AccountId, SessionId } from '../protocol/wire/ids.ts'

/** What one account keeps on the server. */
export interface AccountStorage {
  sessions: number
  messages: number
  bytes: {
    /** Of their sealed text. */
    messages: number
    /** Unfinished ones and those that wait to be swept too. */
    attachments: number
    artifacts: number
    /** What sessions, machines, settings and keys with values hold besides; the one amount here that no quota counts. */
    state: number
  }
}

/** What one session keeps: its messages, as their sealed text, and its attachments. */
export interface SessionSize {
  id: SessionId
  bytes: number
}

export interface StorageStore {
  readStorage(account: AccountId): Promise<AccountStorage | 'missing'>
  /** Of every session of the account. */
  readSessionSizes(account: AccountId): Promise<SessionSize[]>
}
