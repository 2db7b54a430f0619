import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocketBehavior } from 'uWebSockets.js'
import { maxPacketBytes, socketPath } from '../../../protocol/wire/handshake.ts'
import { type AnswerSender, Client } from '../http/answer-sender.ts'
import type { Headers } from '../http/byte-answer.ts'
import type { LargePacketSlots } from '../listen/large-packet-slots.ts'
import { type PacketSize, packetSizes } from '../listen/packet-sizes.ts'
import { pathOf } from '../listen/routes.ts'
import type { Backlog } from './backlog.ts'
import type { AdmittedConnection, ConnectionAdmission } from './connection-admission.ts'
import { EngineConnection, type EngineDeps } from './engineio.ts'
import type { PollingClient, PollingClients } from './polling.ts'
import { type EngineRefusal, engineRefusalOf, engineRefusals, refuse } from './refusal.ts'
import { Probe } from './upgrade.ts'
import { type UserData, type WebSocket, WebSocketTransport } from './websocket.ts'

const idleTimeoutS = 120
/** Of the WebSocket protocol: the only one there is. */
const version = '13'
const versionOffer: Headers = [
  ['upgrade', 'websocket'],
  ['sec-websocket-version', version]
]

interface WebSocketDeps extends EngineDeps {
  polling: PollingClients
  connectionAdmission: ConnectionAdmission
  largePacketSlots: LargePacketSlots
  backlog: Backlog
  answerSender: AnswerSender
  corsOrigin: string
}

/**
 * The WebSocket side of the Socket.IO endpoint: connections that start here, and upgrades from polling.
 * There is one for each size, since the library sets the maximum packet size per route, and allows one
 * route per path: each route passes the rest on to the next match, and the last one handles them all.
 */
export function webSocketBehaviors(deps: WebSocketDeps): WebSocketBehavior<UserData>[] {
  const { connectionAdmission, largePacketSlots } = deps
  const contexts: Partial<Record<PacketSize, us_socket_context_t>> = {}
  const behaviorOf = (packetSize: PacketSize, upgrade: NonNullable<WebSocketBehavior<UserData>['upgrade']>) => ({
    ...webSocketBehavior(deps),
    maxPayloadLength: packetSizes[packetSize],
    upgrade
  })
  const passOn = (packetSize: PacketSize) =>
    behaviorOf(packetSize, (_, request, context) => {
      contexts[packetSize] = context
      request.setYield(true)
    })
  const last = behaviorOf('large', (response, request, context) => {
    contexts.large = context
    if (!pathOf(request).startsWith(`${socketPath}/`)) {
      request.setYield(true)
      return
    }
    const begun = beginUpgrade(deps, response, request)
    if (!begun) return
    const upgrade = (packetSize: PacketSize) => begun.upgrade(packetSize, contexts[packetSize] ?? context)
    const { client, admitted } = begun
    if (client) upgrade(packetSizeAfter(client, largePacketSlots))
    if (!admitted) return
    response.onAborted(() => {
      giveUp()
      admitted.leave()
    })
    // It is counted from here on, so it makes room like any other; the connection takes this over once it
    // exists.
    admitted.onCrowded = () => response.close()
    const giveUp = connectionAdmission.choosePacketSize(admitted, upgrade)
  })
  return [passOn('small'), passOn('usual'), last]
}

/** For an upgrade from polling, which was signed in there. */
function packetSizeAfter({ connection }: PollingClient, largePacketSlots: LargePacketSlots): PacketSize {
  if (!connection.isSignedIn) return 'small'
  return largePacketSlots.packetSizeFor(connection.network)
}

function webSocketBehavior(deps: WebSocketDeps): WebSocketBehavior<UserData> {
  return {
    compression: 0,
    // `write` decides; the library's own limit would drop frames, so it is set out of reach.
    maxBackpressure: 2 * maxPacketBytes,
    idleTimeout: idleTimeoutS,
    sendPingsAutomatically: false,
    open(ws) {
      const data = ws.getUserData()
      const { start } = data
      if (!start) return
      const transport = new WebSocketTransport(ws as WebSocket<UserData>, start, deps)
      data.transport = transport
      data.start = undefined
      const { polling, admitted } = start
      if (polling) Probe.begin(transport, polling, deps.clock)
      else if (admitted) {
        admitted.onLate = () => transport.evict()
        transport.receiver = new EngineConnection(transport, deps, admitted)
      }
    },
    message(ws, message, isBinary) {
      const { transport } = ws.getUserData()
      const receiver = transport?.receiver
      transport?.took(message.byteLength)
      // Before it is copied: a message on a wide socket may be large although nobody has signed in.
      if (receiver && message.byteLength > Math.max(receiver.mostBytes, packetSizes.small)) transport.evict()
      else if (!isBinary) receiver?.receive(Buffer.from(message).toString())
      // The bytes are only valid during the call.
      else receiver?.receiveBinary(Buffer.from(message.slice(0)))
    },
    ping(ws) {
      ws.getUserData().transport?.pinged()
    },
    drain(ws) {
      ws.getUserData().transport?.drained()
    },
    close(ws, _code, why) {
      ws.getUserData().transport?.closed(Buffer.from(why).toString())
    }
  }
}

interface Begun {
  /** An upgrade from polling; otherwise the admitted connection that starts. */
  client: PollingClient | undefined
  admitted: AdmittedConnection | undefined
  upgrade(packetSize: PacketSize, context: us_socket_context_t): void
}

/** Undefined if rejected. Values needed later are copied, because the request is only valid during the call. */
function beginUpgrade(
  {
    polling,
    connectionAdmission,
    answerSender,
    corsOrigin
  }: Pick<WebSocketDeps, 'polling' | 'connectionAdmission' | 'answerSender' | 'corsOrigin'>,
  response: HttpResponse,
  request: HttpRequest
): Begun | undefined {
  const query = new URLSearchParams(request.getQuery())
  const where = { origin: request.getHeader('origin'), corsOrigin }
  const refusal = engineRefusalOf({ query, method: 'GET', isUpgrade: true }, polling)
  if (refusal) {
    turnAway(refusal)
    return undefined
  }
  // The library takes any.
  if (request.getHeader('sec-websocket-version') !== version) {
    turnAway(engineRefusals.unsupportedVersion, { status: '426 Upgrade Required', headers: versionOffer })
    return undefined
  }
  const client = polling.find(query.get('sid') ?? '')
  const admitted = client ? undefined : connectionAdmission.begin(response, request)
  if (!client && !admitted) {
    turnAway(engineRefusals.forbidden)
    return undefined
  }
  const key = request.getHeader('sec-websocket-key')
  const protocol = request.getHeader('sec-websocket-protocol')
  const extensions = request.getHeader('sec-websocket-extensions')
  const upgrade = (packetSize: PacketSize, context: us_socket_context_t) => {
    const data = { transport: undefined, start: { packetSize, polling: client, admitted } }
    response.cork(() => response.upgrade<UserData>(data, key, protocol, extensions, context))
  }
  return { client, admitted, upgrade }

  function turnAway(why: EngineRefusal, how: { status?: string; headers?: Headers } = {}): void {
    const asker = new Client()
    response.onAborted(() => asker.left())
    refuse(response, asker, answerSender, { refusal: why, where, ...how })
  }
}
