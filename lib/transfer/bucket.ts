import { createHash } from 'node:crypto'
import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart } from '../exit.ts'
import { attachmentId } from '../protocol/wire/ids.ts'
import { mostAttachmentBytes } from '../protocol/wire/routes/attachments.ts'
import * as v from '../schema.ts'
import { mostPieceBytes } from '../store/attachments.ts'

/** A copy of the bucket of a Happy server. */
export interface Bucket {
  folder: string
}

interface StoredFile {
  /** Its name, which messages repeat. */
  id: string
  size: number
  sha256: string
  createdAt: number
  pieces: { at: number; bytes: Uint8Array }[]
}

/** Messages name their files `sessions/<session>/attachments/<file>`, so the folder must have `sessions`. */
export function openBucket(folder: string): Bucket {
  if (existsSync(join(folder, 'sessions'))) return { folder }
  throw new CannotStart(
    `${folder} is not a copy of the bucket: it has no folder "sessions". Attachments are in sessions/<session>/attachments.`
  )
}

/** The files of a session, or why one cannot be imported. */
export async function* attachmentsIn({ folder }: Bucket, session: string): AsyncGenerator<StoredFile | { path: string; flaw: string }> {
  // An id with a slash or dots could lead elsewhere.
  if (!/^[\w-]+$/.test(session)) return
  const place = join(folder, 'sessions', session, 'attachments')
  if (!existsSync(place)) return
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    const path = join(place, entry.name)
    const flaw = flawOf(entry, path)
    if (flaw !== undefined) {
      yield { path, flaw }
      continue
    }
    const bytes = readFileSync(path)
    yield {
      id: entry.name,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('base64url'),
      createdAt: Math.floor(statSync(path).mtimeMs),
      pieces: piecesOf(bytes)
    }
  }
}

function flawOf(entry: Dirent, path: string): string | undefined {
  if (!entry.isFile()) return 'it is not a file'
  if (!v.is(attachmentId, entry.name)) return 'its name is not that of an attachment'
  const { size } = statSync(path)
  if (size === 0) return 'it is empty'
  return size > mostAttachmentBytes ? 'it is larger than 10 MiB' : undefined
}

function piecesOf(bytes: Buffer): StoredFile['pieces'] {
  const pieces = []
  for (let at = 0; at < bytes.length; at += mostPieceBytes) pieces.push({ at, bytes: bytes.subarray(at, at + mostPieceBytes) })
  return pieces
}
