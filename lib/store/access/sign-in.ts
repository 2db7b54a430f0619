import type { AccountId, DeviceId } from '../../protocol/wire/ids.ts'
import type { TokenDraft } from '../rows.ts'
import type { SignupCondition } from './signup.ts'

/** This many used challenges cost an account 64 KB; after them it signs in with server nonces. */
export const mostLegacyLogins = 2_000
/** A used nonce of the server is remembered for this long, which is longer than any is valid. */
export const nonceKeptMs = 24 * 60 * 60 * 1000

export interface SignIn {
  /** Upper-case hex of the Ed25519 public key. */
  publicKey: string
  /** SHA-256 over key and challenge bytes, base64url; a second use is rejected forever. */
  challengeHash: string
  /**
   * The challenge is a recent nonce of this server: rules for client challenges do not apply, and it
   * is forgotten after a day.
   */
  fresh?: boolean
  /** How a new key gets an account. */
  create: SignupCondition
  /** Becomes the account's id if it is created. */
  newAccount: AccountId
  /** A function because the token names its account. */
  token: (account: AccountId) => TokenDraft
  now: number
}
export type SignedIn =
  /** `device` is the one found or created for the token. */
  | { result: 'signed-in'; account: AccountId; created: boolean; device: { id: DeviceId; isNew: boolean } | undefined }
  | { result: 'challenge-used' }
  | { result: 'unknown-key' }
  /** The account does not, or no longer, accept challenges chosen by clients. */
  | { result: 'legacy-off' }
  /** A backup was restored lately. */
  | { result: 'held' }

/** Signing in, and the resulting tokens. */
export interface SignInStore {
  /**
   * One transaction: the challenge is used up, the account found or created, the token stored. A
   * rejection also uses up the challenge.
   */
  signIn(ask: SignIn): Promise<SignedIn>
}
