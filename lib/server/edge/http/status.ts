import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { createHash, timingSafeEqual } from 'node:crypto'
import { programName, version } from '../../../assets.ts'
import { readAddress, type TrustedProxies } from '../../address.ts'
import type { Backups } from '../../chores/backups.ts'
import type { BackupState, Metrics } from '../../watch/metrics.ts'
import type { SecurityLog } from '../../watch/security-log.ts'
import type { OwnAddress } from '../listen/own-address.ts'
import { pathOf, type Routes } from '../listen/routes.ts'
import { type AnswerSender, Client } from './answer-sender.ts'
import { notAPage } from './byte-answer.ts'
import { statusLine } from './reply.ts'
import { addressOf } from './request.ts'

/** A restarting server is back soon, and a disk may have space at any moment. */
const retryAfterSeconds = '5'

/** The server's state: running, closing, or unable to store anything. */
type Health = 'ok' | 'draining' | 'storage-full' | 'storage-failed'

export interface StatusDeps {
  isProxy: TrustedProxies
  ownAddress: OwnAddress
  health: () => Promise<Health>
  /** Whether there is no account yet, so that the first needs the setup code. */
  needsSetupCode: () => Promise<boolean>
  /** False if every new account is rejected, so that the app need not offer one. */
  acceptsAccounts: () => Promise<boolean>
  metrics: Metrics
  securityLog: Pick<SecurityLog, 'rejected'> | undefined
  answerSender: AnswerSender
  /** Undefined without scheduled backups. */
  backups?: Pick<Backups, 'state'> | undefined
  /** Undefined with metrics off. */
  scrape: { token: string; text: () => Promise<string> } | undefined
}

/**
 * For supervisors and monitors, without an account: `/health` and `/ready` answer 503 while the server
 * closes and when its store cannot be read, to HEAD too; `/metrics` exists only for requests with its
 * token.
 */
export function serveStatus(app: Routes, deps: StatusDeps): void {
  const { health, needsSetupCode, acceptsAccounts, metrics, answerSender, backups, scrape } = deps
  const running = { version: version(), program: programName() }
  serve(app, '/health', (response, request) => {
    const claim = request.getQuery('claim')
    const received = claim && { received: receivedFrom(response, request, claim, deps) }
    answerLater(response, request, { metrics, answerSender }, async () => {
      const is = await health()
      return json(is === 'ok' ? 200 : 503, {
        status: is === 'ok' ? 'ok' : 'error',
        timestamp: new Date().toISOString(),
        service: 'afield',
        ...running,
        needsSetupCode: is === 'ok' && (await needsSetupCode()),
        ...(is === 'ok' && { acceptsAccounts: await acceptsAccounts() }),
        ...(backups && { backup: shown(backups.state()) }),
        ...received
      })
    })
  })
  serve(app, '/ready', (response, request) => {
    answerLater(response, request, { metrics, answerSender }, async () => {
      const is = await health()
      return json(is === 'ok' ? 200 : 503, is === 'ok' ? { ready: true } : { ready: false, reason: is })
    })
  })
  if (!scrape) return
  app.get('/metrics', (response, request) => {
    const mayRead = isToken(request.getHeader('authorization'), scrape.token)
    if (!mayRead)
      deps.securityLog?.rejected({ address: addressOf(response, request, deps.isProxy), route: 'GET /metrics', code: 'bad-token' })
    answerLater(response, request, { metrics, answerSender }, async () =>
      mayRead
        ? { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', text: await scrape.text() }
        : json(401, { error: 'Invalid token' })
    )
  })
}

/** What reaches the server of a request: for `afield doctor`, which sends one through the proxies on the way. */
export interface Received {
  /** The address of this server, as the request names it. */
  url: string
  origin: string
  /** Whether proxies say where the request comes from, and the server believes them. */
  forwarded: 'no' | 'untrusted' | 'trusted'
  /** Whether the address that the sender claims to have is the one that limits are counted for. */
  isClaimBelieved: boolean
}

// Not the address itself: of a proxy it would tell strangers how it is reached.
function receivedFrom(
  response: HttpResponse,
  request: HttpRequest,
  claim: string,
  { isProxy, ownAddress }: Pick<StatusDeps, 'isProxy' | 'ownAddress'>
): Received {
  const isForwarded = request.getHeader('x-forwarded-for') !== '' || request.getHeader('forwarded') !== ''
  const isTrusted = isProxy(addressOf(response, request, () => false))
  return {
    url: ownAddress(response, request),
    origin: request.getHeader('origin'),
    forwarded: !isForwarded ? 'no' : isTrusted ? 'trusted' : 'untrusted',
    isClaimBelieved: addressOf(response, request, isProxy) === readAddress(claim)
  }
}

function serve(app: Routes, path: string, handler: Parameters<Routes['get']>[1]): void {
  app.get(path, handler)
  app.head(path, handler)
}

// A failed backup does not affect clients, so it is reported and changes no status.
function shown({ last, goodAt }: BackupState) {
  return { last, goodAt: goodAt === undefined ? null : new Date(goodAt).toISOString() }
}

interface Told {
  status: number
  type: string
  text: string
}

function json(status: number, body: unknown): Told {
  return { status, type: 'application/json; charset=utf-8', text: JSON.stringify(body) }
}

function answerLater(
  response: HttpResponse,
  request: HttpRequest,
  { metrics, answerSender }: Pick<StatusDeps, 'metrics' | 'answerSender'>,
  tell: () => Promise<Told>
): void {
  const route = `GET ${pathOf(request)}`
  const isHead = request.getMethod() === 'head'
  const beganAt = performance.now()
  const client = new Client()
  response.onAborted(() => client.left())
  const answer = ({ status, type, text }: Told) => {
    metrics.requestAnswered(route, status, performance.now() - beganAt)
    const writeHead = () => {
      response.writeStatus(statusLine(status)).writeHeader('content-type', type).writeHeader('cache-control', 'no-store')
      for (const [name, value] of notAPage) response.writeHeader(name, value)
      if (status === 503) response.writeHeader('retry-after', retryAfterSeconds)
    }
    if (!isHead) answerSender.send(response, client, { writeHead, body: text })
    else answerSender.sendHead(response, client, { writeHead, length: Buffer.byteLength(text) })
  }
  tell().then(answer, () => answer(json(503, { error: 'Service Unavailable' })))
}

// Compared by digest, so that the timing reveals nothing of the token.
function isToken(authorization: string, token: string): boolean {
  const shown = /^Bearer (\S+)$/i.exec(authorization)?.[1] ?? ''
  return timingSafeEqual(digest(shown), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
