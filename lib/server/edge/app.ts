import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { Clock } from '../../async/clock.ts'
import type { ServerOptions } from '../../options.ts'
import { type FailureCode, failures } from '../../protocol/wire/failures.ts'
import { socketPath } from '../../protocol/wire/handshake.ts'
import type { PublicAddress } from '../address.ts'
import { Budget } from '../budget.ts'
import type { SocketSeats } from '../hub/socket-seats.ts'
import { createAdmission, guardRoutes } from './http/admission.ts'
import { AnswerSender, Client } from './http/answer-sender.ts'
import { openExchange } from './http/exchange.ts'
import { type HttpDeps, serveRoutes } from './http/http.ts'
import { ReadQueue } from './http/read-queue.ts'
import { notFound } from './http/reply.ts'
import { addressOf } from './http/request.ts'
import { createStaticFiles } from './http/static.ts'
import { type StatusDeps, serveStatus } from './http/status.ts'
import { welcome } from './http/welcome.ts'
import { WriteTurn } from './http/write-turn.ts'
import { LargePacketSlots } from './listen/large-packet-slots.ts'
import { ownListener, sharedListener } from './listen/listener.ts'
import { createOwnAddress } from './listen/own-address.ts'
import { PreSignInSlots } from './listen/pre-sign-in-slots.ts'
import { createProxyHint } from './listen/proxy-hint.ts'
import { acceptDoubleSlash, type Routes } from './listen/routes.ts'
import { Strangers } from './listen/strangers.ts'
import { createAckIds } from './socket/ack-ids.ts'
import { Backlog } from './socket/backlog.ts'
import { ConnectionAdmission } from './socket/connection-admission.ts'
import type { EngineConnection } from './socket/engineio.ts'
import { EventQueue } from './socket/event-queue.ts'
import { Heartbeat } from './socket/heartbeat.ts'
import { PollingClients } from './socket/polling.ts'
import { SocketConnection, type SocketDeps } from './socket/socketio.ts'
import { webSocketBehaviors } from './socket/websocket-routes.ts'

/** The memory for all bodies that are arriving or being processed, and all unread answers. */
const mostBodyBytes = 96 * 1024 * 1024
const mostAnswerBytes = 256 * 1024 * 1024

/** The library allows one route per path: these all match the endpoint, in this order. */
const socketPatterns = [`${socketPath}/*`, '/v1/*', '/*']

interface Edge {
  url: string
  port: number
  /** Accepts no new connections; open ones continue. */
  stopListening(): void
  close(): void
}

