import type { AccountId, DeviceId, TokenId } from '../../protocol/wire/ids.ts'
import type { TokenKind } from '../rows.ts'

export interface DeviceRow {
  id: DeviceId
  kind: Exclude<TokenKind, 'named'>
  name: string
  /** Whether its tokens are valid for a day and it renews them with its own key. */
  renews: boolean
  createdAt: number
  lastUsedAt: number
  /** The network it was last seen in; coarse like the time. */
  lastUsedFrom: string
}

export interface DeviceStore {
  /** The most recently used first. */
  listDevices(account: AccountId): Promise<DeviceRow[]>
  renameDevice(account: AccountId, device: DeviceId, name: string): Promise<'renamed' | 'missing'>
  /**
   * From the moment this resolves its tokens are unknown; its push tokens and its unfetched answers
   * are gone too.
   */
  removeDevice(account: AccountId, device: DeviceId): Promise<{ tokens: TokenId[] } | 'missing'>
  /** The device that a token belongs to. */
  findDeviceOf(account: AccountId, token: TokenId): Promise<DeviceId | 'none' | 'missing'>
}
