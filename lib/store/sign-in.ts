import type { AccountId, DeviceId } from '../protocol/wire/ids.ts'
import type { TokenDraft } from './rows.ts'
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

/** Who signs in, and the tokens that say so. */
export interface SignInStore {
  /** One transaction: the challenge is spent, the account found or made, the token stored. A refusal too spends the challenge. */
  signIn(ask: SignIn): Promise<SignedIn>
}
