// The negative control of stalled readers, loaded into the server with --import: whatever a client leaves unread is passed on to
// the library at once, which keeps it without an end.
import { changeSource } from '../instances/change-source.mjs'

changeSource('lib/server/edge/socket/websocket.ts', text =>
  text.replace(
    'write(packets: readonly Frame[]): boolean {',
    `$&
      for (const packet of packets) this.#ws.send(typeof packet === 'string' ? packet : packet.bytes)
      return true
`
  )
)
