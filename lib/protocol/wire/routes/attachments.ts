import * as z from 'zod'
import { attachmentId, sessionId } from '../ids.ts'
import { bytesIn, bytesOut, kib, ok, route, wholeNumber } from './route.ts'

/** The largest attachment, sealed. */
export const mostAttachmentBytes = 10 * kib * kib

const sessionParams = z.object({ id: sessionId })
const fileParams = z.object({ id: sessionId, file: attachmentId })
const offset = z.int().min(0).max(mostAttachmentBytes)
const upload = z.object({ offset, size: offset, complete: z.boolean() })

/** Sealed files of a session, such as images: the server keeps bytes it cannot read and never shows them as a page. */
export const attachmentRoutes = {
  requestUpload: route({
    method: 'POST',
    path: '/v1/sessions/:id/attachments/request-upload',
    auth: 'write',
    limit: 64 * kib,
    tellsAddresses: true,
    params: sessionParams,
    body: z.object({ filename: z.string().max(4096).optional(), size: offset }),
    reply: z.object({ ref: z.string(), uploadUrl: z.string(), method: z.literal('PUT') })
  }),
  uploadAttachment: route({
    method: 'PUT',
    path: '/v1/sessions/:id/attachments/:file',
    auth: 'write',
    limit: mostAttachmentBytes,
    params: fileParams,
    body: bytesIn,
    reply: z.object({ ok: z.literal(true) })
  }),
  readUpload: route({
    method: 'GET',
    path: '/v1/sessions/:id/attachments/:file/upload',
    auth: 'read',
    limit: 0,
    ours: true,
    params: fileParams,
    reply: upload
  }),
  continueUpload: route({
    method: 'PUT',
    path: '/v1/sessions/:id/attachments/:file/upload',
    auth: 'write',
    limit: mostAttachmentBytes,
    ours: true,
    params: fileParams,
    query: z.object({ at: wholeNumber }),
    body: bytesIn,
    reply: upload,
    conflict: z.object({ error: z.string(), offset })
  }),
  finishUpload: route({
    method: 'POST',
    path: '/v1/sessions/:id/attachments/:file/upload',
    auth: 'write',
    limit: 64 * kib,
    ours: true,
    params: fileParams,
    body: z.object({ sha256: z.string().regex(/^[\w-]{43}$/, 'a SHA-256 in base64url') }),
    reply: ok,
    conflict: z.object({ error: z.string(), offset: offset.optional() })
  }),
  requestDownload: route({
    method: 'POST',
    path: '/v1/sessions/:id/attachments/request-download',
    auth: 'read',
    limit: 64 * kib,
    tellsAddresses: true,
    params: sessionParams,
    body: z.object({ ref: z.string().max(4096) }),
    reply: z.object({ downloadUrl: z.string() })
  }),
  downloadAttachment: route({
    method: 'GET',
    path: '/v1/sessions/:id/attachments/:file',
    auth: 'read',
    limit: 0,
    params: fileParams,
    reply: bytesOut
  })
} as const
