import { failure } from '../../protocol/wire/failures.ts'
import type { KvKey } from '../../protocol/wire/ids.ts'
import type { KvChange, KvRow, KvWritten } from '../../store/kv.ts'
import type { Caller, Deps } from '../deps.ts'
import { announce } from '../publish.ts'

export async function readKvKey({ store }: Pick<Deps, 'store'>, caller: Caller, key: KvKey): Promise<KvRow> {
  const [row] = await store.readKv(caller.account, [key])
  if (!row) throw failure('key-not-found')
  return row
}

export async function readKv({ store }: Pick<Deps, 'store'>, caller: Caller, keys: readonly KvKey[]): Promise<KvRow[]> {
  return store.readKv(caller.account, [...new Set(keys)])
}

export async function listKv({ store }: Pick<Deps, 'store'>, caller: Caller, ask: { prefix: string; limit: number }): Promise<KvRow[]> {
  return store.listKv(caller.account, ask)
}

/** Changes keys, all or none, and notifies the apps once. */
export async function mutateKv(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'quotas'>,
  caller: Caller,
  mutations: readonly KvChange[]
): Promise<KvWritten> {
  const outcome = await deps.store.mutateKv(caller.account, mutations, deps.now(), deps.quotas(caller.account))
  if (outcome.written) announce(deps, caller, outcome.clock, { type: 'kv-written', changes: outcome.changes })
  return outcome
}
