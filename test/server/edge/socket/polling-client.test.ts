import { once } from 'node:events'
import { io, type Socket } from 'socket.io-client'
import t, { type Test } from 'tap'
import { next, type Person, signUp, type Untyped } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { listen } from '../../heard.ts'

/** The real client, with these transports. */
async function connect(t: Test, url: string, transports: string[], auth: object, options: object = {}): Promise<Socket> {
  const often = { reconnectionDelay: 20, reconnectionDelayMax: 50 }
  const socket = io(url, { path: '/v1/updates', transports, auth, forceNew: true, ...often, ...options })
  t.teardown(() => socket.disconnect())
  await once(socket as never, 'connect')
  return socket
}

const transportOf = (socket: Socket): string => socket.io.engine.transport.name

t.test('the real client works by polling alone', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await connect(t, server.url, ['polling'], { token: ada.token })
  const agent = await connect(t, server.url, ['polling'], { token: ada.token, clientType: 'session-scoped', sessionId: session })
  t.same(await app.emitWithAck('ping'), {})

  const told = next(app, 'update')
  agent.emit('message', { sid: session, message: 'aGk=', localId: 'a' })
  t.equal((await told).body.message.localId, 'a')

  const registered = next(agent, 'rpc-registered')
  agent.emit('rpc-register', { method: `${session}:echo` })
  await registered
  agent.on('rpc-request', ({ params }, reply) => reply(params))
  const large = 'x'.repeat(5 * 1024 * 1024)
  for (const params of ['x', large]) {
    t.same(await app.emitWithAck('rpc-call', { method: `${session}:echo`, params }), { ok: true, result: params })
  }
  t.same([transportOf(app), transportOf(agent)], ['polling', 'polling'])
})

t.test('the real client gets the reason of a rejection, and reconnects after the server closes its connection', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const refused = io(server.url, { path: '/v1/updates', transports: ['polling'], auth: { token: 'wrong' }, forceNew: true })
  t.teardown(() => refused.disconnect())
  const [refusal] = await once(refused as never, 'connect_error')
  t.equal(refusal.message, 'Invalid authentication token')

  const socket = await connect(t, server.url, ['polling'], { token: ada.token })
  const left = once(socket as never, 'disconnect')
  const back = new Promise<void>(resolve => socket.once('connect', resolve))
  // What nobody may send ends the connection.
  socket.io.engine.write('abc')
  t.match((await left)[0], /^transport/)
  await back
  t.same(await socket.emitWithAck('ping'), {})
})

for (const transports of [['polling'], ['websocket']]) {
  t.test(`bytes from the real client over ${transports[0]} are bad input and not a fault`, async t => {
    const server = await startServer(t)
    const ada = await signUp(t, server)
    const session = await ada.openSession()
    const app = await connect(t, server.url, transports, { token: ada.token })
    const agent = await connect(t, server.url, transports, { token: ada.token, clientType: 'session-scoped', sessionId: session })
    const registered = next(agent, 'rpc-registered')
    agent.emit('rpc-register', { method: `${session}:bytes` })
    await registered
    agent.on('rpc-request', (_, reply) => reply(Buffer.from('bytes')))

    app.emit('message', { sid: session, message: Buffer.from('bytes'), localId: 'a' })
    t.match(await app.emitWithAck('rpc-call', { method: `${session}:bytes`, params: Buffer.from('x') }), { ok: false })
    t.match(await app.emitWithAck('rpc-call', { method: `${session}:bytes`, params: 'x' }), { ok: false })
    t.match(await app.emitWithAck('update-state', { sid: session, agentState: new Uint8Array(3), expectedVersion: 0 }), { result: 'error' })
    t.same(await app.emitWithAck('ping', Buffer.alloc(100_000), new Uint8Array(1)), {})
    t.same((await ada.call('GET', `/v3/sessions/${session}/messages`)).body.messages, [])
  })
}

t.test('the real client upgrades to WebSocket automatically', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const socket = await connect(t, server.url, ['polling', 'websocket'], { token: ada.token })
  if (transportOf(socket) === 'polling') await once(socket.io.engine as never, 'upgrade')
  t.same(await socket.emitWithAck('ping'), {})
  t.equal(transportOf(socket), 'websocket')
})

t.test('nothing is lost, duplicated or reordered while the real client upgrades to WebSocket', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (let round = 1; round <= 10; round += 1) await changeWhileMessagesFlow(t, server.url, ada)
})

async function changeWhileMessagesFlow(t: Test, url: string, ada: Person): Promise<void> {
  const [told, said] = [await ada.openSession(), await ada.openSession()]
  // By itself it would have changed before messages flow.
  const app = await connect(t, url, ['polling', 'websocket'], { token: ada.token }, { upgrade: false })
  const heard = listen(app)
  let count = 0
  const flow = async (isOver: () => boolean) => {
    while (!isOver()) {
      count += 1
      app.emit('message', { sid: said, message: 'aGk=', localId: `${count}` })
      await ada.send(told, { localId: `${count}` })
    }
  }
  await flow(() => count === 10)
  t.equal(transportOf(app), 'polling')
  Reflect.get(app.io.engine, '_probe').call(app.io.engine, 'websocket')
  await flow(() => transportOf(app) === 'websocket')
  const changedAt = count
  await flow(() => count === changedAt + 10)
  await heard.settled()

  t.comment(`${changedAt} messages before the change`)
  const expected = Array.from({ length: count }, (_, index) => index + 1)
  const bodies = heard.bodies('new-message').filter(({ sid }) => sid === told)
  t.same(
    bodies.map(({ message }) => message.seq),
    expected
  )
  const { body } = await ada.call('GET', `/v3/sessions/${said}/messages?after_seq=0&limit=500`)
  t.same(
    body.messages.map((message: Untyped) => Number(message.localId)),
    expected
  )
  app.disconnect()
}
