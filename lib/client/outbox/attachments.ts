import { createBackoff } from '../../async/backoff.ts'
import { pause } from '../../async/pause.ts'
import { concatBytes, engine, toBase64Url } from '../../crypto/index.ts'
import { type AttachmentId, attachmentId, type SessionId } from '../../protocol/wire/ids.ts'
import * as v from '../../schema.ts'
import { mayRetry, Refused, Unreachable } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'

/** The part of `fetch` used here; the global one and undici's both fit. */
export type ByteFetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: Uint8Array<ArrayBuffer>; signal?: AbortSignal }
) => Promise<{ status: number; body: ByteBody | null; text(): Promise<string> }>

interface ByteBody {
  getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>; cancel(): Promise<unknown> }
}

export interface AttachmentLink {
  rest: Rest
  token: string
  fetch: ByteFetch
}

export interface TransferOptions {
  /** How much is uploaded, of how much; reported after each part. */
  onProgress?: ((bytes: number, total: number) => void) | undefined
  signal?: AbortSignal | undefined
}

export interface UploadOptions extends TransferOptions {
  /**
   * The ref of an upload of the same bytes that an earlier process began: it resumes there, if the
   * server still has it.
   */
  begun?: string | undefined
  /** The ref it is uploaded under; reported before the first byte. */
  onBegun?: ((ref: string) => void | Promise<void>) | undefined
}

/** Proxies cut long requests, so a slow connection sends little at once. */
const largestPart = 256 * 1024
const firstPart = 64 * 1024
const smallestPart = 8 * 1024
/**
 * A part that took longer than this was too large for its connection; after a faster one, the next may
 * be larger.
 */
const slowMs = 4000
const quickMs = 1000
/** Without any progress. */
const mostAttempts = 8

/**
 * Uploads sealed bytes as an attachment and returns its ref. Resumes after a disconnect. Rejects with
 * `Refused`, with `Unreachable` when many attempts in a row made no progress, or with the reason of
 * `signal`.
 */
export async function uploadAttachment(
  link: AttachmentLink,
  session: SessionId,
  bytes: Uint8Array,
  { onProgress, onBegun, begun, signal }: UploadOptions = {}
): Promise<string> {
  const { rest } = link
  const patience = createPatience(signal)
  const before = begun === undefined ? undefined : await patience.try(() => findUpload(rest, session, begun, bytes.length, signal))
  if (begun !== undefined && before?.complete === true) return begun
  const ref = begun !== undefined && before ? begun : await requestUpload(rest, session, bytes.length, signal)
  await onBegun?.(ref)
  const params = { id: session, file: fileOf(ref) }
  let part = firstPart
  for (let at = before?.offset ?? 0; at < bytes.length; ) {
    const beganAt = performance.now()
    try {
      const next = await sendPart(link, params, { at, bytes: bytes.slice(at, at + part), signal })
      const tookMs = performance.now() - beganAt
      if (tookMs > slowMs) part = Math.max(part / 2, smallestPart)
      else if (tookMs < quickMs) part = Math.min(part * 2, largestPart)
      if (next > at) patience.renew()
      at = next
    } catch (error) {
      await patience.after(error)
      part = Math.max(part / 2, smallestPart)
      at = (await patience.try(() => rest.call('readUpload', { params }, { signal }))).offset
    }
    onProgress?.(at, bytes.length)
  }
  await patience.try(() => rest.call('finishUpload', { params, body: { sha256: toBase64Url(engine.sha256(bytes)) } }, { signal }))
  return ref
}

async function requestUpload(rest: Rest, session: SessionId, size: number, signal: AbortSignal | undefined): Promise<string> {
  const { ref } = await rest.call('requestUpload', { params: { id: session }, body: { size } }, { signal })
  return ref
}

