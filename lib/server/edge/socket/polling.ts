import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { isUtf8 } from 'node:buffer'
import type { Clock } from '../../../async/clock.ts'
import { Failure, failures } from '../../../protocol/wire/failures.ts'
import type { Budget } from '../../budget.ts'
import type { CloseReason } from '../../hub/connection.ts'
import { type Frame, LargeFrame, pieceBytes } from '../../hub/frames.ts'
import { type AnswerSender, Client, mostAtOnce, sendPieces } from '../http/answer-sender.ts'
import { notAPage } from '../http/byte-answer.ts'
import { statusLine } from '../http/reply.ts'
import { lengthOf, readBody } from '../http/request.ts'
import type { WriteTurn } from '../http/write-turn.ts'
import type { PacketSize } from '../listen/packet-sizes.ts'
import type { Backlog, Behind } from './backlog.ts'
import type { AdmittedConnection, ConnectionAdmission } from './connection-admission.ts'
import { EngineConnection, type EngineDeps, mostUnreadBytes, type Transport } from './engineio.ts'
import { payloadOf, receivePayload } from './payload.ts'
import { allowOrigin, type CrossOrigin, type EngineRefusal, engineRefusalOf, engineRefusals, refuse } from './refusal.ts'
import { SendQueue } from './send-queue.ts'

/**
 * Connections that started by polling cost an attacker one request each, and us memory until they are
 * accepted or dropped.
 */
const mostClients = 20_000
/** The size of one answer; the next poll comes at once. */
const mostOfAnswer = 1024 * 1024
const tooLarge = '413 Payload Too Large'
const noop = '6'
const close = '1'

export interface PollingClient {
  readonly connection: EngineConnection
  readonly transport: PollingTransport
}

type PollingTransportDeps = { clock: Pick<Clock, 'now'>; backlog: Backlog; turn: WriteTurn }

/** Engine.IO packets in the answers of HTTP requests: they wait here until the client polls. */
class PollingTransport implements Transport, Behind {
  readonly upgrades = ['websocket']
  /** The WebSocket that is to take over. */
  probe: { close(reason: CloseReason): void } | undefined
  /** During an upgrade to a WebSocket no request of it is held. */
  isReleasing = false
  /** Ends the current POST; undefined if there is none. */
  cancelPost: (() => void) | undefined
  #poll: PollingExchange | undefined
  /** An answer in progress; ends it. */
  #cutAnswer: (() => void) | undefined
  readonly #deps: PollingTransportDeps
  readonly #sendQueue: SendQueue
  readonly #onEvicted: () => void

  constructor(deps: PollingTransportDeps, onEvicted: () => void) {
    this.#deps = deps
    this.#sendQueue = new SendQueue(this, deps)
    this.#onEvicted = onEvicted
  }

  evict(): void {
    this.#cutAnswer?.()
    this.#onEvicted()
  }

  get isPolled(): boolean {
    return this.#poll !== undefined || this.#cutAnswer !== undefined
  }

  get readAt(): number {
    return this.#sendQueue.readAt
  }

  // A body is counted while it arrives.
  signedIn(): boolean {
    return true
  }

  signedOut(): PacketSize {
    return 'small'
  }

  /** Answers with unread packets, as soon as there are some. */
  answer(poll: PollingExchange): void {
    this.#poll = poll
    this.#reply()
  }

  // A client that waits for an answer is not behind, however large the answer.
  write(packets: readonly Frame[]): boolean {
    const isNear = this.#sendQueue.push(packets, { most: mostUnreadBytes, isBlocked: this.#poll === undefined })
    if (isNear) this.#reply()
    return isNear
  }

  release(): void {
    this.isReleasing = true
    this.#reply()
  }

  takeUnread(): Frame[] {
    return this.#sendQueue.takeAll()
  }

  end(reason: CloseReason): void {
    this.probe?.close('client-left')
    this.cancelPost?.()
    this.#cutAnswer?.()
    this.#sendQueue.push([reason === 'client-left' ? noop : close], { most: mostUnreadBytes, isBlocked: false })
    this.#reply()
    this.#sendQueue.clear()
  }

