import { failure } from '../../../protocol/wire/failures.ts'
import type { Asker, Deps } from '../../deps.ts'

/** Throws unless the caller is the first account of the server, or the operator. */
export async function mustBeOwner({ store }: Pick<Deps, 'store'>, by: Asker): Promise<void> {
  if (by !== 'operator' && (await store.readRole(by.account)) !== 'owner') throw failure('owner-only')
}