/** Undefined if the server has dropped it, or it was for other bytes. */
async function findUpload(rest: Rest, session: SessionId, ref: string, size: number, signal: AbortSignal | undefined) {
  try {
    const known = await rest.call('readUpload', { params: { id: session, file: fileOf(ref) } }, { signal })
    return known.size === size ? known : undefined
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}

/**
 * Downloads an attachment by its ref, still sealed. Resumes after a disconnect; rejects as
 * `uploadAttachment` does.
 */
export async function downloadAttachment(
  link: AttachmentLink,
  ref: string,
  { onProgress, signal }: TransferOptions = {}
): Promise<Uint8Array> {
  const url = `${link.rest.server}/v1/${ref}`
  const patience = createPatience(signal)
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    try {
      const range: Record<string, string> = length === 0 ? {} : { range: `bytes=${length}-` }
      const headers = { authorization: `Bearer ${link.token}`, ...range }
      const response = await reach(() => link.fetch(url, { method: 'GET', headers, ...(signal && { signal }) }), signal)
      // Its last bytes had arrived before the disconnect.
      if (response.status === 416 && length > 0) return concatBytes(...chunks)
      if (response.status >= 300) throw await refusalOf(response, signal)
      for await (const chunk of chunksOf(response.body, signal)) {
        chunks.push(chunk)
        length += chunk.length
        patience.renew()
        onProgress?.(length, length)
      }
      return concatBytes(...chunks)
    } catch (error) {
      await patience.after(error)
    }
  }
}

/** Returns the new size of the upload. */
async function sendPart(
  { rest, token, fetch }: AttachmentLink,
  { id, file }: { id: SessionId; file: AttachmentId },
  { at, bytes, signal }: { at: number; bytes: Uint8Array<ArrayBuffer>; signal: AbortSignal | undefined }
): Promise<number> {
  const url = `${rest.server}/v1/sessions/${id}/attachments/${file}/upload?at=${at}`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
  const response = await reach(() => fetch(url, { method: 'PUT', headers, body: bytes, ...(signal && { signal }) }), signal)
  // Another process has uploaded more, or less: the server says where to continue.
  if (response.status >= 300 && response.status !== 409) throw await refusalOf(response, signal)
  const { offset } = readJson(await reach(() => response.text(), signal))
  if (offset === undefined) throw new Unreachable('strange-answer')
  return offset
}

/** Waits between attempts, longer each time, and gives up after many without progress. */
function createPatience(signal: AbortSignal | undefined) {
  const backoff = createBackoff({ firstMs: 250, longestMs: 5000 })
  let attempts = 0
  const patience = {
    renew() {
      attempts = 0
      backoff.reset()
    },
    async after(error: unknown): Promise<void> {
      attempts += 1
      if (!mayRetry(error) || attempts >= mostAttempts) throw error
      await pause(error.retryAfterMs ?? backoff.nextMs(), { signal })
    },
    async try<T>(work: () => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          await patience.after(error)
        }
      }
    }
  }
  return patience
}

async function reach<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    throw new Unreachable('network', { cause })
  }
}

async function* chunksOf(body: ByteBody | null, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  if (!reader) return
  for (;;) {
    const { done, value } = await reach(() => reader.read(), signal)
    if (done) return
    if (value) yield value
  }
}

async function refusalOf(
  response: { status: number; text(): Promise<string> },
  signal: AbortSignal | undefined
): Promise<Refused | Unreachable> {
  const { error } = readJson(await reach(() => response.text(), signal))
  if (response.status >= 500) return new Unreachable('server-error', { status: response.status })
  return error === undefined ? new Unreachable('strange-answer', { status: response.status }) : new Refused(response.status, error)
}

function readJson(text: string): { offset?: number; error?: string } {
  try {
    const { offset, error } = JSON.parse(text)
    return { ...(typeof offset === 'number' && { offset }), ...(typeof error === 'string' && { error }) }
  } catch {
    return {}
  }
}

/** A ref becomes part of a URL, to which the token is sent: one written into a message is validated first. */
export function isRefOf(session: string, ref: string): boolean {
  const [folder, id, kind, file = '', ...rest] = ref.split('/')
  return folder === 'sessions' && id === session && kind === 'attachments' && /^[\w-]+\.enc$/.test(file) && rest.length === 0
}

function fileOf(ref: string): AttachmentId {
  const { data } = v.safeParse(attachmentId, ref.split('/').at(-1))
  if (data === undefined) throw new Unreachable('strange-answer')
  return data
}
