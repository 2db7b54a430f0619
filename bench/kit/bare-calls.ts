import type { WebSocket } from 'uWebSockets.js'
import { loadUws } from '../../lib/server/edge/listen/uws.ts'
import { type BareSocket, listenBare, serveBareSockets } from './bare-sockets.ts'

/**
 * The minimum for a call: parse the caller's packet, find the connection that registered the method, forward it with a number of
 * our own, and the answer with the caller's. No accounts, no checks, no time limits, no second registration.
 */
export async function bareCalls(): Promise<void> {
  const app = loadUws().App()
  const calleeByMethod = new Map<string, WebSocket<BareSocket>>()
  const callers = new Map<number, { ws: WebSocket<BareSocket>; ackId: string }>()
  let lastCall = 0

  function event(ws: WebSocket<BareSocket>, packet: string) {
    const start = packet.indexOf('[')
    const [name, payload] = JSON.parse(packet.slice(start))
    if (name === 'rpc-register') {
      calleeByMethod.set(payload.method, ws)
      ws.send(`42${JSON.stringify(['rpc-registered', { method: payload.method }])}`)
    } else {
      lastCall += 1
      callers.set(lastCall, { ws, ackId: packet.slice(2, start) })
      const request = ['rpc-request', { method: payload.method, params: payload.params }]
      calleeByMethod.get(payload.method)?.send(`42${lastCall}${JSON.stringify(request)}`)
    }
  }

  function acknowledgement(packet: string) {
    const start = packet.indexOf('[')
    const call = Number(packet.slice(2, start))
    const [result] = JSON.parse(packet.slice(start))
    const caller = callers.get(call)
    callers.delete(call)
    caller?.ws.send(`43${caller.ackId}${JSON.stringify([{ ok: true, result }])}`)
  }

  serveBareSockets(app, { message: (ws, packet) => (packet.startsWith('42') ? event(ws, packet) : acknowledgement(packet)) })
  listenBare(app)
}
