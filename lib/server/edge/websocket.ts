import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js'
import type { Clock } from '../../async/clock.ts'
import { maxPacketBytes } from '../../protocol/wire/handshake.ts'
import { type CloseReason, closeCodes } from '../connection.ts'
import { EngineConnection, type EngineDeps, mostUnreadBytes, type Receiver, type Transport } from './engineio.ts'
import type { PollingClient, PollingClients } from './polling.ts'
import { refusalOf, refuse } from './refusal.ts'
import { Probe } from './upgrade.ts'

const idleTimeoutS = 120

interface UserData {
  transport: WebSocketTransport | undefined
  /** Who wants to change to this WebSocket. */
  polling: PollingClient | undefined
}

/** Engine.IO packets as frames of a WebSocket. */
export class WebSocketTransport implements Transport {
  readonly upgrades = []
  receiver: Receiver | undefined
  private readonly ws: WebSocket<UserData>
  private isBehind = false

  constructor(ws: WebSocket<UserData>) {
    this.ws = ws
  }

  write(packets: readonly string[]): boolean {
    let isTaken = true
    this.ws.cork(() => {
      for (const packet of packets) {
        isTaken = this.send(packet)
        if (!isTaken) return
      }
    })
    return isTaken
  }

  end(reason: CloseReason): void {
    this.ws.end(closeCodes[reason], reason)
  }

  // What counts is what was unread before: a single message may be larger than all that may wait.
  private send(packet: string): boolean {
    if (this.isBehind && this.ws.getBufferedAmount() > mostUnreadBytes) return false
    this.isBehind = this.ws.send(packet) !== 1
    return true
  }
}

/** The WebSocket side of the Socket.IO endpoint: connections that begin here, and those that come from polling. */
export function webSocketBehavior(
  deps: EngineDeps & { clock: Clock; polling: PollingClients; corsOrigin: string }
): WebSocketBehavior<UserData> {
  return {
    compression: 0,
    maxPayloadLength: maxPacketBytes,
    // Our own latch in `send` decides; the library's limit is only for what it would drop without telling.
    maxBackpressure: 2 * maxPacketBytes,
    idleTimeout: idleTimeoutS,
    sendPingsAutomatically: false,
    upgrade(response, request, context) {
      upgrade(deps, response, request, context)
    },
    open(ws) {
      const data = ws.getUserData()
      const transport = new WebSocketTransport(ws)
      data.transport = transport
      if (data.polling) Probe.begin(transport, data.polling, deps.clock)
      else transport.receiver = new EngineConnection(transport, deps)
    },
    message(ws, message, isBinary) {
      const receiver = ws.getUserData().transport?.receiver
      if (!isBinary) receiver?.receive(Buffer.from(message).toString())
      // The bytes are only lent.
      else receiver?.receiveBinary(Buffer.from(message.slice(0)))
    },
    close(ws) {
      ws.getUserData().transport?.receiver?.gone()
    }
  }
}

function upgrade(
  { polling, corsOrigin }: { polling: PollingClients; corsOrigin: string },
  response: HttpResponse,
  request: HttpRequest,
  context: us_socket_context_t
): void {
  const query = new URLSearchParams(request.getQuery())
  const refusal = refusalOf({ query, method: 'GET', isUpgrade: true }, polling)
  if (refusal) {
    refuse(response, refusal, { origin: request.getHeader('origin'), corsOrigin })
    return
  }
  response.upgrade<UserData>(
    { transport: undefined, polling: polling.find(query.get('sid') ?? '') },
    request.getHeader('sec-websocket-key'),
    request.getHeader('sec-websocket-protocol'),
    request.getHeader('sec-websocket-extensions'),
    context
  )
}
