import type { AccountId, DeviceId, TokenId } from '../../protocol/wire/ids.ts'
import type { Quotas } from '../quotas.ts'
import type { Bearer, TokenDraft, TokenRow } from '../rows.ts'
import type { DeviceRow } from './devices.ts'

/** Requests in flight, and tabs that do not know yet, still use the token before a renewal. */
export const renewalGraceMs = 60_000
/** A device that did not renew its tokens for this long has to sign in again. */
export const deviceIdleMs = 180 * 24 * 60 * 60 * 1000
/** How long `recentRevocations` lists a token that ended, and how long that is remembered. */
export const revocationRecentMs = 10 * 60 * 1000
export const revocationKeptMs = 24 * 60 * 60 * 1000

/** What goes when expired tokens are removed: the tokens, devices unused for a long time, and their push tokens. */
export interface Expired {
  tokens: number
  devices: number
  pushTokens: number
}

/** A device proves its identity. */
export interface Renewal {
  account: AccountId
  /** base64 of its Ed25519 key. */
  deviceKey: string
  /** SHA-256 of the server's nonce, base64url; a second use is rejected. */
  nonceHash: string
  token: (device: Pick<DeviceRow, 'id' | 'kind' | 'name'>) => TokenDraft
  now: number
}
export type Renewed = { result: 'renewed'; device: DeviceId } | { result: 'nonce-used' } | { result: 'unknown-device' }

/** A token was used at a time, from a network. */
export interface TokenMark {
  token: TokenId
  at: number
  from: string
}

/** Tokens, which authenticate callers. */
export interface TokenStore {
  /** Also an expired one: the caller has to check. */
  findBearer(tokenHash: string): Promise<Bearer | 'missing'>
  /**
   * Gives the device a new token. Its others expire within a minute, except the previous one while
   * that is younger: two may renew at once.
   */
  renewToken(ask: Renewal): Promise<Renewed>
  /** Named ones, newest first. */
  listTokens(account: AccountId): Promise<TokenRow[]>
  /** A named token, for the person's own program. */
  addToken(account: AccountId, draft: TokenDraft, quotas?: Quotas): Promise<void>
  /** From the moment this resolves the token's hash is unknown. */
  revokeToken(account: AccountId, token: TokenId): Promise<'revoked' | 'missing'>
  /** Last-used times, coarse and best effort. */
  markTokensUsed(marks: readonly TokenMark[]): Promise<void>
  /** The tokens that ended during the last ten minutes, by the store's own clock. */
  recentRevocations(): Promise<TokenId[]>
  /** What `endExpiredTokens` would remove now. */
  countExpired(now: number): Promise<Expired>
  /** Removes expired tokens and returns them. */
  endExpiredTokens(now: number): Promise<TokenId[]>
}
