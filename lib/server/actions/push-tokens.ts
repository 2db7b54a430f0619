import type { PushTokenRow } from '../../store/store.ts'
import type { Caller, Deps } from './deps.ts'

export async function addPushToken(
  { store, now, newId, quotas }: Pick<Deps, 'store' | 'now' | 'newId' | 'quotas'>,
  caller: Caller,
  token: string
): Promise<void> {
  await store.addPushToken(caller.account, { id: newId(), token, device: caller.device, now: now() }, quotas(caller.account))
}

export async function listPushTokens({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<PushTokenRow[]> {
  return store.listPushTokens(caller.account)
}

export async function removePushToken({ store }: Pick<Deps, 'store'>, caller: Caller, token: string): Promise<void> {
  await store.removePushToken(caller.account, token)
}
