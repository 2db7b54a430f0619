import { CannotStart } from '../../../exit.ts'
import { failure } from '../../../protocol/wire/failures.ts'
import type { AccountId } from '../../../protocol/wire/ids.ts'
import type { UserRow } from '../../../store/access/accounts.ts'
import type { LeftoverSweep } from '../../chores/leftover-sweep.ts'
import type { Asker, Deps } from '../../deps.ts'
import { publishRevoked } from './devices.ts'
import { mustBeOwner } from './owner.ts'
import { fingerprintOfKey } from './signup.ts'

/** The account named by the operator, or the only one. Throws `CannotStart` with advice. */
export async function readAccountId({ store }: Pick<Deps, 'store'>, named: AccountId | undefined): Promise<AccountId> {
  const accounts = await store.listAccounts()
  const [only, ...others] = accounts
  const found = named === undefined ? (others.length === 0 ? only : undefined) : accounts.find(({ id }) => id === named)
  if (found) return found.id
  if (named !== undefined) throw new CannotStart(`There is no account ${named}; "users" lists them.`)
  throw new CannotStart(
    accounts.length === 0
      ? 'There are no accounts yet.'
      : `There are ${accounts.length} accounts; choose one with --account. "users" lists them.`
  )
}

export async function listUsers(deps: Pick<Deps, 'store'>, by: Asker): Promise<(UserRow & { fingerprint: string })[]> {
  await mustBeOwner(deps, by)
  const rows = await deps.store.listAccounts()
  return rows.map(row => ({ ...row, fingerprint: fingerprintOfKey(row.publicKey) }))
}

/** Removes another account, as the owner of the server. */
export async function removeUser(deps: RemovalDeps, by: Asker, account: AccountId): Promise<void> {
  await mustBeOwner(deps, by)
  await removeAccount(deps, account)
}

interface RemovalDeps extends Pick<Deps, 'store' | 'bus'> {
  leftoverSweep: Pick<LeftoverSweep, 'soon'>
}

/**
 * Removes an account with everything in it, and closes its connections everywhere. The caller checks
 * permission.
 */
export async function removeAccount(deps: RemovalDeps, account: AccountId): Promise<void> {
  const outcome = await deps.store.removeAccount(account)
  if (outcome === 'missing') throw failure('account-not-found')
  if (outcome === 'owner') throw failure('owner-stays')
  publishRevoked(deps, outcome.tokens)
  deps.leftoverSweep.soon()
}
