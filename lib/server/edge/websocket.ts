import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js'
import type { Clock } from '../../async/clock.ts'
import { maxPacketBytes } from '../../protocol/wire/handshake.ts'
import { type CloseReason, closeCodes } from '../connection.ts'
import { EngineConnection, type EngineDeps, mostUnreadBytes, type Receiver, type Transport, type Visit } from './engineio.ts'
import type { PollingClient, PollingClients } from './polling.ts'
import { engineRefusals, refusalOf, refuse } from './refusal.ts'
import { Probe } from './upgrade.ts'
import type { Visits } from './visits.ts'

const idleTimeoutS = 120
const none: readonly string[] = []

interface UserData {
  transport: WebSocketTransport | undefined
  /** Who wants to change to this WebSocket; else the visit that begins with it. */
  polling: PollingClient | undefined
  visit: Visit | undefined
}

/** Engine.IO packets as frames of a WebSocket. */
export class WebSocketTransport implements Transport {
  readonly upgrades = none
  receiver: Receiver | undefined
  private readonly ws: WebSocket<UserData>
  private queued: string[] = []
  private queuedBytes = 0

  constructor(ws: WebSocket<UserData>) {
    this.ws = ws
  }

  // What a turn brings is written whole, however much it is; what comes after it waits here until most of that is read.
  // So a client that reads is never taken for slow because of one large message or one large batch.
  write(packets: readonly string[]): boolean {
    if (this.queued.length === 0 && this.ws.getBufferedAmount() <= mostUnreadBytes) {
      this.send(packets)
      return true
    }
    for (const packet of packets) {
      this.queued.push(packet)
      this.queuedBytes += packet.length
    }
    return this.queuedBytes <= mostUnreadBytes
  }

  /** The client has read some of what was written. */
  drained(): void {
    if (this.queued.length === 0 || this.ws.getBufferedAmount() > mostUnreadBytes) return
    const packets = this.queued
    this.queued = []
    this.queuedBytes = 0
    this.send(packets)
  }

  end(reason: CloseReason): void {
    this.ws.end(closeCodes[reason], reason)
  }

  private send(packets: readonly string[]): void {
    this.ws.cork(() => {
      for (const packet of packets) this.ws.send(packet)
    })
  }
}

/** The WebSocket side of the Socket.IO endpoint: connections that begin here, and those that come from polling. */
export function webSocketBehavior(
  deps: EngineDeps & { clock: Clock; polling: PollingClients; visits: Visits; corsOrigin: string }
): WebSocketBehavior<UserData> {
  return {
    compression: 0,
    maxPayloadLength: maxPacketBytes,
    // `write` decides; the library's own limit would drop frames, so it is out of reach.
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
      else if (data.visit) transport.receiver = new EngineConnection(transport, deps, data.visit)
    },
    message(ws, message, isBinary) {
      const receiver = ws.getUserData().transport?.receiver
      if (!isBinary) receiver?.receive(Buffer.from(message).toString())
      // The bytes are only lent.
      else receiver?.receiveBinary(Buffer.from(message.slice(0)))
    },
    drain(ws) {
      ws.getUserData().transport?.drained()
    },
    close(ws) {
      ws.getUserData().transport?.receiver?.gone()
    }
  }
}

function upgrade(
  { polling, visits, corsOrigin }: { polling: PollingClients; visits: Visits; corsOrigin: string },
  response: HttpResponse,
  request: HttpRequest,
  context: us_socket_context_t
): void {
  const query = new URLSearchParams(request.getQuery())
  const where = { origin: request.getHeader('origin'), corsOrigin }
  const refusal = refusalOf({ query, method: 'GET', isUpgrade: true }, polling)
  if (refusal) {
    refuse(response, refusal, where)
    return
  }
  const client = polling.find(query.get('sid') ?? '')
  const visit = client ? undefined : visits.begin(response, request)
  if (!client && !visit) {
    refuse(response, engineRefusals.tooMany, where, '429 Too Many Requests')
    return
  }
  response.upgrade<UserData>(
    { transport: undefined, polling: client, visit },
    request.getHeader('sec-websocket-key'),
    request.getHeader('sec-websocket-protocol'),
    request.getHeader('sec-websocket-extensions'),
    context
  )
}
