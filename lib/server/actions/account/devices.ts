import { accountTopic, revocationTopic, type Signal } from '../../../bus/bus.ts'
import { failure } from '../../../protocol/wire/failures.ts'
import type { AccountId, DeviceId, TokenId } from '../../../protocol/wire/ids.ts'
import type { DeviceRow } from '../../../store/access/devices.ts'
import type { TokenKind } from '../../../store/rows.ts'
import type { Caller, Deps } from '../../deps.ts'
import { type NotifyDeps, notifyAccount } from '../notify/notify.ts'

export interface TellDeps extends Pick<NotifyDeps, 'store' | 'bus' | 'now' | 'newId' | 'deliveries' | 'providers'>, Pick<Deps, 'time'> {
  onError: (error: unknown) => void
}

export async function listDevices({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<(DeviceRow & { current: boolean })[]> {
  const rows = await store.listDevices(caller.account)
  return rows.map(row => ({ ...row, current: row.id === caller.device }))
}

export async function renameDevice({ store }: Pick<Deps, 'store'>, caller: Caller, id: DeviceId, name: string): Promise<void> {
  if ((await store.renameDevice(caller.account, id, name)) === 'missing') throw failure('device-not-found')
}

/**
 * Ends every sign-in of a device: its tokens are unknown from then on, and every instance closes its
 * connections.
 */
export async function removeDevice(deps: Pick<Deps, 'store' | 'bus'>, caller: Caller, id: DeviceId | 'current'): Promise<void> {
  const device = id === 'current' ? caller.device : id
  if (device === null) throw failure('device-not-found')
  if (device !== caller.device && !caller.scopes.includes('manage')) throw failure('scope-missing')
  const outcome = await deps.store.removeDevice(caller.account, device)
  if (outcome === 'missing') throw failure('device-not-found')
  publishRevoked(deps, outcome.tokens)
}

export function publishRevoked({ bus }: Pick<Deps, 'bus'>, tokens: readonly TokenId[]): void {
  for (const token of tokens) bus.publish(revocationTopic, { type: 'token-revoked', token })
}

/** Tells the account about a sign-in: its apps at once, its phones too, even while an app is in use. */
export function announceDevice(deps: TellDeps, account: AccountId, device: { id: DeviceId; kind: TokenKind; name: string }): void {
  tell(deps, account, { type: 'device-came', device: device.id, kind: device.kind, name: device.name, at: deps.now() })
}

/**
 * Tells the account that someone other than the asker requested the answer to a pairing, or that it was
 * requested twice if that looks the same.
 */
export function announceSecondFetch(deps: TellDeps, account: AccountId): void {
  tell(deps, account, { type: 'pairing-fetched-twice', at: deps.now() })
}

type Alarm = Extract<Signal, { type: 'device-came' | 'pairing-fetched-twice' }>

function tell(deps: TellDeps, account: AccountId, signal: Alarm): void {
  deps.bus.publish(accountTopic(account), { type: 'signal', audience: 'apps', skip: undefined, signal })
  // A sign-in does not wait for the providers of notifications.
  notifyAccount(deps, account, 'device', silentWords[signal.type]).catch(deps.onError)
}

// Undefined: the usual word for a device, in the recipient's language.
const silentWords: Record<Alarm['type'], { title: string; body: string } | undefined> = {
  'device-came': undefined,
  'pairing-fetched-twice': { title: 'A pairing was fetched twice', body: 'Somebody may have seen its code. Look at your devices.' }
}
