import type { AccountId, MachineId, SessionId } from '../protocol/wire/ids.ts'
import type { ArtifactHead } from './artifacts.ts'
import type { KvChange } from './kv.ts'
import type { Cell, MachineRow, RemovableRef, SessionRow } from './rows.ts'

/** How many removals an account remembers; of older ones it only knows that they existed. */
export const mostRemovalsKept = 1_000

export interface ChangesAsk {
  /** The epoch that `since` belongs to; undefined when nothing is known yet. */
  epoch: string | undefined
  /** Everything up to this clock is known; 0 for nothing. */
  since: number
  /** On the second page and later: the clock at which the reading began, as given by the first page. */
  began: number | undefined
  limit: number
}

/**
 * Current rows, in the order of their clocks. A removal precedes the rows of its page: an id may have
 * been used again.
 */
export interface ChangedRows {
  sessions: SessionRow[]
  machines: MachineRow[]
  settings: Cell | undefined
  artifacts: ArtifactHead[]
  /** A value of null: the key is removed. */
  kv: KvChange[]
  removed: RemovableRef[]
}

export interface ActiveRows {
  sessions: { id: SessionId; activeAt: number }[]
  machines: { id: MachineId; activeAt: number }[]
}

export interface Changes extends ChangedRows {
  complete: true
  epoch: string
  /** Everything up to here is included; the account's own clock on the last page. */
  clock: number
  began: number
  more: boolean
  /** On the last page: the rows that are active now. Presence does not move the clock. */
  active: ActiveRows | undefined
}

/** The request cannot be answered completely: drop every row and ask from 0. */
export interface StartOver {
  complete: false
  epoch: string
  clock: number
}

export interface ChangeStore {
  /** The clocks of these accounts at one moment; a missing account has none. */
  readClocks(accounts: readonly AccountId[]): Promise<Map<AccountId, number>>
  /**
   * The rows that changed after `since`, at most `limit` and a few MiB, but always all of one clock.
   * Start over if `since` is of another epoch or above the account's clock, or if removals after it
   * are no longer remembered.
   */
  changesSince(account: AccountId, ask: ChangesAsk): Promise<Changes | StartOver>
}
