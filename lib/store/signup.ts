import type { InviteId } from '../protocol/wire/ids.ts'

/** How a key that nobody has signed in with before may become an account. */
export type Door =
  | 'never'
  | 'always'
  /** When there is no account yet. */
  | 'if-first'
  /** When the owner has let this key in. */
  | 'if-approved'
  /** When the code of an unused invitation is shown, or one was opened for this network; uses the invitation up. */
  | { invite: string | null; network: string }

/** What is known of a key before its signature is looked at. */
export type Standing = 'member' | 'approved' | 'waiting' | 'rejected' | 'unknown'

/** Somebody whose key has no account and who waits for the owner. */
export interface SignupRow {
  /** Upper-case hex of the Ed25519 public key. */
  publicKey: string
  /** Words that stand for the key, and name the request. */
  fingerprint: string
  /** What the client says of itself. */
  client: string
  address: string
  askedAt: number
  endsAt: number
}

export interface InviteDraft {
  id: InviteId
  /** SHA-256 of the code, base64url; the code itself is never stored. */
  hash: string
  /** Who it is meant for, in the owner's words. */
  label: string
  createdAt: number
  endsAt: number
}
export interface InviteRow extends Omit<InviteDraft, 'hash'> {
  openUntil: number | null
  usedAt: number | null
}

/** Accounts as a whole, and who may have one. */
export interface SignupStore {
  readStanding(publicKey: string, now: number): Promise<Standing>
  /** Waits until `endsAt` unless `most` wait already. Whoever asks again keeps the place, and what the owner said. */
  askSignup(ask: SignupRow & { most: number }): Promise<'waiting' | 'approved' | 'rejected' | 'full'>
  /** Those that wait, the one who asked last first. */
  listSignups(now: number): Promise<SignupRow[]>
  /** The decision holds until `endsAt`. */
  decideSignup(
    fingerprint: string,
    decision: { state: 'approved' | 'rejected'; now: number; endsAt: number }
  ): Promise<'decided' | 'missing'>

  addInvite(draft: InviteDraft): Promise<void>
  /** The newest first, at most 500; what ended more than a week before the newest was made may be forgotten. */
  listInvites(): Promise<InviteRow[]>
  /** Lets one new key from the network in until `until`. */
  openInvite(hash: string, opening: { network: string; now: number; until: number }): Promise<'opened' | 'missing'>
  removeInvite(invite: InviteId): Promise<'removed' | 'missing'>
}
