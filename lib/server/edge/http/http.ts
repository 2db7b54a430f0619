import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { Clock } from '../../../async/clock.ts'
import { Failure, failure } from '../../../protocol/wire/failures.ts'
import { type ConnectionId, connectionId } from '../../../protocol/wire/ids.ts'
import { type BytesOut, bytesIn, bytesOut, type Route, type RouteName, routes } from '../../../protocol/wire/routes.ts'
import * as v from '../../../schema.ts'
import { type Authenticator, type Bearer, mustAllow } from '../../actions/sign-in/authenticate.ts'
import { subnetOf, type TrustedProxies } from '../../address.ts'
import type { Budget } from '../../budget.ts'
import type { Caller } from '../../deps.ts'
import { type LimitName, type Limits, leastBytes, limits, limitsOf } from '../../limits.ts'
import type { OwnAddress } from '../listen/own-address.ts'
import type { Routes } from '../listen/routes.ts'
import type { Strangers } from '../listen/strangers.ts'
import { BodyStream } from './body-stream.ts'
import { type ExchangeDeps, openExchange } from './exchange.ts'
import type { Asked, HttpHandlers } from './handlers.ts'
import type { ReadQueue } from './read-queue.ts'
import { addressOf, copyRequest, copySender, parseBody, type Request, readBody, type Sender } from './request.ts'
import { RequestLimits } from './request-limits.ts'

export interface HttpDeps extends ExchangeDeps {
  handlers: HttpHandlers
  isServing: () => boolean
  authenticator: Pick<Authenticator, 'bearer' | 'isRevoked'>
  limits: Limits
  isProxy: TrustedProxies
  clock: Clock
  ownAddress: OwnAddress
  /** The memory for arriving bodies, and for large ones until they are answered. */
  bodies: Budget
  strangers: Pick<Strangers, 'know' | 'isKnown' | 'isCrowded'>
  reads: ReadQueue
}

/** Some apps send a body where none belongs; this much of it is accepted and ignored. */
const ignoredBodyBytes = 64 * 1024
/** From here on a body counts while it is processed, not only while it arrives. */
const largeBytes = 1024 * 1024

interface Binding extends Route<v.GenericSchema, v.GenericSchema, v.GenericSchema, v.GenericSchema> {
  /** Its name in logs and metrics. */
  label: string
  paramNames: string[]
  limits: readonly LimitName[]
  /** Whether the origin of the request is needed: finding it takes several calls into the library. */
  wantsSender: boolean
  /** It only reads what is stored, and its answer may be long. */
  isRead: boolean
  handler: (asked: Parsed) => Promise<unknown>
}

/** A request parsed by the schemas of its route. */
interface Parsed extends Pick<Asked<RouteName>, 'gone' | 'address'> {
  caller: Caller | undefined
  from: Sender
  params: unknown
  query: unknown
  body: unknown
}

/** Binds every route of the protocol to its handler. */
export function serveRoutes(app: Routes, deps: HttpDeps): void {
  for (const name of Object.keys(routes) as RouteName[]) {
    const route = routes[name]
    const paramNames = route.path.split('/').flatMap(segment => (segment.startsWith(':') ? [segment.slice(1)] : []))
    // One table, one loop: the handlers' definition checks that handler and route match.
    const handler = deps.handlers[name] as Binding['handler']
    const counted = limitsOf(name, route.auth !== 'none')
    const wantsSender = route.auth === 'none' || counted.some(limit => limits[limit].by === 'address')
    const label = `${route.method} ${route.path}`
    const binding: Binding = {
      ...route,
      label,
      paramNames,
      limits: counted,
      wantsSender,
      isRead: route.auth === 'read' && route.reply !== bytesOut,
      handler
    }
    const bind = { GET: app.get, POST: app.post, PUT: app.put, DELETE: app.del }[route.method]
    bind.call(app, route.path, (response, request) => serve(deps, binding, response, request))
  }
}

