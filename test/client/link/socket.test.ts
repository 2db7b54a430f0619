import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type LiveSocket, openSocket } from '../../../lib/client/index.ts'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import type { Update } from '../../../lib/protocol/wire/updates.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'
import { socketState, startWorld } from '../world.ts'
import { turn } from './fake-link.ts'

function nextUpdate(socket: LiveSocket, kind: Update['body']['t']): Promise<Update> {
  return new Promise(resolve => {
    const unlisten = socket.onUpdate(update => {
      if (update.body.t !== kind) return
      unlisten()
      resolve(update)
    })
  })
}

t.test("updates arrive, and a client's own post goes to all others but not back to it [S3]", async t => {
  const world = await startWorld(t)
  const { session } = await world.openSession()
  const mine = await world.client()
  const other = await world.client({ as: 'session', id: session.id })
  const heard: string[] = []
  mine.socket.onUpdate(({ body }) => heard.push(body.t === 'new-message' ? (body.message.localId ?? '') : body.t))

  const arrived = nextUpdate(other.socket, 'new-message')
  await mine.rest.call('appendMessages', { params: { id: session.id }, body: { messages: [{ localId: 'mine', content: 'aGk=' }] } })
  t.match(await arrived, { body: { t: 'new-message', sid: session.id, message: { seq: 1, localId: 'mine' } } })

  const theirs = nextUpdate(mine.socket, 'new-message')
  await other.rest.call('appendMessages', { params: { id: session.id }, body: { messages: [{ localId: 'theirs', content: 'aGk=' }] } })
  await theirs
  t.strictSame(heard, ['theirs'])
})

t.test('after a disconnect it reconnects automatically, as a new connection', async t => {
  const world = await startWorld(t)
  const { socket, line } = await world.client()
  const before = socket.connectionId
  const down = socketState(socket, 'down')
  line.cut()
  t.match(await down, { type: 'down', reason: String, nextTryAt: Number })
  t.equal(socket.connectionId, undefined)
  await socketState(socket, 'live')
  t.not(socket.connectionId, before)
})

t.test('attempts have growing waits and jitter, and reconnectNow does not wait', async t => {
  const world = await startWorld(t)
  const line = await openTcpProxy(t, world.url)
  await line.closePort()
  const clock = manualClock()
  const socket = openSocket({ server: line.url, token: world.token, scope: { as: 'app' }, clock, random: () => 0.5, WebSocket })
  t.teardown(() => socket.close())
  for (const waitMs of [250, 500, 1000, 2000]) {
    await socketState(socket, 'down')
    clock.advance(waitMs - 1)
    t.equal(socket.state.type, 'down')
    clock.advance(1)
    t.equal(socket.state.type, 'connecting')
  }
  await socketState(socket, 'down')
  await line.openPort()
  socket.reconnectNow()
  await socketState(socket, 'live')
})

t.test('a wait is never longer than half a minute', async t => {
  const clock = manualClock()
  const socket = openSocket({ server: 'http://127.0.0.1:1', token: 'x', scope: { as: 'app' }, clock, random: () => 1, WebSocket })
  t.teardown(() => socket.close())
  for (let attempt = 0; attempt < 9; attempt++) {
    await socketState(socket, 'down')
    clock.advance(30_000)
  }
  t.equal(socket.state.type, 'connecting')
})

t.test('only a connection that lasted ten seconds makes the waits short again', async t => {
  const world = await startWorld(t)
  const line = await openTcpProxy(t, world.url)
  const clock = manualClock()
  const socket = openSocket({ server: line.url, token: world.token, scope: { as: 'app' }, clock, random: () => 1, WebSocket })
  t.teardown(() => socket.close())
  const waits = (waitMs: number) => {
    t.equal(socket.state.type, 'down')
    clock.advance(waitMs - 1)
    t.equal(socket.state.type, 'down', `more than ${waitMs - 1} ms`)
    clock.advance(1)
    t.equal(socket.state.type, 'connecting', `no more than ${waitMs} ms`)
  }
  const lasts = async (ms: number) => {
    await socketState(socket, 'live')
    clock.advance(ms)
    socket.networkLost()
  }
  await lasts(0)
  waits(500)
  await lasts(9_999)
  waits(1_000)
  clock.advance(20_000)
  waits(2_000)
  await lasts(10_000)
  waits(500)
})

