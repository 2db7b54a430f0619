import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js'
import { maxPacketBytes, pingIntervalMs, pingTimeoutMs } from '../../protocol/wire/handshake.ts'
import { type CloseReason, closeCodes } from '../connection.ts'
import type { Heartbeat, Pinged } from './heartbeat.ts'
import type { Turn, Writer } from './turn.ts'

/** What a connection that falls behind may leave unread before it is closed, besides one message. */
const mostUnreadBytes = 1024 * 1024
const idleTimeoutS = 120

interface UserData {
  socket: EngineSocket | undefined
  address: string
}

/** What is done with an Engine.IO connection; made anew for each. */
export interface EngineHandler {
  /** The text of an Engine.IO message packet. */
  message(text: string): void
  closed(): void
}

/** One Engine.IO 4 connection over WebSocket. */
export class EngineSocket implements Pinged, Writer {
  readonly address: string
  private ws: WebSocket<UserData> | undefined
  private readonly heartbeat: Heartbeat
  private readonly turn: Turn
  private handler: EngineHandler | undefined
  private waiting: string[] = []
  private isBehind = false

  constructor(ws: WebSocket<UserData>, { heartbeat, turn }: { heartbeat: Heartbeat; turn: Turn }) {
    this.ws = ws
    this.heartbeat = heartbeat
    this.turn = turn
    this.address = ws.getUserData().address
  }

  start(sid: string, handler: EngineHandler): void {
    this.handler = handler
    const open = { sid, upgrades: [], pingInterval: pingIntervalMs, pingTimeout: pingTimeoutMs, maxPayload: maxPacketBytes }
    this.send(`0${JSON.stringify(open)}`)
    this.heartbeat.alive(this)
  }

  /** Sends a packet with the others of this turn. */
  send(packet: string): void {
    if (!this.ws) return
    this.waiting.push(packet)
    if (this.waiting.length === 1) this.turn.write(this)
  }

  /** A connection that does not read is closed instead of losing a packet: it comes back and catches up. */
  flush(): void {
    const packets = this.waiting
    this.waiting = []
    this.ws?.cork(() => {
      for (const packet of packets) if (!this.write(packet)) return
    })
  }

  /** Nothing is sent after this but what was sent before in the same turn. */
  close(reason: CloseReason): void {
    if (reason !== 'slow-consumer') this.flush()
    this.ws?.end(closeCodes[reason], reason)
  }

  // What counts is what was unread before: a single message may be larger than all that may wait.
  private write(packet: string): boolean {
    if (!this.ws) return false
    if (this.isBehind && this.ws.getBufferedAmount() > mostUnreadBytes) {
      this.close('slow-consumer')
      return false
    }
    this.isBehind = this.ws.send(packet) !== 1
    return true
  }

  ping(): void {
    this.send('2')
  }

  silent(): void {
    this.close('ping-timeout')
  }

  receive(text: string): void {
    switch (text[0]) {
      case '4':
        this.handler?.message(text.slice(1))
        return
      case '3':
        this.heartbeat.alive(this)
        return
      case '1':
        this.close('client-left')
        return
      // An upgrade from polling, or a noop: neither means anything on a connection that began here.
      case '5':
      case '6':
        return
      default:
        this.close('bad-packet')
    }
  }

  gone(): void {
    this.ws = undefined
    this.heartbeat.leave(this)
    this.handler?.closed()
    this.handler = undefined
  }
}

/** The WebSocket side of the Socket.IO endpoint. */
export function engineBehavior(deps: {
  heartbeat: Heartbeat
  turn: Turn
  accept: (socket: EngineSocket) => void
}): WebSocketBehavior<UserData> {
  return {
    compression: 0,
    maxPayloadLength: maxPacketBytes,
    // Our own latch in `send` decides; the library's limit is only for what it would drop without telling.
    maxBackpressure: 2 * maxPacketBytes,
    idleTimeout: idleTimeoutS,
    sendPingsAutomatically: false,
    upgrade(response, request, context) {
      upgrade(response, request, context)
    },
    open(ws) {
      const socket = new EngineSocket(ws, deps)
      ws.getUserData().socket = socket
      deps.accept(socket)
    },
    message(ws, message, isBinary) {
      const { socket } = ws.getUserData()
      if (isBinary) socket?.close('bad-packet')
      else socket?.receive(Buffer.from(message).toString())
    },
    close(ws) {
      ws.getUserData().socket?.gone()
    }
  }
}

function upgrade(response: HttpResponse, request: HttpRequest, context: us_socket_context_t): void {
  const query = new URLSearchParams(request.getQuery())
  const refusal = refusalOf(query)
  if (refusal) {
    refuse(response, refusal)
    return
  }
  const address = Buffer.from(response.getRemoteAddressAsText()).toString()
  response.upgrade<UserData>(
    { socket: undefined, address },
    request.getHeader('sec-websocket-key'),
    request.getHeader('sec-websocket-protocol'),
    request.getHeader('sec-websocket-extensions'),
    context
  )
}

export interface EngineRefusal {
  code: number
  message: string
}

/** What Engine.IO answers a request it cannot serve; undefined for a WebSocket of protocol 4. */
export function refusalOf(query: URLSearchParams): EngineRefusal | undefined {
  if (query.get('EIO') !== '4') return { code: 5, message: 'Unsupported protocol version' }
  if (query.get('transport') !== 'websocket') return { code: 0, message: 'Transport unknown' }
  if (query.has('sid')) return { code: 1, message: 'Session ID unknown' }
  return undefined
}

export function refuse(response: HttpResponse, refusal: EngineRefusal): void {
  response.writeStatus('400 Bad Request').writeHeader('content-type', 'application/json').end(JSON.stringify(refusal))
}
