import type { Sealed } from '../../protocol/wire/ids.ts'
import type { CellRef, Conflict, Written } from '../../store/rows.ts'
import type { Caller, Deps } from '../deps.ts'
import { announce } from '../publish.ts'

/** Replaces a versioned value with the expected version; a conflict returns the current value. */
export async function writeCell(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'quotas'>,
  caller: Caller,
  cell: CellRef,
  expected: number,
  value: Sealed | null
): Promise<Written | Conflict | 'missing'> {
  const outcome = await deps.store.writeCell(caller.account, cell, expected, value, deps.now(), deps.quotas(caller.account))
  if (outcome !== 'missing' && outcome.written) {
    announce(deps, caller, outcome.clock, { type: 'cell-written', cell, now: { version: outcome.version, value } })
  }
  return outcome
}
