import t, { type Test } from 'tap'
import { WebSocket as WsSocket } from 'ws'
import { systemClock } from '../../../lib/async/clock.ts'
import { SocketioLine, type WebSocketClass } from '../../../lib/client/link/socketio.ts'
import { loadUws } from '../../../lib/server/edge/listen/uws.ts'
import { manualClock } from '../../kit/manual-clock.ts'

const signIn = '40{"token":"x"}'
const classes: [name: string, WebSocket: WebSocketClass][] = [
  ['of browsers and Node.js', WebSocket],
  ['of ws', WsSocket]
]
for (const [name, WebSocket] of classes) {
  t.test(`protocol pings are answered, and an invalid packet ends the connection, with the WebSocket ${name}`, async t => {
    const cases = [
      { said: '2', heard: [signIn, '3'], ended: [] },
      { said: '6', heard: [signIn], ended: [] },
      { said: '41', heard: [signIn], ended: [['io server disconnect', false]] },
      { said: '44{"message":"No"}', heard: [signIn], ended: [['No', true]] },
      { said: '1', heard: [signIn], ended: [['transport close', false]] },
      ...['42{"half', '451-["picture",{"_placeholder":true,"num":0}]', '42/other,["update"]', '9', ''].map(said => ({
        said,
        heard: [signIn],
        ended: [['parse error', false]]
      }))
    ]
    for (const { said, heard, ended } of cases) {
      const seen = await meet(t, WebSocket, client => {
        for (const packet of ['40{"sid":"line"}', said, '42["after",{}]']) client.say(packet)
      })
      t.same(seen, { heard: [...heard, ...(ended.length > 0 ? [] : ['42["last",1]', '41'])], ended }, `"${said}"`)
    }
  })

  t.test(`the reason of a closed connection is the server's, with its code, with the WebSocket ${name}`, async t => {
    const cases = [
      { code: 4029, reason: 'too-fast', ended: 'too-fast (4029)' },
      { code: 1012, reason: '', ended: 'transport close (1012)' },
      { code: 4000, reason: '\u001b[2Jon\ntwo lines', ended: '[2Jon two lines (4000)' }
    ]
    for (const { code, reason, ended } of cases)
      t.same(await meet(t, WebSocket, client => client.end(code, reason)), { heard: [signIn], ended: [[ended, false]] })
  })
}

t.test('a request without an answer fails when the clock says so', async t => {
  const clock = manualClock()
  const connected = Promise.withResolvers<void>()
  const address = await serve(t, { onPacket: (packet, client) => packet === signIn && client.say('40{"sid":"line"}') })
  const line = new SocketioLine(address, WebSocket, clock, {
    ...ignored,
    onOpen: () => line.authenticate({ token: 'x' }),
    onConnect: () => connected.resolve()
  })
  t.teardown(() => line.close())
  await connected.promise
  const asked = t.rejects(line.request('ping', {}, 1_000), { message: 'There was no answer in time.' })
  clock.advance(1_000)
  await asked
})

interface ServedClient {
  say(packet: string): void
  end(code: number, reason: string): void
}

/** What a server hears that does this after sign-in, and how the client says it ended. */
async function meet(t: Test, WebSocket: WebSocketClass, act: (client: ServedClient) => void) {
  const heard: string[] = []
  const ended: unknown[] = []
  const [left, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const address = await serve(t, {
    onPacket(packet, client) {
      heard.push(packet)
      if (packet === signIn) act(client)
    },
    onClose: closed.resolve
  })
  const line = new SocketioLine(address, WebSocket, systemClock, {
    ...ignored,
    onOpen: () => line.authenticate({ token: 'x' }),
    onEvent() {
      line.emit('last', 1)
      line.close()
      left.resolve()
    },
    onEnd(...how) {
      ended.push(how)
      left.resolve()
    }
  })
  await Promise.all([left.promise, closed.promise])
  return { heard, ended }
}

const ignored = { onConnect() {}, onPacket() {}, onEvent() {}, onEnd() {} }

/** Resolves to its address. */
async function serve(
  t: Test,
  { onPacket, onClose = () => {} }: { onPacket(packet: string, client: ServedClient): void; onClose?(): void }
): Promise<string> {
  const app = loadUws()
    .App()
    .ws('/*', {
      open: ws => void ws.send('0{"sid":"engine","upgrades":[],"pingInterval":15000,"pingTimeout":45000}'),
      message: (ws, bytes) =>
        onPacket(Buffer.from(bytes).toString(), { say: packet => void ws.send(packet), end: (code, reason) => ws.end(code, reason) }),
      close: () => onClose()
    })
  const { promise: port, resolve: listens } = Promise.withResolvers<number>()
  app.listen('127.0.0.1', 0, socket => {
    if (socket) listens(loadUws().us_socket_local_port(socket))
  })
  t.teardown(() => app.close())
  return `http://127.0.0.1:${await port}/v1/updates`
}