t.test('what becomes of the token of an abandoned attempt says nothing about the next one', async t => {
  const world = await startWorld(t)
  const clock = manualClock()
  const late = Promise.withResolvers<string>()
  const answers = [late.promise]
  const tokens = { token: () => answers.shift() ?? Promise.resolve(world.token), renew: async () => world.token }
  const socket = openSocket({ server: world.url, token: tokens, scope: { as: 'app' }, clock, random: () => 1, WebSocket })
  t.teardown(() => socket.close())
  while (answers.length > 0) await turn()
  socket.networkLost()
  clock.advance(500)
  const { connectionId } = (await socketState(socket, 'live')) as { connectionId?: string }
  late.reject(new Refused(401, 'Invalid token'))
  await turn()
  t.equal(socket.state.type, 'live')
  t.equal(socket.connectionId, connectionId)
})

t.test('a bad token is final, and reported', async t => {
  const world = await startWorld(t)
  const clock = manualClock()
  const socket = openSocket({ server: world.url, token: 'nobody', scope: { as: 'app' }, clock, WebSocket })
  t.teardown(() => socket.close())
  t.strictSame(await socketState(socket, 'refused'), { type: 'refused', reason: 'Invalid authentication token' })
  clock.advance(600_000)
  t.equal(socket.state.type, 'refused')
})

t.test('a revoked token ends the connection for good [A4]', async t => {
  const world = await startWorld(t)
  const { socket } = await world.client()
  const refused = socketState(socket, 'refused')
  await world.rest.call('revokeToken', { params: { id: 'current' } })
  await refused
})

t.test('reconnectNow detects a connection that died silently, as after sleep [S4]', async t => {
  const world = await startWorld(t)
  const line = await openTcpProxy(t, world.url)
  const clock = manualClock()
  const socket = openSocket({ server: line.url, token: world.token, scope: { as: 'app' }, clock, WebSocket })
  t.teardown(() => socket.close())
  await socketState(socket, 'live')
  const before = socket.connectionId
  line.stall()
  line.heal()
  const { heardAt } = socket
  socket.reconnectNow()
  clock.advance(5_000)
  t.equal(socket.state.type, 'connecting')
  t.ok(heardAt && heardAt <= Date.now())
  t.equal(socket.heardAt, heardAt, 'the last word is the one from before the silence')
  await socketState(socket, 'live')
  t.not(socket.connectionId, before)
})

t.test('a hanging connection is detected automatically, and an idle one is kept [S4]', async t => {
  const world = await startWorld(t)
  const line = await openTcpProxy(t, world.url)
  const clock = manualClock()
  const socket = openSocket({ server: line.url, token: world.token, scope: { as: 'app' }, clock, WebSocket })
  t.teardown(() => socket.close())
  await socketState(socket, 'live')
  const before = socket.connectionId
  clock.advance(20_000)
  // The question that was asked after the silence has its answer before this one has.
  await socket.request('ping', {})
  clock.advance(5_000)
  t.equal(socket.connectionId, before)

  // The silence begins here.
  await socket.request('ping', {})
  line.stall()
  line.heal()
  clock.advance(20_000)
  t.equal(socket.state.type, 'live')
  clock.advance(5_000)
  t.equal(socket.state.type, 'connecting')
  await socketState(socket, 'live')
  t.not(socket.connectionId, before)
})

