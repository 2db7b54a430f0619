import type { AccountId, Sealed } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'
import type { Cell, CellRef, Conflict, Written } from './rows.ts'

/** Sealed values that are written over a version. */
export interface CellStore {
  readSettings(account: AccountId): Promise<Cell>
  /** Writes only over the expected version and adds one to it; otherwise returns what is there. */
  writeCell(
    account: AccountId,
    cell: CellRef,
    expected: number,
    value: Sealed | null,
    now: number,
    quotas?: Quotas
  ): Promise<Written | Conflict | 'missing'>
}
