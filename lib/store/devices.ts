import type { AccountId, DeviceId, TokenId } from '../protocol/wire/ids.ts'
import type { TokenDraft, TokenKind } from './rows.ts'

/** How much goes when the tokens that have expired do: with them devices that nobody used for long, and what those are notified by. */
export interface Expired {
  tokens: number
  devices: number
  pushTokens: number
}

export interface DeviceRow {
  id: DeviceId
  kind: Exclude<TokenKind, 'named'>
  name: string
  /** Whether its tokens live a day and it renews them with a key of its own. */
  renews: boolean
  createdAt: number
  lastUsedAt: number
  /** The network it was last seen in; coarse like the time. */
  lastUsedFrom: string
}

/** A device shows that it is still itself. */
export interface Renewal {
  account: AccountId
  /** base64 of its Ed25519 key. */
  deviceKey: string
  /** SHA-256 of the server's nonce, base64url; a second use is refused. */
  nonceHash: string
  token: (device: Pick<DeviceRow, 'id' | 'kind' | 'name'>) => TokenDraft
  now: number
}
export type Renewed = { result: 'renewed'; device: DeviceId } | { result: 'nonce-used' } | { result: 'unknown-device' }

export interface DeviceStore {
  /** The one used last comes first. */
  listDevices(account: AccountId): Promise<DeviceRow[]>
  renameDevice(account: AccountId, device: DeviceId, name: string): Promise<'renamed' | 'missing'>
  /** From the moment this resolves its tokens are unknown; its push tokens and the answers it gave that nobody fetched yet are gone too. */
  removeDevice(account: AccountId, device: DeviceId): Promise<{ tokens: TokenId[] } | 'missing'>
  /** The device that a token belongs to. */
  findDeviceOf(account: AccountId, token: TokenId): Promise<DeviceId | 'none' | 'missing'>

  /** A named token, for a program of the person's own. */
  addToken(account: AccountId, draft: TokenDraft): Promise<void>

  /** Gives the device a new token. Its others end within a minute, save the one before while that is younger: two may renew at once. */
  renewToken(ask: Renewal): Promise<Renewed>
  /** The secret of this name that all instances share: the given one, unless there is one already. */
  keepSecret(name: string, fresh: Uint8Array): Promise<Uint8Array>
  /** The clock by which every instance judges how old something is, in milliseconds since 1970. */
  time(): Promise<number>

  /** The tokens that ended during the last ten minutes, by the store's own clock. */
  recentRevocations(): Promise<TokenId[]>
  /** What `endExpiredTokens` would remove now. */
  countExpired(now: number): Promise<Expired>
  /** Forgets the tokens that have expired and returns them. */
  endExpiredTokens(now: number): Promise<TokenId[]>
}