t.test('after a silence too long for a live connection, such as a night, it reconnects without probing [S4]', async t => {
  const world = await startWorld(t)
  const line = await openTcpProxy(t, world.url)
  const socket = openSocket({ server: line.url, token: world.token, scope: { as: 'app' }, clock: manualClock(), WebSocket })
  t.teardown(() => socket.close())
  await socketState(socket, 'live')
  line.stall()
  line.heal()
  // The steady clock stood still with the device; the one on the wall did not.
  const wall = Date.now
  t.teardown(() => {
    Date.now = wall
  })
  Date.now = () => wall() + 3600_000
  socket.reconnectNow()
  t.equal(socket.state.type, 'connecting')
  await socketState(socket, 'live')
})

t.test('a live connection survives reconnectNow', async t => {
  const world = await startWorld(t)
  const { socket, line } = await world.client()
  const before = socket.connectionId
  socket.reconnectNow()
  t.strictSame(await socket.request('ping', {}), {})
  t.equal(socket.connectionId, before)
  t.equal(line.connects, 1)
})

t.test('a server that opens the connection and never accepts is abandoned after twenty seconds', async t => {
  const world = await startWorld(t)
  const line = await openTcpProxy(t, world.url)
  line.stall()
  const clock = manualClock()
  const socket = openSocket({ server: line.url, token: world.token, scope: { as: 'app' }, clock, WebSocket })
  t.teardown(() => socket.close())
  clock.advance(19_999)
  await turn()
  t.equal(socket.state.type, 'connecting')
  clock.advance(1)
  t.match(socket.state, { type: 'down', reason: 'timeout' })
})

t.test('a request without a connection, or on one that breaks, fails at once; nothing is queued', async t => {
  const world = await startWorld(t)
  const { session } = await world.openSession()
  const caller = await world.client()
  const callee = await world.client({ as: 'session', id: session.id })
  const reached = Promise.withResolvers<void>()
  const answering = callee.socket.answer(`${session.id}:abort`, () => {
    reached.resolve()
    return new Promise(() => {})
  })
  await answering.registered
  const call = caller.socket.request('rpc-call', { method: `${session.id}:abort`, params: 'x' })
  await reached.promise
  caller.line.cut()
  await t.rejects(call, { name: 'Unreachable', reason: 'network' })
  t.equal(caller.socket.send('app-state', { state: 'active' }), false)
  await t.rejects(caller.socket.request('ping', {}), { name: 'Unreachable', reason: 'not-connected' })
})

t.test('droppable events are dropped while bytes wait for the network', async t => {
  const world = await startWorld(t)
  const { socket } = await world.client()
  const event = ['rpc-call', { method: 'nobody:abort', params: 'x'.repeat(200_000) }] as const
  await socket.request('ping', {})
  let sent = 0
  while (sent < 1_000 && socket.send(...event, { volatile: true })) sent++
  t.ok(sent > 0 && sent < 1_000, `${sent} were sent before the network took no more`)
  t.equal(socket.send('app-state', { state: 'active' }), true, 'what may not be dropped waits')
  await socket.request('ping', {})
  t.equal(socket.send('app-state', { state: 'active' }, { volatile: true }), true)
})

t.test('the connection ends at once when the device reports the network as gone', async t => {
  const world = await startWorld(t)
  const { socket } = await world.client()
  const before = socket.connectionId
  socket.networkLost()
  t.match(socket.state, { type: 'down', reason: 'network lost' })
  socket.networkLost()
  await socketState(socket, 'live')
  t.not(socket.connectionId, before)
  socket.close()
  socket.networkLost()
  t.equal(socket.state.type, 'closed')
})

t.test('a network that is gone ends an attempt too', async t => {
  const socket = openSocket({ server: 'http://127.0.0.1:1', token: 'x', scope: { as: 'app' }, clock: manualClock(), WebSocket })
  t.teardown(() => socket.close())
  socket.networkLost()
  t.match(socket.state, { type: 'down', reason: 'network lost' })
})