/** Everything between the network and the actions. Resolves when it listens; throws CannotStart if it cannot. */
export async function openEdge(
  options: Pick<
    ServerOptions,
    'host' | 'port' | 'socket' | 'socketMode' | 'publicUrl' | 'tunnel' | 'tlsCert' | 'tlsKey' | 'corsOrigin' | 'limits' | 'dev'
  >,
  deps: Omit<HttpDeps, 'reads' | 'corsOrigin' | 'turn' | 'answerSender' | 'answers' | 'bodies' | 'ownAddress' | 'strangers'> &
    Omit<SocketDeps, 'nextAckId' | 'bodies' | 'eventQueue'> &
    Omit<StatusDeps, 'answerSender' | 'ownAddress'> & {
      clock: Clock
      seats: SocketSeats
      isServing: () => boolean
      app?: Routes | undefined
      publicAddress: PublicAddress
    }
): Promise<Edge> {
  const listener = deps.app ? sharedListener(deps.app, options) : ownListener(options, deps)
  const { secure } = listener
  const admit = createAdmission({
    ...options,
    publicAddress: deps.publicAddress,
    listens: deps.app === undefined && options.socket === undefined
  })
  const heartbeat = new Heartbeat(deps.clock, deps.onError)
  const isSecure = secure || options.tunnel !== undefined || options.publicUrl?.startsWith('https:') === true
  const turn = new WriteTurn(deps.onError)
  const memory = { bodies: new Budget(mostBodyBytes), answers: new Budget(mostAnswerBytes) }
  const answerSender = new AnswerSender({ clock: deps.clock, unread: memory.answers, onError: deps.onError })
  const files = createStaticFiles({ secure: isSecure, dev: options.dev, inFlight: deps.inFlight, answerSender })
  const ownAddress = createOwnAddress({ secure, publicAddress: deps.publicAddress, isProxy: deps.isProxy })
  const strangers = new Strangers(options)
  const reads = new ReadQueue(deps.onError)
  const http = { ...deps, ...memory, turn, answerSender, ownAddress, strangers, reads, corsOrigin: options.corsOrigin }
  const largePacketSlots = new LargePacketSlots(options, deps)
  const connectionAdmission = new ConnectionAdmission({
    ...options,
    isProxy: deps.isProxy,
    publicAddress: deps.publicAddress,
    strangers,
    hint: createProxyHint(deps),
    preSignInSlots: new PreSignInSlots(options, deps),
    largePacketSlots
  })
  const sockets = { ...deps, ...memory, nextAckId: createAckIds(), eventQueue: new EventQueue() }
  const engine = {
    ...http,
    heartbeat,
    connectionAdmission,
    largePacketSlots,
    limits: options.limits,
    backlog: new Backlog(deps.inFlight),
    accept: (connection: EngineConnection) => new SocketConnection(sockets, connection)
  }
  const polling = new PollingClients(engine)
  const refused = (code: FailureCode, response: HttpResponse, request: HttpRequest) => {
    deps.metrics.requestAnswered('other', failures[code].status, 0)
    deps.securityLog?.rejected({ address: addressOf(response, request, deps.isProxy), route: 'other', code })
  }
  const serveOn = (bare: Routes) => {
    const app = acceptDoubleSlash(guardRoutes(bare, admit, refused))
    serveRoutes(app, http)
    serveStatus(app, http)
    webSocketBehaviors({ ...engine, polling }).forEach((behavior, index) => void app.ws(socketPatterns[index] ?? '', behavior))
    app.any(`${socketPath}/*`, (response, request) => polling.serve(response, request))
    app.options('/*', (response, request) => answerPreflight(response, request, http))
    app.any('/*', (response, request) => {
      const beganAt = performance.now()
      const method = request.getCaseSensitiveMethod()
      const at = { route: 'other', origin: request.getHeader('origin'), isHead: method === 'HEAD' }
      try {
        if (welcome(response, request, http)) deps.metrics.requestAnswered('welcome', 200, performance.now() - beganAt)
        else if (files.serve(response, request)) deps.metrics.requestAnswered('app', 200, performance.now() - beganAt)
        else openExchange(response, at, http).answer(notFound(method, request.getUrl()))
      } catch (error) {
        // A file that cannot be read now, for example without free handles, must not end the process.
        openExchange(response, at, http).refuse(error)
      }
    })
  }

  const close = () => {
    polling.close()
    heartbeat.close()
    turn.end()
    answerSender.flush()
    listener.close()
  }
  const { port, stopListening } = await listener.open(serveOn).catch(error => {
    close()
    throw error
  })
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  const own = options.socket === undefined ? `${secure ? 'https' : 'http'}://${host}:${port}` : `unix:${options.socket}`
  const url = deps.app && options.publicUrl ? options.publicUrl : own
  return { port, url, stopListening, close }
}

// For browsers a star does not cover `Authorization`, so the requested headers are named.
function answerPreflight(
  response: HttpResponse,
  request: HttpRequest,
  { corsOrigin, answerSender }: Pick<HttpDeps, 'corsOrigin' | 'answerSender'>
): void {
  const asked = request.getHeader('access-control-request-headers')
  const client = new Client()
  response.onAborted(() => client.left())
  const writeHead = (status: string) => {
    response
      .writeStatus(status)
      .writeHeader('access-control-allow-origin', corsOrigin)
      .writeHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE')
      .writeHeader('access-control-allow-headers', asked === '' ? '*' : asked)
      .writeHeader('access-control-max-age', '600')
  }
  if (!answerSender.mayOmitBody()) answerSender.send(response, client, { writeHead: () => writeHead('200 OK'), body: 'ok' })
  else {
    answerSender.sendAsIs(response, client, () => {
      writeHead('204 No Content')
      response.endWithoutBody()
    })
  }
}
