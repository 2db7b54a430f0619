import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { isUtf8 } from 'node:buffer'
import { type Failure, failure } from '../../protocol/wire/failures.ts'

/** What a request brought, copied before the first await: the library's own object is gone after it. */
export interface Request {
  method: string
  path: string
  query: URLSearchParams | undefined
  /** Percent-encoded, in the order of the path. */
  params: string[]
  authorization: string
  contentType: string
  contentLength: number
  origin: string
  /** The connection that need not hear of what this request changes. */
  skip: string
}

/** Each header costs a call into the library, so only those every route looks at are copied here. */
export function copyRequest(request: HttpRequest, paramCount: number): Request {
  const query = request.getQuery()
  return {
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: query === '' ? undefined : new URLSearchParams(query),
    params: Array.from({ length: paramCount }, (_, index) => request.getParameter(index) ?? ''),
    authorization: request.getHeader('authorization'),
    contentType: request.getHeader('content-type'),
    contentLength: Number(request.getHeader('content-length')),
    origin: request.getHeader('origin'),
    skip: request.getHeader('x-connection-id')
  }
}

/** Where a request came from: a label for lists of sign-ins, never trusted, and the network. */
export interface Sender {
  client: string
  network: string
}

export function copySender(response: HttpResponse, request: HttpRequest): Sender {
  const client = request.getHeader('x-happy-client') || request.getHeader('user-agent')
  return { client: client.slice(0, 100), network: networkOf(Buffer.from(response.getRemoteAddressAsText()).toString()) }
}

/** The network an address belongs to: /24 for IPv4, /56 for IPv6. The pairing answer goes back to where the question came from. */
export function networkOf(address: string): string {
  const mapped = /^(?:0000:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})[0-9a-f]{2}$/.exec(address)
  if (mapped)
    return mapped
      .slice(1)
      .map(part => Number.parseInt(part, 16))
      .join('.')
  return address.includes(':') ? address.slice(0, 17) : address.replace(/\.\d+$/, '')
}

/**
 * Collects a body of at most `limit` bytes. What is too large is refused while it arrives, and the rest is not kept.
 * The returned function forgets what came: `done` is not called any more.
 */
export function readBody(response: HttpResponse, limit: number, done: (body: Buffer | Failure) => void): () => void {
  let chunks: Buffer[] = []
  let length = 0
  let isOver = false

  response.onData((chunk, isLast) => {
    if (isOver) return
    length += chunk.byteLength
    isOver = isLast || length > limit
    if (length > limit) done(failure('body-too-large'))
    // The chunk is only lent. Nearly every body is one chunk, and parsed before this returns.
    else if (isLast && chunks.length === 0) done(Buffer.from(chunk))
    else {
      chunks.push(Buffer.from(chunk.slice(0)))
      if (isLast) done(Buffer.concat(chunks, length))
    }
  })
  return () => {
    isOver = true
    chunks = []
  }
}

/** An absent body counts as an empty object, whatever its content type says: existing apps send such requests. */
export function parseBody(body: Buffer, contentType: string): unknown {
  if (body.length === 0) return {}
  if (contentType !== '' && !/^(application\/json|text\/plain)\b/i.test(contentType)) throw failure('bad-content-type')
  if (!isUtf8(body)) throw failure('bad-input', 'body is not UTF-8')
  try {
    return JSON.parse(body.toString())
  } catch {
    throw failure('bad-input', 'body is not JSON')
  }
}