t.test('without a token it tries again later, or is refused, as the error says', async t => {
  const world = await startWorld(t)
  const cases = [
    [new Unreachable('network'), 'down', 'The server cannot be reached.'],
    [new Refused(401, 'The device was removed'), 'refused', 'The device was removed']
  ] as const
  for (const [error, type, reason] of cases)
    for (const step of ['token', 'renew'] as const) {
      const tokens = { token: async () => 'nobody', renew: async () => 'nobody', [step]: () => Promise.reject(error) }
      const socket = openSocket({ server: world.url, token: tokens, scope: { as: 'app' }, clock: manualClock(), WebSocket })
      t.teardown(() => socket.close())
      t.match(await socketState(socket, type), { type, reason }, step)
    }
})

t.test('methods are registered again at every connect', async t => {
  const world = await startWorld(t)
  const { session } = await world.openSession()
  const caller = await world.client()
  const callee = await world.client({ as: 'session', id: session.id })
  const answering = callee.socket.answer(`${session.id}:abort`, async params => `${params}!`)
  await answering.registered
  const call = () => caller.socket.request('rpc-call', { method: `${session.id}:abort`, params: 'x' })
  t.strictSame(await call(), { ok: true, result: 'x!' })

  const down = socketState(callee.socket, 'down')
  callee.line.cut()
  await down
  t.strictSame(await call(), { ok: true, result: 'x!' }, 'the server waits for it to come back')
})

t.test('the app state is requested at each connect', async t => {
  const world = await startWorld(t)
  const line = await openTcpProxy(t, world.url)
  const asked: string[] = []
  const states = ['active', 'background'] as const
  const appState = () => {
    const state = states[asked.length] ?? 'background'
    asked.push(state)
    return { state, partials: true }
  }
  const socket = openSocket({ server: line.url, token: world.token, scope: { as: 'app' }, appState, WebSocket })
  t.teardown(() => socket.close())
  await socketState(socket, 'live')
  const down = socketState(socket, 'down')
  line.cut()
  await down
  await socketState(socket, 'live')
  t.strictSame(asked, ['active', 'background'])
})

t.test('another service at the address is not accepted as the server, and is retried', async t => {
  const strange = createServer((_, response) => response.end('<html>Welcome to the hotel</html>')).listen(0, '127.0.0.1')
  await once(strange, 'listening')
  t.teardown(() => strange.close())
  const server = `http://127.0.0.1:${(strange.address() as AddressInfo).port}`
  const socket = openSocket({ server, token: 'x', scope: { as: 'app' }, WebSocket })
  t.teardown(() => socket.close())
  await socketState(socket, 'down')
})

t.test('a closed socket stays closed', async (t: Test) => {
  const world = await startWorld(t)
  const line = await openTcpProxy(t, world.url)
  const clock = manualClock()
  const socket = openSocket({ server: line.url, token: world.token, scope: { as: 'app' }, clock, WebSocket })
  await socketState(socket, 'live')
  socket.close()
  socket.reconnectNow()
  t.equal(socket.state.type, 'closed')
  t.equal(socket.send('app-state', { state: 'active' }), false)
  t.equal(clock.pending, 0, 'it asks for no sign of life and tries nothing later')
  t.equal(line.connects, 1)
})

for (const held of ['token', 'renew'] as const)
  t.test(`a socket closed while it waits for ${held === 'token' ? 'its token' : 'a new token'} stays closed`, async t => {
    const world = await startWorld(t)
    const clock = manualClock()
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<string>()
    const hold = () => {
      asked.resolve()
      return answer.promise
    }
    const tokens = { token: async () => 'nobody', renew: async () => world.token, [held]: hold }
    const socket = openSocket({ server: world.url, token: tokens, scope: { as: 'app' }, clock, WebSocket })
    t.teardown(() => socket.close())
    await asked.promise
    socket.close()
    if (held === 'token') answer.reject(new Unreachable('network'))
    else answer.resolve(world.token)
    await turn()
    clock.advance(60_000)
    t.equal(socket.state.type, 'closed')
  })