function serve(deps: HttpDeps, binding: Binding, response: HttpResponse, request: HttpRequest): void {
  const copied = copyRequest(request, binding.paramNames.length)
  const sender = binding.wantsSender || deps.securityLog ? copySender(response, request, deps.isProxy) : unnamed
  const address = binding.tellsAddresses ? deps.ownAddress(response, request) : ''
  const range = binding.reply === bytesOut ? request.getHeader('range') : ''
  const { answer, answerBytes, refuse, client, gone } = openExchange(
    response,
    { route: binding.label, origin: copied.origin, address: sender.address },
    deps
  )

  const requestLimits = new RequestLimits(deps.limits, binding.limits, sender, network => deps.strangers.isKnown(network))

  // The client's retry reaches the next server.
  if (!deps.isServing()) {
    refuse(failure('ending'))
    return
  }
  // An oversized body is rejected before it is accepted, and an unauthorized client before a byte is
  // parsed.
  const limit = binding.limit || ignoredBodyBytes
  if (copied.contentLength > limit) {
    refuse(failure('body-too-large'))
    return
  }
  const caller = findCaller()
  if (caller instanceof Failure) {
    refuse(caller)
    return
  }

  // Until they are authenticated, all callers share one key.
  const share = deps.bodies.share(caller instanceof Promise ? '' : (caller?.account ?? ''))
  if (binding.body === bytesIn) {
    const body = new BodyStream(response, { limit, share, clock: deps.clock })
    client.whenGone(() => body.cut())
    handleStream(caller, body).catch(refuse)
    return
  }
  const dropBody = readBody(response, { limit, share, clock: deps.clock }, body => {
    try {
      if (body instanceof Failure) throw body
      if (caller instanceof Promise) runLater(caller, Buffer.from(body)).catch(refuse)
      else run(caller, body)
    } catch (error) {
      refuse(error)
    }
  })
  client.whenGone(dropBody)
  // An unauthenticated client is told as soon as that is known, however long its body still takes.
  if (caller instanceof Promise) {
    caller.catch(error => {
      dropBody()
      refuse(error)
    })
  }

  function findCaller(): Bearer | undefined | Failure | Promise<Bearer | undefined> {
    try {
      const bearer = binding.auth === 'none' ? undefined : findBearer(deps, copied.authorization, response, request)
      // Finding every client's origin costs too much in normal operation.
      if (!(bearer instanceof Promise)) {
        if (bearer && deps.strangers.isCrowded) deps.strangers.know(subnetOf(addressOf(response, request, deps.isProxy)))
        return admitted(bearer)
      }
      const from = subnetOf(addressOf(response, request, deps.isProxy))
      return bearer.then(found => {
        if (found) deps.strangers.know(from)
        return admitted(found)
      })
    } catch (error) {
      if (error instanceof Failure) return error
      throw error
    }
  }

  function admitted(bearer: Bearer | undefined): Bearer | undefined {
    if (bearer === undefined && binding.auth !== 'none') throw failure('bad-token')
    requestLimits.open(bearer, copied.contentLength)
    return bearer
  }

  // The bytes are a copy: the library's own are gone by the time the bearer is found.
  async function runLater(later: Promise<Bearer | undefined>, body: Buffer): Promise<void> {
    run(await later, body)
  }

  function run(found: Bearer | undefined, body: Buffer): void {
    if (!found || !binding.isRead) {
      void runAtOnce(found, body)
      return
    }
    // By its turn, the library's own request object is no longer valid.
    const copy = Buffer.from(body)
    deps.reads.run(found.account, () => runInTurn(found, copy).catch(refuse))
  }

  async function runInTurn(found: Bearer, body: Buffer): Promise<void> {
    if (client.isGone) return
    // Earlier requests may have used up the allowance with which it was admitted.
    requestLimits.checkBytes(found)
    await runAtOnce(found, body)
  }

  function runAtOnce(found: Bearer | undefined, body: Buffer): Promise<void> {
    const work = handle(found, body)
    if (body.length > largeBytes) holdUntil(work, found, body.length)
    return work.then(
      reply => respond(found, reply),
      error => refuseAs(found, error)
    )
  }

  // The bytes are released, but their content is in memory until it is stored.
  function holdUntil(work: Promise<unknown>, found: Bearer | undefined, bytes: number): void {
    const held = deps.bodies.share(found?.account ?? '')
    held.take(bytes)
    const giveBack = () => held.giveBack()
    work.then(giveBack, giveBack)
  }

  function handle(found: Bearer | undefined, body: Buffer | BodyStream): Promise<unknown> {
    if (found && deps.authenticator.isRevoked(found.token)) throw failure('bad-token')
    if (found && binding.auth !== 'none') mustAllow(found, binding.auth)
    return binding.handler(parseAsked(binding, copied, body, { bearer: found, from: sender, address, gone }))
  }

  async function handleStream(from: Bearer | undefined | Promise<Bearer | undefined>, body: BodyStream): Promise<void> {
    try {
      const found = await from
      const reply = await handle(found, body)
      body.drop()
      respond(found, reply)
    } finally {
      body.drop()
    }
  }

  // An answer with the current value may be as long as any.
  function refuseAs(found: Bearer | undefined, error: unknown): void {
    const length = refuse(error, found?.account)
    if (length > leastBytes) requestLimits.answered(found, length)
  }

  function respond(found: Bearer | undefined, reply: unknown): void {
    // The table says which routes answer with bytes.
    const length = binding.reply === bytesOut ? answerBytes(reply as BytesOut, range) : answer({ status: 200, body: reply }, found?.account)
    requestLimits.answered(found, length)
  }
}

