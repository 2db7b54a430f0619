import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { isUtf8 } from 'node:buffer'
import type { Clock } from '../../../async/clock.ts'
import { type Failure, failure } from '../../../protocol/wire/failures.ts'
import { networkOf, readAddress, type TrustedProxies } from '../../address.ts'
import type { Share } from '../../budget.ts'
import { peerOf } from '../listen/own-address.ts'
import { readJson } from './json.ts'

/** The content of a request, copied before the first await: the library's own object is invalid after it. */
export interface Request {
  query: URLSearchParams | undefined
  /** Percent-encoded, in the order of the path. */
  params: string[]
  authorization: string
  contentType: string
  contentLength: number
  origin: string
  /** The connection that does not need this request's changes. */
  skip: string
}

/** Each header costs a call into the library, so only those that every route needs are copied here. */
export function copyRequest(request: HttpRequest, paramCount: number): Request {
  const query = request.getQuery()
  const params: string[] = []
  for (let index = 0; index < paramCount; index += 1) params.push(request.getParameter(index) ?? '')
  return {
    query: query === '' ? undefined : new URLSearchParams(query),
    params,
    authorization: request.getHeader('authorization'),
    contentType: request.getHeader('content-type'),
    contentLength: lengthOf(request),
    origin: request.getHeader('origin'),
    skip: request.getHeader('x-connection-id')
  }
}

/** Of its body; 0 when it has none. */
export function lengthOf(request: HttpRequest): number {
  return Number(request.getHeader('content-length'))
}

/** Where a request came from: a label for lists of sign-ins, never trusted, the address, and its network. */
export interface Sender {
  client: string
  address: string
  network: string
}

export function copySender(response: HttpResponse, request: HttpRequest, isProxy: TrustedProxies): Sender {
  const client = request.getHeader('x-happy-client') || request.getHeader('user-agent')
  const address = addressOf(response, request, isProxy)
  return { client: client.slice(0, 100), address, network: networkOf(address) }
}

/**
 * The address a request came from. Anyone can write a header, so one counts only if a proxy of ours sent
 * it, and of its hops only the one seen by our last proxy: the rightmost that is not a proxy of ours.
 */
export function addressOf(response: HttpResponse, request: HttpRequest, isProxy: TrustedProxies): string {
  const peer = peerOf(response)
  return isProxy(peer) ? firstOutside(hopsOf(request), isProxy, peer) : peer
}

function firstOutside(hops: readonly string[], isProxy: TrustedProxies, peer: string): string {
  let nearest = peer
  for (const hop of hops.toReversed()) {
    const address = readAddress(hop)
    if (address === undefined) return nearest
    nearest = address
    if (!isProxy(address)) return address
  }
  return nearest
}

// Every line of a header counts: some proxies add their own below the client's. If the two kinds of header
// disagree, one of them was not written by the proxy, and we cannot tell which.
function hopsOf(request: HttpRequest): string[] {
  const plain: string[] = []
  const forwarded: string[] = []
  request.forEach((name, value) => {
    if (name === 'x-forwarded-for') plain.push(...value.split(',').map(hop => hop.trim()))
    if (name === 'forwarded') forwarded.push(...value.split(',').map(forOf))
  })
  if (plain.length === 0) return forwarded
  return forwarded.length === 0 || forwarded.at(-1) === plain.at(-1) ? plain : []
}

function forOf(element: string): string {
  return /(?:^|;)\s*for="?([^";]*)"?/i.exec(element)?.[1]?.trim() ?? ''
}

/** This much of a body is free, so that small ones pass when the budget is used up. */
const smallBytes = 16 * 1024

/**
 * Collects a body of at most `limit` bytes. A larger one is rejected while it arrives, and the rest is not kept. It
 * ends with `busy` if all bodies together are too large, or if it has been arriving for long and others need the
 * memory. The body is valid only until `done` returns. The returned function discards what has arrived: `done` is no
 * longer called.
 */
export function readBody(
  response: HttpResponse,
  { limit, share, clock }: { limit: number; share: Share; clock: Clock },
  done: (body: Buffer | Failure) => void
): () => void {
  let gathered: Gathered | undefined
  let length = 0
  let isOver = false

  response.onData((chunk, isLast) => {
    if (isOver) return
    length += chunk.byteLength
    // The chunk is only valid during the call. Nearly every body is one chunk, and parsed before this
    // returns.
    if (length <= limit && isLast && !gathered) end(Buffer.from(chunk))
    else if (length > limit) end(failure('body-too-large'))
    else if (length > smallBytes && !share.take(chunk.byteLength)) end(failure('busy'))
    else {
      if (!gathered) {
        gathered = new Gathered(limit)
        share.lend(clock, () => end(failure('busy')))
      }
      gathered.add(chunk)
      if (isLast) end(gathered.bytes)
    }
  })
  return forget

  function end(body: Buffer | Failure) {
    isOver = true
    share.giveBack()
    try {
      done(body)
    } finally {
      forget()
    }
  }
  function forget() {
    isOver = true
    gathered?.free()
    share.giveBack()
  }
}

/**
 * The chunks of a body, contiguous in memory of its own. Freed memory is returned to the system at once: a
 * few large bodies waiting for the garbage collector would use all there is.
 */
class Gathered {
  readonly #memory: ArrayBuffer
  #length = 0

  /** Memory that nothing was written to is only reserved. */
  constructor(most: number) {
    this.#memory = new ArrayBuffer(0, { maxByteLength: most })
  }

  get bytes(): Buffer {
    return Buffer.from(this.#memory, 0, this.#length)
  }

  add(chunk: ArrayBuffer): void {
    this.#memory.resize(this.#length + chunk.byteLength)
    new Uint8Array(this.#memory).set(new Uint8Array(chunk), this.#length)
    this.#length += chunk.byteLength
  }

  free(): void {
    if (!this.#memory.detached) this.#memory.transfer(0)
  }
}

/** An absent body counts as an empty object, whatever its content type: existing apps send such requests. */
export function parseBody(body: Buffer, contentType: string): unknown {
  if (body.length === 0) return {}
  if (contentType !== '' && !/^(application\/json|text\/plain)\b/i.test(contentType)) throw failure('bad-content-type')
  if (!isUtf8(body)) throw failure('bad-input', 'body is not UTF-8')
  const read = readJson(body.toString())
  if (read === 'no-json') throw failure('bad-input', 'body is not JSON')
  if (read === 'not-modest') throw failure('bad-input', 'body has too many values, or too deep ones')
  return read.value
}
