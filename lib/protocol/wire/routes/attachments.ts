import * as v from '../../../schema.ts'
import { attachmentId, sessionId } from '../ids.ts'
import { bytesIn, bytesOut, kib, ok, route, wholeNumber } from './route.ts'

/** The largest attachment, sealed. */
export const mostAttachmentBytes = 10 * kib * kib

const sessionParams = v.object({ id: sessionId })
const fileParams = v.object({ id: sessionId, file: attachmentId })
const offset = v.pipe(v.int(), v.minValue(0), v.maxValue(mostAttachmentBytes))
const upload = v.object({ offset, size: offset, complete: v.boolean() })

/** Sealed files of a session, such as images: the server stores bytes it cannot read and never serves them as a page. */
export const attachmentRoutes = {
  requestUpload: route({
    method: 'POST',
    path: '/v1/sessions/:id/attachments/request-upload',
    auth: 'write',
    limit: 64 * kib,
    tellsAddresses: true,
    params: sessionParams,
    body: v.object({ filename: v.optional(v.text(4096)), size: offset }),
    reply: v.object({ ref: v.string(), uploadUrl: v.string(), method: v.literal('PUT') })
  }),
  uploadAttachment: route({
    method: 'PUT',
    path: '/v1/sessions/:id/attachments/:file',
    auth: 'write',
    limit: mostAttachmentBytes,
    params: fileParams,
    body: bytesIn,
    reply: v.object({ ok: v.literal(true) })
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
    query: v.object({ at: wholeNumber }),
    body: bytesIn,
    reply: upload,
    conflict: v.object({ error: v.string(), offset })
  }),
  finishUpload: route({
    method: 'POST',
    path: '/v1/sessions/:id/attachments/:file/upload',
    auth: 'write',
    limit: 64 * kib,
    ours: true,
    params: fileParams,
    body: v.object({ sha256: v.pipe(v.string(), v.regex(/^[\w-]{43}$/, 'is not a SHA-256 hash in base64url')) }),
    reply: ok,
    conflict: v.object({ error: v.string(), offset: v.optional(offset) })
  }),
  requestDownload: route({
    method: 'POST',
    path: '/v1/sessions/:id/attachments/request-download',
    auth: 'read',
    limit: 64 * kib,
    tellsAddresses: true,
    params: sessionParams,
    body: v.object({ ref: v.text(4096) }),
    reply: v.object({ downloadUrl: v.string() })
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
