import t from 'tap'
import { Backlog } from '../../../../lib/server/edge/socket/backlog.ts'
import { type UserData, type WebSocket, WebSocketTransport } from '../../../../lib/server/edge/socket/websocket.ts'

type Deps = ConstructorParameters<typeof WebSocketTransport>[2]

t.test('a little data that the client does not read at once counts until it is read [B2]', async t => {
  let unread = 0
  let isReading = true
  const ws = {
    getBufferedAmount: () => unread,
    send(packet: string) {
      if (!isReading) unread += packet.length
    }
  } as unknown as WebSocket<UserData>
  const backlog = new Backlog({ begin: () => () => {} })
  const transport = new WebSocketTransport(ws, { packetSize: 'usual', polling: undefined, admitted: undefined }, {
    backlog,
    clock: { now: () => 0 }
  } as unknown as Deps)

  t.equal(transport.write(['4hello']), true)
  t.equal(backlog.bytes, 0)
  isReading = false
  t.equal(transport.write(['4hello']), true)
  t.equal(backlog.bytes, '4hello'.length)
  unread = 0
  transport.drained()
  t.equal(backlog.bytes, 0)
})
