import type { WebSocket } from 'uWebSockets.js'
import { pingIntervalMs } from '../../lib/protocol/wire/handshake.ts'
import { loadUws } from '../../lib/server/edge/listen/uws.ts'
import { type BareSocket, listenBare, serveBareSockets } from './bare-sockets.ts'

/**
 * The least that keeps connections of this wire: each hears its account's topic, is pinged, and is let go when it did not
 * answer. Nothing can be sent to one alone, and nobody is asked who it is.
 */
export async function bareIdle(): Promise<void> {
  const app = loadUws().App()
  const answered = new Set<WebSocket<BareSocket>>()
  let pinged = new Set<WebSocket<BareSocket>>()
  setInterval(() => {
    for (const ws of pinged) ws.end()
    pinged = new Set(answered)
    answered.clear()
    for (const ws of pinged) ws.send('2')
  }, pingIntervalMs)

  serveBareSockets(app, {
    connect(ws, auth) {
      const { token } = JSON.parse(auth)
      answered.add(ws)
      ws.getUserData().name = token
      return ws.subscribe(token)
    },
    message(ws) {
      pinged.delete(ws)
      answered.add(ws)
    },
    closed(ws) {
      pinged.delete(ws)
      answered.delete(ws)
    }
  })
  listenBare(app)
}
