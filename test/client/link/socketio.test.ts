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

/** A line over a WebSocket that is the test's. */
function openByHand() {
  const clock = manualClock()
  const said: string[] = []
  const events: unknown[][] = []
  const packets: unknown[] = []
  const listeners = new Map<string, (event: unknown) => void>()
  const socket = { readyState: 1, bufferedAmount: 0, closes: 0, url: '' }
  class ByHand {
    readyState!: number
    bufferedAmount!: number
    constructor(url: string) {
      socket.url = url
      Object.defineProperty(this, 'readyState', { get: () => socket.readyState })
      Object.defineProperty(this, 'bufferedAmount', { get: () => socket.bufferedAmount })
    }
    addEventListener(event: string, listener: (event: never) => void) {
      listeners.set(event, listener as (event: unknown) => void)
    }
    send(text: string) {
      said.push(text)
    }
    close() {
      socket.closes++
    }
  }
  const line = new SocketioLine('https://home.example/v1/updates', ByHand as unknown as WebSocketClass, clock, {
    onOpen: () => events.push(['open']),
    onConnect: id => events.push(['connect', id]),
    onPacket: () => packets.push(1),
    onEvent: (event, payload, acknowledge) => {
      events.push(['event', event, payload])
      acknowledge?.({ ok: true })
    },
    onEnd: (...how) => events.push(['end', ...how])
  })
  const hear = (data: string) => listeners.get('message')?.({ data })
  const closed = (code: number, reason = '') => listeners.get('close')?.({ code, reason })
  return { line, clock, said, events, packets, socket, hear, closed, opened: () => listeners.get('open')?.({}) }
}

t.test('answers find their requests in any order, and only what asks for an answer gets one', async t => {
  const { line, clock, said, events, packets, socket, hear } = openByHand()
  t.equal(socket.url, 'wss://home.example/v1/updates/?EIO=4&transport=websocket')
  line.emit('early', {})
  await t.rejects(line.request('early', {}, 1_000), { message: 'The connection has ended.' })
  t.same(said, [], 'not before it is connected')
  hear('0{"sid":"engine"}')
  hear('40{"sid":"line"}')
  t.equal(line.isConnected, true)
  const [one, two] = [line.request('one', { n: 1 }, 1_000), line.request('two', { n: 2 }, 1_000)]
  t.same(said.splice(0), ['420["one",{"n":1}]', '421["two",{"n":2}]'])
  hear('431["second"]')
  hear('430["first"]')
  hear('430["again"]')
  hear('437["of nobody"]')
  t.same(await Promise.all([one, two]), ['first', 'second'])
  t.equal(clock.pending, 0)
  hear('42["told",{"n":3}]')
  t.same(said, [])
  hear('4212["asked",{"n":4}]')
  t.same(said, ['4312[{"ok":true}]'])
  t.equal(packets.length, 8, 'each is a sign of life')
  t.same(events, [['open'], ['connect', 'line'], ['event', 'told', { n: 3 }], ['event', 'asked', { n: 4 }]])
})

t.test('a line ends once, with its requests and their timers, and is silent from then on', async t => {
  for (const [how, said, ended] of [
    [({ closed }) => closed(1006), [], [['end', 'transport close (1006)', false]]],
    [({ hear }) => hear('44{"message":"No"}'), [], [['end', 'No', true]]],
    [({ line }) => line.close(), ['41'], []]
  ] as [(world: ReturnType<typeof openByHand>) => void, string[], unknown[]][]) {
    const world = openByHand()
    world.opened()
    world.hear('40{"sid":"line"}')
    world.events.length = 0
    const request = t.rejects(world.line.request('ping', {}, 1_000), { message: 'The connection has ended.' })
    world.said.length = 0
    how(world)
    await request
    t.equal(world.clock.pending, 0)
    t.equal(world.line.isConnected, false)
    t.equal(world.socket.closes, 1)
    world.hear('42["late",{}]')
    world.hear('2')
    world.closed(1000)
    world.line.close()
    world.line.emit('late', {})
    world.line.authenticate({})
    await t.rejects(world.line.request('ping', {}, 1_000), { message: 'The connection has ended.' })
    t.same(world.said, said)
    t.same(world.events, ended)
    t.equal(world.socket.closes, 1)
  }
})

t.test('a packet without the content that it needs ends the line', t => {
  for (const packet of ['40null', '40{}', '40{"sid":7}', '44null', '42null', '42{}', '42[7]', '42[]', '43{}', '45["x"]', '4']) {
    const { events, hear } = openByHand()
    hear(packet)
    t.same(events, [['end', 'parse error', false]], packet)
  }
  t.end()
})

t.test('a connection that never opened is said to be one, and nothing is sent on one that is closing', t => {
  const never = openByHand()
  never.closed(1006)
  t.same(never.events, [['end', 'websocket error', false]])
  const closing = openByHand()
  closing.hear('40{"sid":"line"}')
  t.equal(closing.line.isBusy, false)
  closing.socket.bufferedAmount = 1
  t.equal(closing.line.isBusy, true)
  closing.socket.readyState = 2
  closing.line.emit('late', {})
  t.same(closing.said, [])
  t.end()
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
