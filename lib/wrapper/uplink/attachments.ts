import { Refused, Unreachable } from '../../client/link/refusals.ts'
import type { Rest, TokenSource } from '../../client/link/rest.ts'
import { downloadAttachment, isRefOf, uploadAttachment } from '../../client/outbox/attachments.ts'
import type { SealingKey } from '../../client/sealed/vault.ts'
import { legacyBlobKey, openBlob, sealBlob, sealOfBlob, sessionBlobKey } from '../../crypto/index.ts'
import { sessionId } from '../../protocol/wire/ids.ts'
import * as v from '../../schema.ts'
import type { Announced } from '../agents/attachments.ts'
import { fetch } from './network.ts'

/** Sealed attachments of the messages of a session. Both methods reject with a reason that fits in a sentence. */
export interface SessionAttachments {
  /** The bytes of a file that a device sent. */
  open(file: Pick<Announced, 'ref' | 'seal'>, signal: AbortSignal): Promise<Uint8Array>
  /** Resolves to the ref where devices find them, and the seal by which devices verify them. */
  send(bytes: Uint8Array, signal: AbortSignal): Promise<{ ref: string; seal: string }>
}

export function attachmentsOf(link: {
  rest: Rest
  token: string | TokenSource
  session: string | undefined
  key: SealingKey
}): SessionAttachments {
  const { rest, token, session, key } = link
  const blobKey = () => (key.wrapped === null ? legacyBlobKey(key.raw) : sessionBlobKey(key.raw))
  const withToken = async () => ({ rest, token: typeof token === 'string' ? token : await token.token(), fetch })
  return {
    async open({ ref, seal }, signal) {
      if (session === undefined || !isRefOf(session, ref)) throw new Error('it was not sent to this session')
      const sealed = await downloadAttachment(await withToken(), ref, { signal }).catch(error => {
        throw new Error(reasonOf(error, 'fetched'), { cause: error })
      })
      if (seal !== undefined && seal !== sealOfBlob(sealed)) throw new Error('the server sent a different file')
      const bytes = openBlob(sealed, blobKey())
      if (!bytes) throw new Error('it is damaged, or was encrypted with another key')
      return bytes
    },
    async send(bytes, signal) {
      if (session === undefined) throw new Error('the server does not know this session yet')
      const sealed = new Uint8Array(sealBlob(bytes, blobKey()))
      const ref = await uploadAttachment(await withToken(), v.parse(sessionId, session), sealed, { signal }).catch(error => {
        throw new Error(reasonOf(error, 'sent'), { cause: error })
      })
      return { ref, seal: sealOfBlob(sealed) }
    }
  }
}

function reasonOf(error: unknown, what: 'fetched' | 'sent'): string {
  if (what === 'sent' && error instanceof Refused) return `the server rejected it: ${error.message}`
  if (error instanceof Refused && error.status === 404) return 'the server no longer has it'
  return error instanceof Unreachable ? 'the server could not be reached' : `it could not be ${what}`
}
