import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'
import type { z } from 'zod'
import { Failure, failure } from '../../protocol/wire/failures.ts'
import { connectionId } from '../../protocol/wire/ids.ts'
import { type Route, type RouteName, routes } from '../../protocol/wire/routes.ts'
import { type Bearer, StoreBroken, StoreFull } from '../../store/store.ts'
import type { Authenticator } from '../actions/authenticate.ts'
import type { Caller } from '../actions/deps.ts'
import type { Asked, HttpHandlers } from './handlers.ts'
import { type Reply, replyTo, statusLine } from './reply.ts'
import { copyRequest, networkOf, parseBody, type Request, readBody } from './request.ts'

export interface HttpDeps {
  handlers: HttpHandlers
  authenticator: Pick<Authenticator, 'bearer'>
  corsOrigin: string
  onError: (error: unknown) => void
}

/** Some apps send a body where none belongs; that much of it is taken and not looked at. */
const ignoredBodyBytes = 64 * 1024

type AnyRoute = Route<z.ZodType, z.ZodType, z.ZodType, z.ZodType>

/** Binds every route of the protocol to its handler. */
export function serveRoutes(app: TemplatedApp, deps: HttpDeps): void {
  for (const [name, route] of Object.entries(routes) as [RouteName, AnyRoute][]) {
    const { method, path } = route
    const paramCount = path.split('/:').length - 1
    // One table, one loop: that handler and route belong together is checked where the handlers are made.
    const handler = deps.handlers[name] as (asked: Asked<RouteName>) => Promise<unknown>
    const bind = { GET: app.get, POST: app.post, PUT: app.put, DELETE: app.del }[method]
    bind.call(app, path, (response, request) => serve(deps, route, handler, paramCount, response, request))
  }
}

function serve(
  deps: HttpDeps,
  route: AnyRoute,
  handler: (asked: Asked<RouteName>) => Promise<unknown>,
  paramCount: number,
  response: HttpResponse,
  request: HttpRequest
): void {
  const copied = copyRequest(response, request, paramCount)
  const exchange = openExchange(response, copied, deps.corsOrigin)
  const refuse = (error: unknown) => exchange.answer(refusalOf(error, deps))

  // Who may not ask is told so before a byte of the body is looked at, and what is too large before it is taken.
  const limit = route.limit || ignoredBodyBytes
  if ((copied.contentLength ?? 0) > limit) {
    refuse(failure('body-too-large'))
    return
  }
  const bearer = route.auth === 'none' ? undefined : findBearer(deps.authenticator, copied.authorization)
  if (bearer instanceof Failure) {
    refuse(bearer)
    return
  }

  readBody(response, limit, body => {
    if (body instanceof Failure) {
      refuse(body)
      return
    }
    const run = (found: Bearer | undefined, bytes: Buffer) => {
      const asked = parseAsked(route, copied, bytes, found)
      handler(asked).then(reply => exchange.answer({ status: 200, body: reply }), refuse)
    }
    try {
      if (bearer instanceof Promise) runLater(bearer, Buffer.from(body), run).catch(refuse)
      else run(bearer, body)
    } catch (error) {
      refuse(error)
    }
  })
}

function findBearer(authenticator: Pick<Authenticator, 'bearer'>, authorization: string): Bearer | Failure | Promise<Bearer | undefined> {
  const token = /^Bearer (\S+)$/i.exec(authorization)?.[1]
  if (!token) return failure('no-token')
  return authenticator.bearer(token) ?? failure('bad-token')
}

// The bytes are a copy: what the library lent is gone by the time the bearer is found.
async function runLater(bearer: Promise<Bearer | undefined>, body: Buffer, run: (found: Bearer, body: Buffer) => void): Promise<void> {
  const found = await bearer
  if (!found) throw failure('bad-token')
  run(found, body)
}

const nobody = { account: '', token: '', kind: 'account', skip: undefined } as unknown as Caller

function parseAsked(route: AnyRoute, request: Request, body: Buffer, bearer: Bearer | undefined): Asked<RouteName> {
  const input = route.method === 'GET' || route.method === 'DELETE' ? {} : parseBody(body, request.contentType)
  const skip = connectionId.safeParse(request.skip)
  return {
    // Routes without sign-in never look at their caller.
    caller: bearer ? { ...bearer, skip: skip.success ? skip.data : undefined } : nobody,
    params: parsed(route.params, namedParams(route.path, request.params), 'path') as never,
    query: parsed(route.query, Object.fromEntries(request.query), 'query') as never,
    body: parsed(route.body, input, 'body') as never,
    from: { client: request.client, network: networkOf(request.address) }
  }
}

function parsed(schema: z.ZodType, value: unknown, where: string): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  // The reason names the place and what was wanted, never what was sent.
  throw failure('bad-input', `${[where, ...(issue?.path ?? [])].join('/')} ${issue?.message ?? 'Invalid input'}`)
}

function namedParams(path: string, values: string[]): Record<string, string> {
  const names = path.split('/').flatMap(segment => (segment.startsWith(':') ? [segment.slice(1)] : []))
  return Object.fromEntries(names.map((name, index) => [name, decodeParam(values[index] ?? '')]))
}

function decodeParam(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw failure('bad-input', 'path is not percent-encoded text')
  }
}

function refusalOf(error: unknown, { onError }: Pick<HttpDeps, 'onError'>): Reply {
  if (error instanceof Failure) return replyTo(error)
  if (error instanceof StoreFull) return replyTo(failure('storage-full'))
  if (error instanceof StoreBroken) return replyTo(failure('storage-failed'))
  onError(error)
  return replyTo(failure('internal'))
}

export interface Exchange {
  /** Sends the answer once; does nothing when the client has gone. */
  answer(reply: Reply): void
}

export function openExchange(response: HttpResponse, { origin }: Pick<Request, 'origin'>, corsOrigin: string): Exchange {
  let isOver = false
  response.onAborted(() => {
    isOver = true
  })
  return {
    answer({ status, body }) {
      if (isOver) return
      isOver = true
      const text = JSON.stringify(body)
      response.cork(() => {
        response.writeStatus(statusLine(status))
        if (origin !== '') response.writeHeader('access-control-allow-origin', corsOrigin)
        response.writeHeader('content-type', 'application/json; charset=utf-8').writeHeader('cache-control', 'no-store')
        // What was refused while it arrived is not read to its end.
        response.end(text, status === 413)
      })
    }
  }
}