  #reply(): void {
    const poll = this.#poll
    if (!poll || (this.#sendQueue.isEmpty && !this.isReleasing)) return
    this.#poll = undefined
    const frames = this.#sendQueue.takeWhole(mostOfAnswer)
    const parts = payloadOf(frames)
    const [only = Buffer.from(noop)] = parts
    if (parts.length < 2 && only.length <= mostAtOnce) poll.send(only)
    else this.#sendLarge(poll, frames, parts).catch(() => {})
  }

  /** Data in flight counts until it is sent. */
  async #sendLarge(poll: PollingExchange, frames: readonly Frame[], parts: readonly Buffer[]): Promise<void> {
    const { backlog, turn } = this.#deps
    const large = frames.filter(frame => frame instanceof LargeFrame)
    const total = bytesOf(parts)
    const shared = bytesOf(large.map(({ bytes }) => bytes))
    for (const frame of large) backlog.hold(frame)
    this.#sendQueue.hold(total - shared, shared)
    this.#cutAnswer = () => poll.cut()
    await poll.sendPieces(parts, () => {
      this.#sendQueue.read()
      return new Promise(resolve => turn.piece(resolve))
    })
    this.#cutAnswer = undefined
    this.#sendQueue.hold(0)
    for (const frame of large) backlog.release(frame)
  }
}

function bytesOf(parts: readonly Buffer[]): number {
  return parts.reduce((length, part) => length + part.length, 0)
}

type PollingClientsDeps = EngineDeps & {
  corsOrigin: string
  bodies: Budget
  answerSender: AnswerSender
  connectionAdmission: ConnectionAdmission
  backlog: Backlog
  isServing: () => boolean
}

/** The connections that started by polling, by the sid in their requests. */
export class PollingClients {
  readonly #deps: PollingClientsDeps
  readonly #clientBySid = new Map<string, PollingClient>()

  constructor(deps: PollingClientsDeps) {
    this.#deps = deps
  }

  readonly isKnown = (sid: string): boolean => this.#clientBySid.has(sid)

  readonly mayOpen = (): boolean => this.#deps.isServing() && this.#clientBySid.size < mostClients

  find(sid: string): PollingClient | undefined {
    return this.#clientBySid.get(sid)
  }

