import { failure } from '../../protocol/wire/failures.ts'
import type { Sealed } from '../../protocol/wire/ids.ts'
import type { AccessKeyRef, AccessKeyRow } from '../../store/machines.ts'
import type { Conflict } from '../../store/rows.ts'
import type { Caller, Deps } from '../deps.ts'

export async function readAccessKey({ store }: Pick<Deps, 'store'>, caller: Caller, of: AccessKeyRef): Promise<AccessKeyRow | null> {
  const row = await store.findAccessKey(caller.account, of)
  if (row === 'missing') throw failure('access-key-place-not-found')
  return row === 'none' ? null : row
}

export async function addAccessKey(
  { store, now, quotas }: Pick<Deps, 'store' | 'now' | 'quotas'>,
  caller: Caller,
  of: AccessKeyRef,
  data: Sealed
): Promise<AccessKeyRow> {
  const row = await store.addAccessKey(caller.account, of, data, now(), quotas(caller.account))
  if (row === 'missing') throw failure('access-key-place-not-found')
  if (row === 'taken') throw failure('access-key-exists')
  return row
}

export async function writeAccessKey(
  { store, now, quotas }: Pick<Deps, 'store' | 'now' | 'quotas'>,
  caller: Caller,
  of: AccessKeyRef,
  { data, expectedVersion }: { data: Sealed; expectedVersion: number }
): Promise<{ written: true; version: number } | Conflict> {
  const outcome = await store.writeAccessKey(caller.account, of, expectedVersion, data, now(), quotas(caller.account))
  if (outcome === 'missing') throw failure('access-key-place-not-found')
  if (outcome === 'none') throw failure('access-key-not-found')
  return outcome
}
