import type { TemplatedApp, WebSocket } from 'uWebSockets.js'
import { loadUws } from '../../lib/server/edge/listen/uws.ts'
import { serveParent } from './child.ts'

export interface BareSocket {
  /** The handler's data for the connection. */
  name: string
}

interface BareSocketHandler {
  /** The auth of the CONNECT packet; returns whether it is accepted. */
  connect?: (ws: WebSocket<BareSocket>, auth: string) => boolean
  message?: (ws: WebSocket<BareSocket>, packet: string) => void
  closed?: (ws: WebSocket<BareSocket>) => void
}

/** The handshake of Engine.IO and Socket.IO on bare uWebSockets, and nothing else. */
export function serveBareSockets(app: TemplatedApp, { connect, message, closed }: BareSocketHandler = {}): void {
  app.ws<BareSocket>('/v1/updates/*', {
    upgrade(response, request, context) {
      const key = request.getHeader('sec-websocket-key')
      response.upgrade<BareSocket>({ name: '' }, key, '', '', context)
    },
    open(ws) {
      ws.send('0{"sid":"x","upgrades":[],"pingInterval":15000,"pingTimeout":45000,"maxPayload":1000000}')
    },
    message(ws, bytes) {
      const packet = Buffer.from(bytes).toString()
      if (!packet.startsWith('40')) message?.(ws, packet)
      else if (connect?.(ws, packet.slice(2)) ?? true) ws.send('40{"sid":"x"}')
      else ws.send('44{"message":"Invalid authentication token"}')
    },
    close(ws) {
      closed?.(ws)
    }
  })
}

export function listenBare(app: TemplatedApp): void {
  app.listen('127.0.0.1', 0, socket => {
    if (socket) serveParent({ port: loadUws().us_socket_local_port(socket) })
  })
}
