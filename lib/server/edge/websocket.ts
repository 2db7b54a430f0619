import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js'
import type { Clock } from '../../async/clock.ts'
import { maxPacketBytes, socketPath } from '../../protocol/wire/handshake.ts'
import { type CloseReason, closeCodes } from '../connection.ts'
import type { Backlog, Behind } from './backlog.ts'
import { EngineConnection, type EngineDeps, mostUnreadBytes, type Receiver, type Transport } from './engineio.ts'
import type { PollingClient, PollingClients } from './polling.ts'
import { engineRefusals, refusalOf, refuse } from './refusal.ts'
import { pathOf } from './routes.ts'
import { Probe } from './upgrade.ts'
import type { Visit, Visits } from './visits.ts'

const idleTimeoutS = 120
const none: readonly string[] = []
/** How long a client that fell behind may take to read what it was sent, so that it hears why it is closed. */
const lingerMs = 5_000
/** The most a packet may be where nobody known comes from. */
const mostStrangeBytes = 64 * 1024

interface UserData {
  transport: WebSocketTransport | undefined
  /** Who wants to change to this WebSocket; else the visit that begins with it. */
  polling: PollingClient | undefined
  visit: Visit | undefined
}

interface WebSocketDeps extends EngineDeps {
  polling: PollingClients
  visits: Visits
  backlog: Backlog
  corsOrigin: string
}

/** Engine.IO packets as frames of a WebSocket. */
export class WebSocketTransport implements Transport, Behind {
  receiver: Receiver | undefined
  private readonly ws: WebSocket<UserData>
  private readonly deps: { clock: Clock; backlog: Backlog }
  private queued: string[] | undefined
  private queuedBytes = 0
  /** Why it ends, while what was written before is still read. */
  private ending: CloseReason | undefined
  private cancelLinger: (() => void) | undefined

  constructor(ws: WebSocket<UserData>, deps: Pick<WebSocketDeps, 'clock' | 'backlog'>) {
    this.ws = ws
    this.deps = deps
  }

  get upgrades(): readonly string[] {
    return none
  }

  // What a turn brings is written whole, however much it is; what comes after it waits here until most of that is read.
  // So a client that reads is never taken for slow because of one large message or one large batch.
  write(packets: readonly string[]): boolean {
    if (!this.queued && this.ws.getBufferedAmount() <= mostUnreadBytes) {
      this.send(packets)
      return true
    }
    this.queued ??= []
    for (const packet of packets) {
      this.queued.push(packet)
      this.queuedBytes += packet.length
    }
    this.count()
    return this.queuedBytes <= mostUnreadBytes
  }

  /** The client has read some of what was written. */
  drained(): void {
    const unread = this.ws.getBufferedAmount()
    if (this.ending && unread === 0) this.hangUp(this.ending)
    else if (this.queued && unread <= mostUnreadBytes) this.send(this.takeQueued())
    else this.count()
  }

  // The library would keep what a client that fell behind does not read for minutes.
  end(reason: CloseReason): void {
    this.takeQueued()
    if (reason === 'slow-consumer' && this.ws.getBufferedAmount() > 0) {
      this.ending = reason
      this.cancelLinger = this.deps.clock.after(lingerMs, () => this.evict())
    } else this.hangUp(reason)
  }

  evict(): void {
    this.ws.close()
  }

  /** The WebSocket is no more. */
  closed(): void {
    this.cancelLinger?.()
    this.deps.backlog.note(this, 0)
    this.receiver?.gone()
  }

  private hangUp(reason: CloseReason): void {
    this.ws.end(closeCodes[reason], reason)
  }

  private takeQueued(): string[] {
    const packets = this.queued ?? []
    this.queued = undefined
    this.queuedBytes = 0
    return packets
  }

  private send(packets: readonly string[]): void {
    this.ws.cork(() => {
      for (const packet of packets) this.ws.send(packet)
    })
    this.count()
  }

  private count(): void {
    this.deps.backlog.note(this, this.ws.getBufferedAmount() + this.queuedBytes)
  }
}

/**
 * The WebSocket side of the Socket.IO endpoint: connections that begin here, and those that come from polling. There are
 * two of it, since the library takes the most a packet may be per route, and one route per path: `strangers` passes known
 * networks on to the next route that fits, a wider one.
 */
export function webSocketBehavior(deps: WebSocketDeps, whom: 'strangers' | 'known'): WebSocketBehavior<UserData> {
  return {
    compression: 0,
    maxPayloadLength: whom === 'known' ? maxPacketBytes : mostStrangeBytes,
    // `write` decides; the library's own limit would drop frames, so it is out of reach.
    maxBackpressure: 2 * maxPacketBytes,
    idleTimeout: idleTimeoutS,
    sendPingsAutomatically: false,
    upgrade(response, request, context) {
      const isNext = whom === 'strangers' ? deps.visits.isKnown(response, request) : !pathOf(request).startsWith(`${socketPath}/`)
      if (isNext) request.setYield(true)
      else upgrade(deps, response, request, context)
    },
    open(ws) {
      const data = ws.getUserData()
      const transport = new WebSocketTransport(ws, deps)
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
      ws.getUserData().transport?.closed()
    }
  }
}

function upgrade(
  { polling, visits, corsOrigin }: Pick<WebSocketDeps, 'polling' | 'visits' | 'corsOrigin'>,
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
