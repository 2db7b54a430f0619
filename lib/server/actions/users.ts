import { failure } from '../../protocol/wire/failures.ts'
import type { AccountId } from '../../protocol/wire/ids.ts'
import type { UserRow } from '../../store/signup.ts'
import type { LeftoverSweep } from '../chores/leftover-sweep.ts'
import type { Caller, Deps } from '../deps.ts'
import { publishRevoked } from './devices.ts'
import { fingerprintOfKey } from './signup.ts'

/** Throws unless the first account of the server asks. */
export async function mustBeOwner({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<void> {
  if ((await store.readRole(caller.account)) !== 'owner') throw failure('owner-only')
}

export async function listUsers({ store }: Pick<Deps, 'store'>): Promise<(UserRow & { fingerprint: string })[]> {
  const rows = await store.listAccounts()
  return rows.map(row => ({ ...row, fingerprint: fingerprintOfKey(row.publicKey) }))
}

/** Removes an account with everything it has, and closes its connections everywhere. */
export async function removeUser(
  deps: Pick<Deps, 'store' | 'bus'> & { leftoverSweep: Pick<LeftoverSweep, 'soon'> },
  account: AccountId
): Promise<void> {
  const outcome = await deps.store.removeAccount(account)
  if (outcome === 'missing') throw failure('account-not-found')
  if (outcome === 'owner') throw failure('owner-stays')
  publishRevoked(deps, outcome.tokens)
  deps.leftoverSweep.soon()
}
