import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { isUtf8 } from 'node:buffer'
import type { Failure } from '../../protocol/wire/failures.ts'
import type { CloseReason } from '../connection.ts'
import type { Backlog, Behind } from './backlog.ts'
import type { Budget } from './budget.ts'
import { EngineConnection, type EngineDeps, mostUnreadBytes, type Transport } from './engineio.ts'
import { receivePayload, separator } from './payload.ts'
import { allowOrigin, type CrossOrigin, type EngineRefusal, engineRefusals, refusalOf, refuse } from './refusal.ts'
import { readBody } from './request.ts'
import type { Turn } from './turn.ts'
import type { Probe } from './upgrade.ts'
import type { Visit, Visits } from './visits.ts'

/** Connections that began by polling cost an attacker one request each, and us memory until they are let in or given up. */
const mostClients = 20_000
const tooLarge = '413 Payload Too Large'
const noop = '6'
const close = '1'

export interface PollingClient {
  readonly connection: EngineConnection
  readonly transport: PollingTransport
}

/** Engine.IO packets in the answers of HTTP requests: they wait here until the client asks. */
export class PollingTransport implements Transport, Behind {
  readonly upgrades = ['websocket']
  /** The WebSocket that wants to take over. */
  probe: Probe | undefined
  /** While the client changes to a WebSocket no request of it is kept waiting. */
  isReleasing = false
  /** Ends the POST that is under way; undefined when there is none. */
  cancelPost: (() => void) | undefined
  private poll: ((payload: string) => void) | undefined
  private unread: string[] = []
  private unreadBytes = 0
  private readonly backlog: Backlog
  private readonly onEvicted: () => void

  constructor(backlog: Backlog, onEvicted: () => void) {
    this.backlog = backlog
    this.onEvicted = onEvicted
  }

  evict(): void {
    this.onEvicted()
  }

  get isPolled(): boolean {
    return this.poll !== undefined
  }

  /** Answers with what is unread, as soon as there is something. */
  answer(poll: (payload: string) => void): void {
    this.poll = poll
    this.reply()
  }

  write(packets: readonly string[]): boolean {
    for (const packet of packets) {
      // Who waits for an answer is not behind, however much the answer is.
      if (!this.poll && this.unreadBytes > mostUnreadBytes) return false
      this.unread.push(packet)
      this.unreadBytes += Buffer.byteLength(packet)
    }
    this.reply()
    this.backlog.note(this, this.unreadBytes)
    return true
  }

  release(): void {
    this.isReleasing = true
    this.reply()
  }

  takeUnread(): string[] {
    const packets = this.unread
    this.unread = []
    this.unreadBytes = 0
    this.backlog.note(this, 0)
    return packets
  }

  end(reason: CloseReason): void {
    this.probe?.fail('client-left')
    this.cancelPost?.()
    this.unread.push(reason === 'client-left' ? noop : close)
    this.reply()
    this.takeUnread()
  }

  private reply(): void {
    const { poll } = this
    if (!poll || (this.unread.length === 0 && !this.isReleasing)) return
    this.poll = undefined
    poll(this.takeUnread().join(separator) || noop)
  }
}

/** The connections that began by polling, by the sid that their requests carry. */
export class PollingClients {
  private readonly deps: EngineDeps & { corsOrigin: string; bodies: Budget; visits: Visits; backlog: Backlog; isServing: () => boolean }
  private readonly clientBySid = new Map<string, PollingClient>()

  constructor(deps: PollingClients['deps']) {
    this.deps = deps
  }

  readonly isKnown = (sid: string): boolean => this.clientBySid.has(sid)

  readonly mayOpen = (): boolean => this.deps.isServing() && this.clientBySid.size < mostClients

  find(sid: string): PollingClient | undefined {
    return this.clientBySid.get(sid)
  }

  close(): void {
    for (const { connection } of [...this.clientBySid.values()]) connection.close('server-shutdown')
  }

