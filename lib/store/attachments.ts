import type { AccountId, AttachmentId, SessionId } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'

/** An attachment, whole or on its way. */
export interface Upload {
  /** In bytes: as announced, and once it is whole as it is. */
  size: number
  /** How many bytes are stored, from the first on without a gap. */
  received: number
  /** Rises with each beginning from the first byte: what belongs to an earlier attempt is not taken any more. */
  attempt: number
  /** Base64url of the whole; null until it is whole. */
  sha256: string | null
}

export interface AttachmentStore {
  /** Nothing is stored yet, but its size has to fit; an upload that gets no byte until `endsAt` is forgotten. */
  openUpload(
    account: AccountId,
    session: SessionId,
    draft: { id: AttachmentId; size: number; now: number; endsAt: number },
    quotas?: Quotas
  ): Promise<'opened' | 'missing'>
  /** Missing too when the time of an unfinished one is over. */
  findUpload(account: AccountId, session: SessionId, attachment: AttachmentId, now: number): Promise<Upload | 'missing'>
  /** Forgets what was received and begins a new attempt. A whole one stays as it is. */
  restartUpload(account: AccountId, session: SessionId, attachment: AttachmentId, now: number): Promise<Upload | 'missing'>
  /** Stores a piece if it begins at `received`, in the same attempt, and the upload is not whole. At most `mostPieceBytes`. */
  appendPiece(
    account: AccountId,
    session: SessionId,
    attachment: AttachmentId,
    piece: { attempt: number; at: number; bytes: Uint8Array; now: number; endsAt: number },
    quotas?: Quotas
  ): Promise<(Upload & { taken: boolean }) | 'missing'>
  /** From now on the attachment is whole, with the size that was received; if `received` and the attempt are still those. */
  completeUpload(
    account: AccountId,
    session: SessionId,
    attachment: AttachmentId,
    whole: { attempt: number; received: number; sha256: string; now: number }
  ): Promise<(Upload & { taken: boolean }) | 'missing'>
  /** What is stored from `at` on, as far as one piece goes, of a whole attachment or of an upload; empty at its end. */
  readPiece(account: AccountId, session: SessionId, attachment: AttachmentId, at: number): Promise<Uint8Array | 'missing'>
  /** What the account's attachments take up, unfinished ones too. */
  readAttachmentBytes(account: AccountId): Promise<number>
}

/** A row of the database, and what is in memory of an attachment at a time. */
export const mostPieceBytes = 256 * 1024
