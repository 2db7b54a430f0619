import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { isUtf8 } from 'node:buffer'
import { type Failure, failure } from '../../protocol/wire/failures.ts'

/** What a request brought, copied before the first await: the library's own object is gone after it. */
export interface Request {
  method: string
  path: string
  query: URLSearchParams
  /** Percent-encoded, in the order of the path. */
  params: string[]
  authorization: string
  contentType: string
  contentLength: number | undefined
  /** Label of the client for lists of sign-ins; never trusted. */
  client: string
  skip: string
  origin: string
  askedHeaders: string
  acceptsHtml: boolean
  acceptsBrotli: boolean
  knownTag: string
  address: string
}

export function copyRequest(response: HttpResponse, request: HttpRequest, paramCount: number): Request {
  const length = request.getHeader('content-length')
  return {
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: new URLSearchParams(request.getQuery()),
    params: Array.from({ length: paramCount }, (_, index) => request.getParameter(index) ?? ''),
    authorization: request.getHeader('authorization'),
    contentType: request.getHeader('content-type'),
    contentLength: length === '' ? undefined : Number(length),
    client: request.getHeader('x-happy-client').slice(0, 100) || request.getHeader('user-agent').slice(0, 100),
    skip: request.getHeader('x-connection-id'),
    origin: request.getHeader('origin'),
    askedHeaders: request.getHeader('access-control-request-headers'),
    acceptsHtml: request.getHeader('accept').includes('text/html'),
    acceptsBrotli: request.getHeader('accept-encoding').includes('br'),
    knownTag: request.getHeader('if-none-match'),
    address: Buffer.from(response.getRemoteAddressAsText()).toString()
  }
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

/** Collects a body of at most `limit` bytes. What is too large is refused while it arrives, and the rest is not kept. */
export function readBody(response: HttpResponse, limit: number, done: (body: Buffer | Failure) => void): void {
  const chunks: Buffer[] = []
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
