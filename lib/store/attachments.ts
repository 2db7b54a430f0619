import type { AccountId, AttachmentId, SessionId } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'

/** An attachment, complete or in progress. */
export interface Upload {
  /** In bytes: as announced, and the actual size once complete. */
  size: number
  /** How many bytes are stored, from the start without a gap. */
  received: number
  /** Increments with each restart from the first byte: pieces of an earlier attempt are rejected. */
  attempt: number
  /** Base64url of the whole; null until complete. */
  sha256: string | null
}

export interface AttachmentStore {
  /**
   * Nothing is stored yet, but its size has to fit; an upload that gets no byte until `endsAt` is
   * removed.
   */
  openUpload(
    account: AccountId,
    session: SessionId,
    draft: { id: AttachmentId; size: number; now: number; endsAt: number },
    quotas?: Quotas
  ): Promise<'opened' | 'missing'>
  /** Also missing when an unfinished one has expired. */
  findUpload(account: AccountId, session: SessionId, attachment: AttachmentId, now: number): Promise<Upload | 'missing'>
  /** Drops what was received and starts a new attempt. A complete one is unchanged. */
  restartUpload(account: AccountId, session: SessionId, attachment: AttachmentId, now: number): Promise<Upload | 'missing'>
  /**
   * Stores a piece if it begins at `received`, in the same attempt, and the upload is not complete. At
   * most `mostPieceBytes`.
   */
  appendPiece(
    account: AccountId,
    session: SessionId,
    attachment: AttachmentId,
    piece: { attempt: number; at: number; bytes: Uint8Array; now: number; endsAt: number },
    quotas?: Quotas
  ): Promise<(Upload & { taken: boolean }) | 'missing'>
  /**
   * The attachment is complete from now on, with the received size; only if `received` and the attempt
   * are still the same.
   */
  completeUpload(
    account: AccountId,
    session: SessionId,
    attachment: AttachmentId,
    whole: { attempt: number; received: number; sha256: string; now: number }
  ): Promise<(Upload & { taken: boolean }) | 'missing'>
  /**
   * What is stored from `at` on, up to one piece, of a complete attachment or of an upload; empty at
   * its end.
   */
  readPiece(account: AccountId, session: SessionId, attachment: AttachmentId, at: number): Promise<Uint8Array | 'missing'>
  /** The size of the account's attachments, including unfinished ones. */
  readAttachmentBytes(account: AccountId): Promise<number>
}

/** One row of the database, and the most of an attachment that is in memory at a time. */
export const mostPieceBytes = 256 * 1024

export function uploadState({ size, received, attempt, sha256 }: Upload): Upload {
  return { size, received, attempt, sha256 }
}

export function uploadStateOr(row: Upload | undefined): Upload | 'missing' {
  return row ? uploadState(row) : 'missing'
}
