import type { AccountId, DeviceId, TokenId } from '../protocol/wire/ids.ts'
import type { DeviceRow } from './devices.ts'
import type { Quotas } from './quotas.ts'
import type { Bearer, TokenDraft, TokenRow } from './rows.ts'

/** How much goes when the tokens that have expired do: with them devices that nobody used for long, and what those are notified by. */
export interface Expired {
  tokens: number
  devices: number
  pushTokens: number
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

/** What says who a caller is. */
export interface TokenStore {
  /** Also one whose end has come: that is for the caller to see. */
  findBearer(tokenHash: string): Promise<Bearer | 'missing'>
  /** Gives the device a new token. Its others end within a minute, save the one before while that is younger: two may renew at once. */
  renewToken(ask: Renewal): Promise<Renewed>
  /** The named ones, the newest first. */
  listTokens(account: AccountId): Promise<TokenRow[]>
  /** A named token, for a program of the person's own. */
  addToken(account: AccountId, draft: TokenDraft, quotas?: Quotas): Promise<void>
  /** From the moment this resolves the token's hash is unknown. */
  revokeToken(account: AccountId, token: TokenId): Promise<'revoked' | 'missing'>
  /** Last-used times, coarse and best effort. */
  markTokensUsed(marks: readonly { token: TokenId; at: number; from: string }[]): Promise<void>
  /** The tokens that ended during the last ten minutes, by the store's own clock. */
  recentRevocations(): Promise<TokenId[]>
  /** What `endExpiredTokens` would remove now. */
  countExpired(now: number): Promise<Expired>
  /** Forgets the tokens that have expired and returns them. */
  endExpiredTokens(now: number): Promise<TokenId[]>
}
