import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import type { Clock } from '../../async/clock.ts'
import { CannotStart } from '../../exit.ts'
import type { ServerOptions } from '../../options.ts'
import { failures } from '../../protocol/wire/failures.ts'
import { socketPath } from '../../protocol/wire/handshake.ts'
import type { Seats } from '../limits.ts'
import { createAdmission, guardRoutes } from './admission.ts'
import { Budget } from './budget.ts'
import type { EngineConnection } from './engineio.ts'
import { openExchange } from './exchange.ts'
import { Heartbeat } from './heartbeat.ts'
import { type HttpDeps, serveRoutes } from './http.ts'
import { mountOn, type Routes } from './mount.ts'
import { createOwnAddress } from './own-address.ts'
import { PollingClients } from './polling.ts'
import { notFound } from './reply.ts'
import { SocketConnection, type SocketDeps } from './socketio.ts'
import { createStaticFiles } from './static.ts'
import { type StatusDeps, serveStatus } from './status.ts'
import { Turn } from './turn.ts'
import { loadUws } from './uws.ts'
import { Visits } from './visits.ts'
import { webSocketBehavior } from './websocket.ts'

/** What all bodies that are still arriving, and all answers that are not read yet, may hold in memory. */
const mostBodyBytes = 256 * 1024 * 1024
const mostAnswerBytes = 256 * 1024 * 1024

export interface Edge {
  url: string
  port: number
  /** Takes no new connections; those that are open go on. */
  stopListening(): void
  close(): void
}

/** Everything between the network and the actions. Resolves when it listens; throws CannotStart when it cannot. */
export async function openEdge(
  options: Pick<ServerOptions, 'host' | 'port' | 'publicUrl' | 'tlsCert' | 'tlsKey' | 'corsOrigin'>,
  deps: Omit<HttpDeps, 'corsOrigin' | 'turn' | 'answers' | 'bodies' | 'ownAddress'> &
    SocketDeps &
    StatusDeps & { clock: Clock; seats: Seats; isServing: () => boolean; app?: Routes | undefined }
): Promise<Edge> {
  const place = deps.app ? shared(deps.app, options) : openApp(options)
  const { secure } = place
  const admit = createAdmission({ ...options, listens: deps.app === undefined })
  const app = guardRoutes(place.app, admit, code => deps.metrics.requestAnswered('other', failures[code].status, 0))
  const heartbeat = new Heartbeat(deps.clock)
  const files = createStaticFiles({ secure: secure || options.publicUrl?.startsWith('https:') === true })

  const turn = new Turn()
  const memory = { bodies: new Budget(mostBodyBytes), answers: new Budget(mostAnswerBytes) }
  const ownAddress = createOwnAddress({ secure, publicUrl: options.publicUrl, isProxy: deps.isProxy })
  const http = { ...deps, ...memory, turn, ownAddress, corsOrigin: options.corsOrigin }
  serveRoutes(app, http)
  serveStatus(app, deps)
  const visits = new Visits(deps.seats, deps.isProxy)
  const engine = { ...http, heartbeat, visits, accept: (connection: EngineConnection) => new SocketConnection(deps, connection) }
  const polling = new PollingClients(engine)
  app.ws(`${socketPath}/*`, webSocketBehavior({ ...engine, polling }))
  app.any(`${socketPath}/*`, (response, request) => polling.serve(response, request))
  app.options('/*', (response, request) => answerPreflight(response, request, options.corsOrigin))
  app.any('/*', (response, request) => {
    const beganAt = performance.now()
    const method = request.getCaseSensitiveMethod()
    const at = { route: 'other', origin: request.getHeader('origin'), isHead: method === 'HEAD' }
    try {
      if (files.serve(response, request)) deps.metrics.requestAnswered('app', 200, performance.now() - beganAt)
      else openExchange(response, at, http).answer(notFound(method, request.getUrl()))
    } catch (error) {
      // A file that cannot be read now, for want of handles for example, must not end the process.
      openExchange(response, at, http).refuse(error)
    }
  })

  const close = () => {
    polling.close()
    heartbeat.close()
    turn.end()
    place.close()
  }
  const { port, stopListening } = await place.listen().catch(error => {
    close()
    throw error
  })
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  const url = deps.app && options.publicUrl ? options.publicUrl : `${secure ? 'https' : 'http'}://${host}:${port}`
  return { port, url, stopListening, close }
}

/** Where the routes are, and what to do with it. */
interface Place {
  app: Routes
  secure: boolean
  listen(): Promise<{ port: number; stopListening: () => void }>
  close(): void
}

function shared(app: Routes, { port, publicUrl }: Pick<ServerOptions, 'port' | 'publicUrl'>): Place {
  const { routes, remove } = mountOn(app)
  const listen = async () => ({ port, stopListening() {} })
  return { app: routes, secure: publicUrl?.startsWith('https:') === true, listen, close: remove }
}

function openApp(options: Pick<ServerOptions, 'host' | 'port' | 'tlsCert' | 'tlsKey'>): Place {
  const uws = loadUws()
  const { app, secure } = newApp(options)
  const open = async () => {
    const listening = await listen(app, options)
    return { port: uws.us_socket_local_port(listening), stopListening: () => uws.us_listen_socket_close(listening) }
  }
  return { app, secure, listen: open, close: () => app.close() }
}

function newApp({ tlsCert, tlsKey }: Pick<ServerOptions, 'tlsCert' | 'tlsKey'>): { app: TemplatedApp; secure: boolean } {
  const uws = loadUws()
  if (tlsCert === undefined || tlsKey === undefined) return { app: uws.App(), secure: false }
  try {
    return { app: uws.SSLApp({ cert_file_name: tlsCert, key_file_name: tlsKey }), secure: true }
  } catch (error) {
    throw new CannotStart(`The certificate ${tlsCert} with the key ${tlsKey} cannot be used.`, undefined, { cause: error })
  }
}

/** Without it, a second server would share the port in silence. The published types know the option only without a host. */
const exclusivePort = 1
type ListenExclusively = (host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void) => void

function listen(app: TemplatedApp, { host, port }: Pick<ServerOptions, 'host' | 'port'>): Promise<us_listen_socket> {
  const { promise, resolve, reject } = Promise.withResolvers<us_listen_socket>()
  const listenExclusively = app.listen.bind(app) as unknown as ListenExclusively
  listenExclusively(host, port, exclusivePort, socket => {
    if (socket) resolve(socket)
    else
      reject(
        new CannotStart(`Port ${port} on ${host} cannot be used: another program has it, or it needs more rights; choose one with --port.`)
      )
  })
  return promise
}

// Browsers do not count `Authorization` under a star, so the asked headers are named.
function answerPreflight(response: HttpResponse, request: HttpRequest, corsOrigin: string): void {
  const asked = request.getHeader('access-control-request-headers')
  response.cork(() => {
    response
      .writeStatus('204 No Content')
      .writeHeader('access-control-allow-origin', corsOrigin)
      .writeHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE')
      .writeHeader('access-control-allow-headers', asked === '' ? '*' : asked)
      .writeHeader('access-control-max-age', '600')
      .endWithoutBody()
  })
}
