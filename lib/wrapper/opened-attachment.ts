import { fetch } from 'undici'
import { downloadAttachment, isRefOf } from '../client/attachments.ts'
import { Refused, Unreachable } from '../client/refusals.ts'
import type { Rest, TokenSource } from '../client/rest.ts'
import type { SealingKey } from '../client/vault.ts'
import { legacyBlobKey, openBlob, sessionBlobKey } from '../crypto/index.ts'

/** The bytes that a device sealed for the session. Rejects with a reason that stands in a sentence. */
export async function openAttachment(
  link: { rest: Rest; token: string | TokenSource; session: string | undefined; key: SealingKey },
  ref: string,
  signal: AbortSignal
): Promise<Uint8Array> {
  const { rest, token, session, key } = link
  if (session === undefined || !isRefOf(session, ref)) throw new Error('it was not sent to this session')
  const blobKey = key.wrapped === null ? legacyBlobKey(key.raw) : sessionBlobKey(key.raw)
  const now = typeof token === 'string' ? token : await token.token()
  const sealed = await downloadAttachment({ rest, token: now, fetch }, ref, { signal }).catch(error => {
    throw new Error(reasonOf(error), { cause: error })
  })
  const bytes = openBlob(sealed, blobKey)
  if (!bytes) throw new Error('it is damaged, or was sealed with another key')
  return bytes
}

function reasonOf(error: unknown): string {
  if (error instanceof Refused && error.status === 404) return 'the server does not have it any more'
  return error instanceof Unreachable ? 'the server could not be reached' : 'it could not be fetched'
}
