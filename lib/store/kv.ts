import type { AccountId, KvKey, Sealed } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'

export interface KvRow {
  key: KvKey
  value: Sealed
  version: number
}

/** A value of null removes the key, whose version continues to rise. */
export interface KvChange {
  key: KvKey
  value: Sealed | null
  version: number
}

export type KvWritten = { written: true; changes: KvChange[]; clock: number } | { written: false; conflicts: KvChange[] }

export interface KvStore {
  /** The keys that have a value, in the order requested. */
  readKv(account: AccountId, keys: readonly KvKey[]): Promise<KvRow[]>
  /** Keys that begin with the prefix, in the order of their UTF-8 bytes. */
  listKv(account: AccountId, ask: { prefix: string; limit: number }): Promise<KvRow[]>
  /**
   * All or nothing, moving the clock once. Each change names the version it replaces, -1 for a key
   * never written; the new value has one more. The keys are all different. A conflict returns the
   * current values, version -1 for none.
   */
  mutateKv(account: AccountId, changes: readonly KvChange[], now: number, quotas?: Quotas): Promise<KvWritten>
}