  close(): void {
    for (const { connection } of [...this.#clientBySid.values()]) connection.close('server-shutdown')
  }

  /** Answers every request to the Socket.IO endpoint that is not a WebSocket. */
  serve(response: HttpResponse, request: HttpRequest): void {
    const { corsOrigin, bodies } = this.#deps
    const query = new URLSearchParams(request.getQuery())
    const method = request.getCaseSensitiveMethod()
    const exchange = new PollingExchange(response, { origin: request.getHeader('origin'), corsOrigin }, this.#deps)
    const refusal = engineRefusalOf({ query, method, isUpgrade: false }, this)
    const client = this.#clientBySid.get(query.get('sid') ?? '')
    if (refusal) exchange.refuse(refusal)
    else if (!client) this.#open(exchange, this.#deps.connectionAdmission.begin(response, request))
    // It has upgraded to a WebSocket.
    else if (!client.connection.isOn(client.transport)) exchange.refuse(engineRefusals.badRequest)
    else if (method === 'GET') poll(client, exchange)
    else if (method === 'POST') post(client, exchange, response, { contentLength: lengthOf(request), bodies, clock: this.#deps.clock })
    else exchange.refuse(engineRefusals.badRequest)
  }

  #open(exchange: PollingExchange, admitted: AdmittedConnection | undefined): void {
    if (!admitted) {
      exchange.refuse(engineRefusals.forbidden)
      return
    }
    const transport = new PollingTransport(this.#deps, () => connection.close('slow-consumer'))
    const sid = this.#deps.newId()
    const connection = new EngineConnection(transport, this.#deps, admitted, sid)
    this.#clientBySid.set(sid, { connection, transport })
    connection.onEnd = () => this.#clientBySid.delete(sid)
    poll({ connection, transport }, exchange)
  }
}

function poll({ connection, transport }: PollingClient, exchange: PollingExchange): void {
  if (transport.isPolled) {
    // It would be undefined which of two polls gets a packet, and in what order they arrive.
    connection.close('bad-packet')
    exchange.refuse(engineRefusals.badRequest)
    return
  }
  // Packets of the answer may already be lost.
  exchange.onAborted = () => connection.close('client-left')
  exchange.owner = connection.network
  transport.answer(exchange)
}

function post(
  { connection, transport }: PollingClient,
  exchange: PollingExchange,
  response: HttpResponse,
  { contentLength, bodies, clock }: { contentLength: number; bodies: Budget; clock: Clock }
): void {
  const limit = connection.mostBytes
  if (transport.cancelPost || contentLength > limit) {
    connection.close('bad-packet')
    exchange.refuse(engineRefusals.badRequest, contentLength > limit ? tooLarge : undefined)
    return
  }
  const forget = readBody(response, { limit, share: bodies.share(connection.network), clock }, body => {
    transport.cancelPost = undefined
    if (take(body)) exchange.later('ok')
    else exchange.refuse(engineRefusals.badRequest, !(body instanceof Failure) ? undefined : statusLine(failures[body.code].status))
  })
  transport.cancelPost = () => {
    transport.cancelPost = undefined
    forget()
    exchange.refuse(engineRefusals.badRequest)
  }
  exchange.onAborted = () => connection.close('client-left')

  function take(body: Buffer | Failure): boolean {
    // While it arrived the connection may have upgraded to a WebSocket, and then this is late.
    if (!connection.isOn(transport)) return false
    if (!(body instanceof Buffer) || !isUtf8(body)) connection.close('bad-packet')
    else receivePayload(connection, body.toString())
    return connection.endedBy === undefined || connection.endedBy === 'client-left'
  }
}

/** A request answered once, or whose client disconnects before. */
class PollingExchange {
  /** Whose share a small unread answer counts for. */
  owner = ''
  onAborted: (() => void) | undefined
  readonly #response: HttpResponse
  readonly #where: CrossOrigin
  readonly #deps: { turn: WriteTurn; answerSender: AnswerSender }
  readonly #client = new Client()
  #isOver = false
  /** A large answer is being sent. */
  #isLeaving = false

  constructor(response: HttpResponse, where: CrossOrigin, deps: { turn: WriteTurn; answerSender: AnswerSender }) {
    this.#response = response
    this.#where = where
    this.#deps = deps
    response.onAborted(() => {
      this.#client.left()
      if (this.#isOver && !this.#isLeaving) return
      this.#isOver = true
      this.onAborted?.()
    })
  }

  send(body: string | Uint8Array): void {
    const { owner } = this
    this.#finish(() => this.#deps.answerSender.send(this.#response, this.#client, { writeHead: () => this.#writeHead(), body, owner }))
  }

  /**
   * Sends parts as fast as they are read, each piece when `turn` resolves. Resolves when all is sent, or
   * the client has disconnected.
   */
  async sendPieces(parts: readonly Buffer[], turn: () => Promise<void>): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#isLeaving = true
    const rest = [...parts]
    const total = bytesOf(parts)
    const next = async () => {
      await turn()
      const [part = Buffer.alloc(0)] = rest
      if (part.length > pieceBytes) rest[0] = part.subarray(pieceBytes)
      else rest.shift()
      return part.subarray(0, pieceBytes)
    }
    await sendPieces(this.#response, this.#client, { total, next, writeHead: () => this.#writeHead() })
    this.#isLeaving = false
  }

  /** Ends an answer in progress. */
  cut(): void {
    if (this.#isLeaving && !this.#client.isGone) this.#response.close()
  }

  #writeHead(): void {
    allowOrigin(this.#response, this.#where)
    this.#response.writeHeader('content-type', 'text/plain; charset=UTF-8').writeHeader('cache-control', 'no-store')
    for (const [name, value] of notAPage) this.#response.writeHeader(name, value)
  }

  /** After the frames of this turn. */
  later(text: string): void {
    this.#deps.turn.answer(() => this.send(text))
  }

  refuse(refusal: EngineRefusal, status?: string): void {
    this.#finish(() => refuse(this.#response, this.#client, this.#deps.answerSender, { refusal, where: this.#where, status }))
  }

  #finish(send: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    send()
  }
}
