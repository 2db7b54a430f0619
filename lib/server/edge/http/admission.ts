import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { isLoopback, type ServerOptions } from '../../../options.ts'
import { type FailureCode, failure } from '../../../protocol/wire/failures.ts'
import type { PublicAddress } from '../../address.ts'
import { changeRoutes, type Routes } from '../listen/routes.ts'
import { notAPage } from './byte-answer.ts'
import { replyTo, statusLine } from './reply.ts'

/** Why a request must not reach any handler; undefined if it may. */
type Admission = (request: HttpRequest) => FailureCode | undefined

interface AdmissionOptions extends Pick<ServerOptions, 'host'> {
  publicAddress: PublicAddress
  /** Whether this program listens on an address; otherwise its host, or the mode of its socket, decides who can reach the server. */
  listens: boolean
}

/** Checked for every request, before its route. */
export function createAdmission({ host, publicAddress, listens }: AdmissionOptions): Admission {
  const isOwnName = listens && isLoopback(host) ? nameCheck(publicAddress) : () => true
  return request => {
    const doubt = doubtOf(request)
    if (doubt) return doubt
    if (!isOwnName(request.getHeader('host'))) return 'wrong-host'
    if (isUnderPath(request)) return 'sub-path'
    // URLs are stored in logs and histories.
    return namesToken(request.getQuery()) ? 'token-in-address' : undefined
  }
}

// A proxy that serves us under a path removes that from the request, and some say so. Browsers separate keys and pages by
// origin, which does not include the path.
function isUnderPath(request: HttpRequest): boolean {
  return !/^\/*$/.test(request.getHeader('x-forwarded-prefix').trim())
}

// Names are decoded as programs do: percent-encoded letters are the same letters.
function namesToken(query: string | undefined): boolean {
  if (!query) return false
  for (const name of new URLSearchParams(query).keys()) if (/^(?:access_)?token$/i.test(name)) return true
  return false
}

/** The same routes, closed to everything that `admit` rejects. */
export function guardRoutes(
  app: Routes,
  admit: Admission,
  onRefused: (code: FailureCode, response: HttpResponse, request: HttpRequest) => void
): Routes {
  const guarded =
    <Rest extends unknown[]>(handler: (response: HttpResponse, request: HttpRequest, ...rest: Rest) => void | Promise<void>) =>
    (response: HttpResponse, request: HttpRequest, ...rest: Rest) => {
      const code = admit(request)
      if (code === undefined) return handler(response, request, ...rest)
      onRefused(code, response, request)
      turnAway(response, code)
    }
  return changeRoutes(app, {
    handler: guarded,
    sockets: behavior => ({ ...behavior, ...(behavior.upgrade && { upgrade: guarded(behavior.upgrade) }) })
  })
}

// Where one request ends and the next begins must be clear to every program on the way. The library goes by the first
// length; of chunks it reads what no other program would: extensions as part of a length, anything at all for a line's end.
function doubtOf(request: HttpRequest): FailureCode | undefined {
  let lengths = 0
  let encodings = 0
  let isClear = true
  request.forEach((name, value) => {
    if (name === 'content-length') {
      lengths += 1
      isClear &&= /^\d{1,15}$/.test(value)
    } else if (name === 'transfer-encoding') {
      encodings += 1
      isClear &&= value.toLowerCase() === 'chunked'
    }
  })
  if (!isClear || lengths + encodings > 1) return 'ambiguous-request'
  return encodings === 0 ? undefined : 'no-length'
}

// A page on the internet can resolve its name to this machine, and would then count as ours [H4].
function nameCheck(publicAddress: PublicAddress): (host: string) => boolean {
  let known: string | undefined
  return host => {
    if (host === known) return true
    const name = host.toLowerCase().replace(/:\d*$/, '')
    if (name !== publicAddress.url?.hostname && !isLoopback(name.replace(/^\[(.*)\]$/, '$1'))) return false
    known = host
    return true
  }
}

function turnAway(response: HttpResponse, code: FailureCode): void {
  const { status, body } = replyTo(failure(code))
  let isGone = false
  response.onAborted(() => {
    isGone = true
  })
  // Later, because nothing that follows can be trusted to be a request: while an answer is due, the
  // library closes a connection that sends another one.
  setImmediate(() => {
    if (isGone) return
    response.cork(() => {
      response.writeStatus(statusLine(status)).writeHeader('content-type', 'application/json; charset=utf-8')
      for (const [name, value] of notAPage) response.writeHeader(name, value)
      response.end(JSON.stringify(body), true)
    })
  })
}
