import type { AccountId, DeviceId, TokenId } from '../protocol/wire/ids.ts'
import type { Bearer, TokenDraft, TokenRow } from './rows.ts'
import type { Door } from './signup.ts'

export interface SignIn {
  /** Upper-case hex of the Ed25519 public key. */
  publicKey: string
  /** SHA-256 over key and challenge bytes, base64url; a second use is refused for ever. */
  challengeHash: string
  /** The challenge is a nonce of this server, a moment old: what holds for those that clients choose does not, and it is forgotten after a day. */
  fresh?: boolean
  /** How a key that nobody has signed in with before becomes an account. */
  create: Door
  /** Becomes the account's id if it is created. */
  newAccount: AccountId
  /** A function because the token names its account. */
  token: (account: AccountId) => TokenDraft
  now: number
}
export type SignedIn =
  /** `device` is the one that was made or found for the token. */
  | { result: 'signed-in'; account: AccountId; created: boolean; device: { id: DeviceId; isNew: boolean } | undefined }
  | { result: 'challenge-used' }
  | { result: 'unknown-key' }
  /** The account lets nobody in over challenges that clients choose, or not any more. */
  | { result: 'legacy-off' }
  /** A backup was restored lately. */
  | { result: 'held' }

/** Whether an account takes sign-ins over challenges that clients choose; `once` becomes `off` with the next one. */
export type LegacyLogin = 'on' | 'once' | 'off'

/** Who signs in, and the tokens that say so. */
export interface SignInStore {
  /** One transaction: the challenge is spent, the account found or made, the token stored. A refusal too spends the challenge. */
  signIn(ask: SignIn): Promise<SignedIn>
  hasAccounts(): Promise<boolean>
  accountCreatedAt(account: AccountId): Promise<number | 'missing'>
  readLegacyLogin(account: AccountId): Promise<LegacyLogin | 'missing'>
  setLegacyLogin(account: AccountId, may: LegacyLogin): Promise<'set' | 'missing'>
  /** For whoever restores a backup, which knows nothing of the challenges used since: until then no known account signs in with one. */
  holdLegacyLogins(until: number): Promise<void>

  /** Also one whose end has come: that is for the caller to see. */
  findBearer(tokenHash: string): Promise<Bearer | 'missing'>
  /** The named ones, the newest first. */
  listTokens(account: AccountId): Promise<TokenRow[]>
  /** From the moment this resolves the token's hash is unknown. */
  revokeToken(account: AccountId, token: TokenId): Promise<'revoked' | 'missing'>
  /** Last-used times, coarse and best effort. */
  markTokensUsed(marks: readonly { token: TokenId; at: number; from: string }[]): Promise<void>
}