const unnamed: Sender = { client: '', address: '', network: '' }

function findBearer(
  { authenticator, isProxy }: Pick<HttpDeps, 'authenticator' | 'isProxy'>,
  authorization: string,
  response: HttpResponse,
  request: HttpRequest
): Bearer | Promise<Bearer | undefined> {
  const token = /^Bearer (\S+)$/i.exec(authorization)?.[1]
  if (!token) throw failure('no-token')
  const bearer = authenticator.bearer(token, () => copySender(response, request, isProxy).network)
  if (!bearer) throw failure('bad-token')
  return bearer
}

function parseAsked(
  binding: Binding,
  request: Request,
  body: Buffer | BodyStream,
  { bearer, ...from }: { bearer: Bearer | undefined; from: Sender; address: string; gone: () => AbortSignal }
): Parsed {
  const takesBody = binding.method === 'POST' || binding.method === 'PUT'
  return {
    caller: bearer && { ...bearer, skip: skipOf(request) },
    params: parsed(binding.params, namedParams(binding.paramNames, request.params), 'path'),
    query: parsed(binding.query, request.query ? Object.fromEntries(request.query) : {}, 'query'),
    body: body instanceof BodyStream ? body : parsed(binding.body, takesBody ? parseBody(body, request.contentType) : {}, 'body'),
    ...from
  }
}

function skipOf({ skip }: Request): ConnectionId | undefined {
  return skip === '' ? undefined : v.safeParse(connectionId, skip).data
}

function parsed(schema: v.GenericSchema, value: unknown, where: string): unknown {
  const result = v.safeParse(schema, value)
  if (result.success) return result.data
  const { path, message } = result.problem
  // The reason names the place and the expected type, never the received value.
  throw failure('bad-input', `${[where, ...path].join('/')} ${message}`)
}

function namedParams(names: readonly string[], values: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {}
  // The names are those of our own routes.
  for (const [index, name] of names.entries()) params[name] = decodeParam(values[index] ?? '')
  return params
}

function decodeParam(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw failure('bad-input', 'path is not percent-encoded text')
  }
}