  /** Answers every request to the Socket.IO endpoint that is no WebSocket. */
  serve(response: HttpResponse, request: HttpRequest): void {
    const { corsOrigin, turn, bodies } = this.deps
    const query = new URLSearchParams(request.getQuery())
    const method = request.getCaseSensitiveMethod()
    const exchange = new PollingExchange(response, { origin: request.getHeader('origin'), corsOrigin }, turn)
    const refusal = refusalOf({ query, method, isUpgrade: false }, this)
    const client = this.clientBySid.get(query.get('sid') ?? '')
    if (refusal) exchange.refuse(refusal)
    else if (!client) this.open(exchange, this.deps.visits.begin(response, request))
    // It has changed to a WebSocket.
    else if (!client.connection.isOn(client.transport)) exchange.refuse(engineRefusals.badRequest)
    else if (method === 'GET') poll(client, exchange)
    else if (method === 'POST') post(client, exchange, response, { contentLength: Number(request.getHeader('content-length')), bodies })
    else exchange.refuse(engineRefusals.badRequest)
  }

  private open(exchange: PollingExchange, visit: Visit | undefined): void {
    if (!visit) {
      exchange.refuse(engineRefusals.tooMany, '429 Too Many Requests')
      return
    }
    const transport = new PollingTransport(this.deps.backlog, () => connection.close('slow-consumer'))
    const connection = new EngineConnection(transport, this.deps, visit)
    this.clientBySid.set(connection.sid, { connection, transport })
    connection.onEnd = () => this.clientBySid.delete(connection.sid)
    poll({ connection, transport }, exchange)
  }
}

function poll({ connection, transport }: PollingClient, exchange: PollingExchange): void {
  if (transport.isPolled) {
    // Which of two polls would get a packet, and in what order they arrive, nobody could tell.
    connection.close('bad-packet')
    exchange.refuse(engineRefusals.badRequest)
    return
  }
  // What the answer would have carried may be lost already.
  exchange.onAborted = () => connection.close('client-left')
  transport.answer(payload => exchange.send(payload))
}

function post(
  { connection, transport }: PollingClient,
  exchange: PollingExchange,
  response: HttpResponse,
  { contentLength, bodies }: { contentLength: number; bodies: Budget }
): void {
  const limit = connection.mostBytes
  if (transport.cancelPost || contentLength > limit) {
    connection.close('bad-packet')
    exchange.refuse(engineRefusals.badRequest, contentLength > limit ? tooLarge : undefined)
    return
  }
  const forget = readBody(response, { limit, share: bodies.share(connection.network) }, body => {
    transport.cancelPost = undefined
    if (take(body)) exchange.later('ok')
    else exchange.refuse(engineRefusals.badRequest, body instanceof Buffer ? undefined : tooLarge)
  })
  transport.cancelPost = () => {
    transport.cancelPost = undefined
    forget()
    exchange.refuse(engineRefusals.badRequest)
  }
  exchange.onAborted = () => connection.close('client-left')

  function take(body: Buffer | Failure): boolean {
    // While it arrived the connection may have changed to a WebSocket, and then this is late.
    if (!connection.isOn(transport)) return false
    if (!(body instanceof Buffer) || !isUtf8(body)) connection.close('bad-packet')
    else receivePayload(connection, body.toString())
    return connection.endedBy === undefined || connection.endedBy === 'client-left'
  }
}

/** A request that is answered once, or whose client leaves before. */
class PollingExchange {
  onAborted: (() => void) | undefined
  private readonly response: HttpResponse
  private readonly where: CrossOrigin
  private readonly turn: Turn
  private isOver = false

  constructor(response: HttpResponse, where: CrossOrigin, turn: Turn) {
    this.response = response
    this.where = where
    this.turn = turn
    response.onAborted(() => {
      if (this.isOver) return
      this.isOver = true
      this.onAborted?.()
    })
  }

  send(text: string): void {
    this.finish(() => {
      this.response.cork(() => {
        allowOrigin(this.response, this.where)
        this.response.writeHeader('content-type', 'text/plain; charset=UTF-8').writeHeader('cache-control', 'no-store').end(text)
      })
    })
  }

  /** After the frames of this turn. */
  later(text: string): void {
    this.turn.answer(() => this.send(text))
  }

  refuse(refusal: EngineRefusal, status?: string): void {
    this.finish(() => refuse(this.response, refusal, this.where, status))
  }

  private finish(send: () => void): void {
    if (this.isOver) return
    this.isOver = true
    send()
  }
}
