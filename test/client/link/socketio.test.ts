import t from 'tap'
import { WebSocket as WsSocket } from 'ws'
import { SocketioLine, type WebSocketClass } from '../../../lib/client/link/socketio.ts'
import { loadUws } from '../../../lib/server/edge/listen/uws.ts'

const classes: [name: string, WebSocket: WebSocketClass][] = [
  ['of browsers and Node.js', WebSocket],
  ['of ws', WsSocket]
]
for (const [name, WebSocket] of classes)
  t.test(`protocol pings are answered, and an invalid packet ends the connection, with the WebSocket ${name}`, async t => {
    const cases = [
      { said: '2', heard: ['40{"token":"x"}', '3'], ended: [] },
      { said: '6', heard: ['40{"token":"x"}'], ended: [] },
      { said: '41', heard: ['40{"token":"x"}'], ended: [['io server disconnect', false]] },
      { said: '44{"message":"No"}', heard: ['40{"token":"x"}'], ended: [['No', true]] },
      { said: '1', heard: ['40{"token":"x"}'], ended: [['transport close', false]] },
      ...['42{"half', '451-["picture",{"_placeholder":true,"num":0}]', '42/other,["update"]', '9', ''].map(said => ({
        said,
        heard: ['40{"token":"x"}'],
        ended: [['parse error', false]]
      }))
    ]
    for (const { said, heard, ended } of cases) {
      const seen = await meet(t, WebSocket, said)
      t.same(seen, { heard: [...heard, ...(ended.length > 0 ? [] : ['42["last",1]', '41'])], ended }, `"${said}"`)
    }
  })

/** What a server hears that lets a client in and then says this, and how the client says it ended. */
async function meet(t: { teardown(run: () => void): void }, WebSocket: WebSocketClass, said: string) {
  const heard: string[] = []
  const ended: unknown[] = []
  const { promise: isOver, resolve: over } = Promise.withResolvers<void>()
  const app = loadUws()
    .App()
    .ws('/*', {
      open: ws => void ws.send('0{"sid":"engine","upgrades":[],"pingInterval":15000,"pingTimeout":45000}'),
      message(ws, bytes) {
        const packet = Buffer.from(bytes).toString()
        heard.push(packet)
        if (packet.startsWith('40')) for (const each of ['40{"sid":"line"}', said, '42["after",{}]']) ws.send(each)
      },
      close: () => over()
    })
  const { promise: port, resolve: listens } = Promise.withResolvers<number>()
  app.listen('127.0.0.1', 0, socket => {
    if (socket) listens(loadUws().us_socket_local_port(socket))
  })
  t.teardown(() => app.close())

  const line = new SocketioLine(`http://127.0.0.1:${await port}/v1/updates`, WebSocket, {
    onOpen: () => line.introduce({ token: 'x' }),
    onConnect() {},
    onPacket() {},
    onEvent() {
      line.emit('last', 1)
      line.close()
    },
    onEnd: (...how) => ended.push(how)
  })
  await isOver
  return { heard, ended }
}
