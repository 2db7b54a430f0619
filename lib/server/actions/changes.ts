import type { QueryOf } from '../../protocol/wire/routes.ts'
import type { Changes, StartOver } from '../../store/changes.ts'
import type { Caller, Deps } from '../deps.ts'

/** The changes after a clock, or that the caller has to start over. */
export async function readChanges(
  { store }: Pick<Deps, 'store'>,
  caller: Caller,
  { since, began, epoch, limit }: QueryOf<'readChanges'>
): Promise<Changes | StartOver> {
  return store.changesSince(caller.account, { since, began, epoch, limit })
}
