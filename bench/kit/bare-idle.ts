import type { WebSocket } from 'uWebSockets.js'
import { pingIntervalMs } from '../../lib/protocol/wire/handshake.ts'
import { loadUws } from '../../lib/server/edge/listen/uws.ts'
import { type BareSocket, listenBare, serveBareSockets } from './bare-sockets.ts'

/**
 * The minimum for connections of this wire: each subscribes to its account's topic, is pinged, and is closed if it does not
 * answer. No sends to single connections, and no sign-in.
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
