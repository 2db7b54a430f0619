import type { InviteId } from '../../protocol/wire/ids.ts'

/** An invitation is listed until this long after its end. */
export const inviteKeptMs = 7 * 24 * 60 * 60 * 1000

/** How a new key may get an account. */
export type SignupCondition =
  | 'never'
  | 'always'
  /** When there is no account yet. */
  | 'if-first'
  /** If the owner has let this key in. */
  | 'if-approved'
  /**
   * If the code of an unused invitation is presented, or one was opened for this network; uses up the
   * invitation.
   */
  | { invite: string | null; network: string }

/** What is known of a key before its signature is verified. */
export type Standing = 'member' | 'approved' | 'waiting' | 'rejected' | 'unknown'

/** A person whose key has no account and who waits for the owner. */
export interface SignupRow {
  /** Upper-case hex of the Ed25519 public key. */
  publicKey: string
  /** Words that represent the key, and name the request. */
  fingerprint: string
  /** The client's description of itself. */
  client: string
  address: string
  askedAt: number
  endsAt: number
}

export interface InviteDraft {
  id: InviteId
  /** SHA-256 of the code, base64url; the code itself is never stored. */
  hash: string
  /** Who it is for, in the owner's words. */
  label: string
  createdAt: number
  endsAt: number
}
export interface InviteRow extends Omit<InviteDraft, 'hash'> {
  openUntil: number | null
  usedAt: number | null
}

/** All accounts, and who may have one. */
export interface SignupStore {
  readStanding(publicKey: string, now: number): Promise<Standing>
  /**
   * Waits until `endsAt` unless `most` already wait. Asking again keeps the place, and the owner's
   * decision.
   */
  askSignup(ask: SignupRow & { most: number }): Promise<'waiting' | 'approved' | 'rejected' | 'full'>
  /** Those waiting, most recent first. */
  listSignups(now: number): Promise<SignupRow[]>
  /** The decision is valid until `endsAt`. */
  decideSignup(
    fingerprint: string,
    decision: { state: 'approved' | 'rejected'; now: number; endsAt: number }
  ): Promise<'decided' | 'missing'>

  addInvite(draft: InviteDraft): Promise<void>
  /**
   * Newest first, at most 500; those that ended more than a week before the newest was made may be
   * removed.
   */
  listInvites(): Promise<InviteRow[]>
  /** Lets one new key from the network in until `until`. */
  openInvite(hash: string, opening: { network: string; now: number; until: number }): Promise<'opened' | 'missing'>
  removeInvite(invite: InviteId): Promise<'removed' | 'missing'>
}
