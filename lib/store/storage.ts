import type { AccountId } from '../protocol/wire/ids.ts'

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

export interface StorageStore {
  readStorage(account: AccountId): Promise<AccountStorage | 'missing'>
}
