import type { AccountId, Sealed } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'
import type { Cell, CellRef, Conflict, Written } from './rows.ts'

/** Sealed, versioned values. */
export interface CellStore {
  readSettings(account: AccountId): Promise<Cell>
  /** Writes only with the expected version and increments it; otherwise returns the current value. */
  writeCell(
    account: AccountId,
    cell: CellRef,
    expected: number,
    value: Sealed | null,
    now: number,
    quotas?: Quotas
  ): Promise<Written | Conflict | 'missing'>
}
