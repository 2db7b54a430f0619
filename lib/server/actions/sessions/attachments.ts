import { createHash, randomUUID } from 'node:crypto'
import { type FailureCode, failure, failures, failureWithBody } from '../../../protocol/wire/failures.ts'
import { type AttachmentId, attachmentId, type SessionId } from '../../../protocol/wire/ids.ts'
import type { BytesIn, BytesOut } from '../../../protocol/wire/routes.ts'
import * as v from '../../../schema.ts'
import { mostPieceBytes, type Upload } from '../../../store/attachments.ts'
import type { Caller, Deps } from '../../deps.ts'
import { inPieces } from './pieces.ts'

type StoreDeps = Pick<Deps, 'store' | 'time'>
type StoringDeps = Pick<Deps, 'store' | 'time' | 'quotas'>

/** How long an unfinished upload waits for its next byte. */
const waitsMs = 24 * 60 * 60_000

/** An attachment of a session, by the name the server assigned. */
export interface File {
  session: SessionId
  id: AttachmentId
}

export async function requestUpload(deps: StoringDeps, caller: Caller, session: SessionId, size: number): Promise<File> {
  const id = v.parse(attachmentId, `${randomUUID()}.enc`)
  const now = deps.time()
  const draft = { id, size, now, endsAt: now + waitsMs }
  const opened = await deps.store.openUpload(caller.account, session, draft, deps.quotas(caller.account))
  if (opened === 'missing') throw failure('session-not-found')
  return { session, id }
}

/** Stores all of it or nothing. A repeat of the same bytes changes nothing and succeeds. */
export async function uploadAttachment(deps: StoringDeps, caller: Caller, file: File, bytes: BytesIn): Promise<void> {
  const { store, time } = deps
  const begun = found(await store.restartUpload(caller.account, file.session, file.id, time()))
  const digest = createHash('sha256')
  let received = 0
  for await (const piece of inPieces(bytes, { most: mostPieceBytes })) {
    digest.update(piece)
    if (begun.sha256 === null) await append(deps, caller, file, { attempt: begun.attempt, at: received, bytes: piece })
    received += piece.length
  }
  const sha256 = digest.digest('base64url')
  if (begun.sha256 === null) await complete(deps, caller, file, { attempt: begun.attempt, received, sha256 })
  else if (begun.sha256 !== sha256) throw failure('attachment-kept')
}

export async function readUpload({ store, time }: StoreDeps, caller: Caller, { session, id }: File): Promise<Upload> {
  return found(await store.findUpload(caller.account, session, id, time()))
}

/** Appends what follows the stored bytes, which are skipped. The received part of an interrupted body is kept. */
export async function continueUpload(deps: StoringDeps, caller: Caller, file: File, at: number, bytes: BytesIn): Promise<Upload> {
  let upload = await readUpload(deps, caller, file)
  if (upload.sha256 !== null) return upload
  if (at > upload.received) throw isAt('upload-elsewhere', upload)
  const { attempt } = upload
  for await (const piece of inPieces(bytes, { most: mostPieceBytes, skipped: upload.received - at, keepCut: true })) {
    const rest = upload.size - upload.received
    if (piece.length > rest) throw failure('body-too-large')
    if (piece.length < Math.min(leastKeptBytes, rest)) break
    upload = await append(deps, caller, file, { attempt, at: upload.received, bytes: piece })
  }
  return upload
}

/** A smaller part is not worth a row, unless it is the last. */
const leastKeptBytes = 4096

export async function finishUpload(deps: StoreDeps, caller: Caller, file: File, sha256: string): Promise<void> {
  const { store, time } = deps
  const { size, received, attempt, sha256: known } = await readUpload(deps, caller, file)
  if (known === sha256) return
  if (known !== null) throw failure('attachment-kept')
  if (received !== size) throw isAt('upload-elsewhere', { received })
  if ((await digestOf(deps, caller, file, size)) !== sha256) {
    await store.restartUpload(caller.account, file.session, file.id, time())
    throw isAt('attachment-differs', { received: 0 })
  }
  await complete(deps, caller, file, { attempt, received, sha256 })
}

/** Only complete attachments: an unfinished one is missing. */
export async function findAttachment(deps: StoreDeps, caller: Caller, file: File): Promise<BytesOut> {
  const { size, sha256 } = await readUpload(deps, caller, file)
  if (sha256 === null) throw failure('attachment-not-found')
  return { size, tag: sha256, readFrom: at => readPiece(deps, caller, file, at) }
}

export function refOf({ session, id }: File): string {
  return `sessions/${session}/attachments/${id}`
}

/** Its URL on this server. */
export function attachmentPath(file: File): string {
  return `/v1/${refOf(file)}`
}

export function fileOf(session: SessionId, ref: string): File {
  const prefix = `sessions/${session}/attachments/`
  if (!ref.startsWith(prefix)) throw failure('foreign-attachment-ref')
  const { data: id } = v.safeParse(attachmentId, ref.slice(prefix.length))
  if (id === undefined) throw failure('bad-attachment-ref')
  return { session, id }
}

async function append(
  { store, time, quotas }: StoringDeps,
  caller: Caller,
  { session, id }: File,
  piece: { attempt: number; at: number; bytes: Uint8Array }
): Promise<Upload> {
  const at = time()
  const timed = { ...piece, now: at, endsAt: at + waitsMs }
  const upload = found(await store.appendPiece(caller.account, session, id, timed, quotas(caller.account)))
  if (!upload.taken) throw isAt('upload-elsewhere', upload)
  return upload
}

async function complete(
  { store, time }: StoreDeps,
  caller: Caller,
  { session, id }: File,
  whole: { attempt: number; received: number; sha256: string }
): Promise<void> {
  const upload = found(await store.completeUpload(caller.account, session, id, { ...whole, now: time() }))
  // Another upload may have completed it with the same bytes.
  if (!upload.taken && upload.sha256 !== whole.sha256) throw isAt('upload-elsewhere', upload)
}

async function readPiece({ store }: Pick<Deps, 'store'>, caller: Caller, { session, id }: File, at: number): Promise<Uint8Array> {
  const piece = found(await store.readPiece(caller.account, session, id, at))
  if (piece.length === 0) throw new Error('An attachment is shorter than it was')
  return piece
}

async function digestOf(deps: Pick<Deps, 'store'>, caller: Caller, file: File, size: number): Promise<string> {
  const digest = createHash('sha256')
  for (let at = 0; at < size; ) {
    const piece = await readPiece(deps, caller, file, at)
    digest.update(piece)
    at += piece.length
  }
  return digest.digest('base64url')
}

function found<T>(answer: T | 'missing'): T {
  if (answer === 'missing') throw failure('attachment-not-found')
  return answer
}

function isAt(code: FailureCode, { received }: Pick<Upload, 'received'>) {
  return failureWithBody(code, { error: failures[code].says, offset: received })
}
