import {
  downloadAttachment,
  isRefOf,
  type Rest,
  type TokenSource,
  type TransferOptions,
  type UploadOptions,
  uploadAttachment
} from '../../../lib/client/index.ts'
import { openBlob, sealBlob, sealOfBlob } from '../../../lib/crypto/index.ts'
import { sessionId } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { Attached } from '../session/attachment.ts'

/** Attachments of messages. They are sealed here; the server cannot read them. */
export interface LiveFiles {
  /** Resolves to the ref for the message that announces it. Resumes if the connection is lost. */
  upload(session: string, sealed: Uint8Array<ArrayBuffer>, options?: UploadOptions): Promise<string>
  /** The sealed bytes: an upload resumed after a restart must send the same ones. */
  seal(session: string, bytes: Uint8Array): Uint8Array<ArrayBuffer>
  /** The seal by which a message identifies exactly these bytes. */
  sealOf(sealed: Uint8Array): string
  /** Rejects if it is gone, cannot be decrypted on this device, or does not match its message. */
  download(session: string, file: Pick<Attached, 'ref' | 'seal'>, options?: TransferOptions): Promise<Uint8Array<ArrayBuffer>>
}

interface Sources {
  rest: Rest
  token: TokenSource
  blobKeyOf(session: string): Uint8Array | undefined
}

export function liveFiles({ rest, token, blobKeyOf }: Sources): LiveFiles {
  const link = async () => ({ rest, token: await token.token(), fetch: (url: string, init: RequestInit) => fetch(url, init) })
  const keyOf = (session: string) => {
    const key = blobKeyOf(session)
    if (key === undefined) throw new Error('no key')
    return key
  }
  return {
    seal: (session, bytes) => new Uint8Array(sealBlob(bytes, keyOf(session))),
    sealOf: sealOfBlob,
    async upload(session, sealed, options) {
      return uploadAttachment(await link(), v.parse(sessionId, session), sealed, options)
    },
    async download(session, { ref, seal }, options) {
      if (!isRefOf(session, ref)) throw new Error('not of this session')
      const sealed = await downloadAttachment(await link(), ref, options)
      if (seal !== undefined && seal !== sealOfBlob(sealed)) throw new Error('another file')
      const bytes = openBlob(sealed, keyOf(session))
      if (bytes === undefined) throw new Error('damaged, or sealed with another key')
      return bytes
    }
  }
}
