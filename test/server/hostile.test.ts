import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { cryptoReady, engine, toBase64 } from '../../lib/crypto/index.ts'
import { call, next, signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'

t.before(() => cryptoReady())

t.test('thousands of messages and pings at once are accepted, each ping answered after what preceded it [N1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect()
  const pings: Promise<unknown>[] = []
  for (let number = 0; number < 1500; number++) {
    socket.emit('message', { sid: session, message: 'eA==', localId: `${number}` })
    pings.push(socket.emitWithAck('ping'))
  }
  await Promise.all(pings)
  const { body } = await ada.call('GET', `/v3/sessions/${session}/messages?after_seq=1490&limit=100`)
  t.equal(body.messages.length, 10)
})

t.test('a connection that sends far more than can be handled is closed [B5]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect()
  const left = once(socket as never, 'disconnect')
  for (let number = 0; number < 60_000; number++) socket.emit('message', { sid: session, message: 'x' })
  await left
  t.equal((await call(server, 'GET', '/health')).status, 200)
})

t.test('a large batch reaches a reader complete, without closing it as slow [B1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect()
  let heard = 0
  const { promise: all, resolve } = Promise.withResolvers<void>()
  socket.on('update', () => {
    heard += 1
    if (heard === 51) resolve()
  })
  socket.on('disconnect', reason => t.fail(`the reader was closed: ${reason}`))
  const content = 'A'.repeat(200_000)
  await ada.send(session, ...Array.from({ length: 50 }, (_, number) => ({ localId: `${number}`, content })))
  await ada.send(session, { localId: 'after' })
  await all
  t.equal(heard, 51)
  socket.off('disconnect')
})

t.test('the token of a linked computer can link no other and end no other sign-in [A4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const key = () => toBase64(engine.boxKeypair().publicKey)
  const first = key()
  await call(server, 'POST', '/v1/auth/request', { body: { publicKey: first } })
  await ada.call('POST', '/v1/auth/response', { body: { publicKey: first, response: 'AAAA' } })
  const { body } = await call(server, 'POST', '/v1/auth/request', { body: { publicKey: first } })

  const second = key()
  await call(server, 'POST', '/v1/auth/request', { body: { publicKey: second } })
  const answer = { body: { publicKey: second, response: 'AAAA' }, token: body.token }
  t.match(await call(server, 'POST', '/v1/auth/response', answer), { status: 403, body: { error: 'This token is not allowed to do this' } })
  const { devices } = (await ada.call('GET', '/v1/devices')).body
  const owner = devices.find((device: { current: boolean }) => device.current)
  t.equal((await call(server, 'DELETE', `/v1/devices/${owner.id}`, { token: body.token })).status, 403)
  t.equal((await call(server, 'DELETE', '/v1/tokens/current', { token: body.token })).status, 200, 'its own it may end')
})

t.test('a token revoked while a body arrives writes nothing [A4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const again = await signUp(t, server, ada.secret)
  const body = JSON.stringify({ messages: [{ localId: 'late', content: 'eA==' }] })
  const socket = connect(server.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const head = `POST /v3/sessions/${session}/messages HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${ada.token}\r\ncontent-length: ${body.length}\r\n\r\n`
  await new Promise(done => socket.write(head + body.slice(0, 20), done))
  await again.call('GET', '/v1/account/profile')
  await ada.call('DELETE', '/v1/tokens/current')
  socket.write(body.slice(20))
  const [answer] = await once(socket, 'data')
  t.match(String(answer), /^HTTP\/1.1 401/)
  t.strictSame((await again.call('GET', `/v3/sessions/${session}/messages`)).body.messages, [])
})

t.test('tags that are not text are rejected and not confused with each other [N4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const tag of ['\\ud800', '\\udfff']) {
    const { status } = await ada.call('POST', '/v1/sessions', { body: `{"tag":"${tag}","metadata":"eA=="}` })
    t.equal(status, 400)
  }
})

t.test('a late keepalive with a fast clock does not revive an archived session', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await ada.connect()
  const own = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const archived = next(app, 'ephemeral', body => body.active === false)
  await ada.call('POST', `/v1/sessions/${session}/archive`)
  await archived
  const revived: unknown[] = []
  app.on('ephemeral', body => body.active && revived.push(body))
  own.emit('session-alive', { sid: session, time: Date.now() + 5000 })
  await own.emitWithAck('ping')
  await app.emitWithAck('ping')
  t.strictSame(revived, [], 'nothing revives it')
  t.equal((await ada.call('GET', '/v1/sessions')).body.sessions[0].active, false)
})

t.test('invalid optional fields of a handshake count as absent, and a valid token is accepted', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const odd of [{ appState: 5 }, { sessionId: null }, { clientType: null }, { machineId: 'm'.repeat(500) }, { happyClient: {} }]) {
    t.ok((await ada.connect({ clientType: undefined, ...odd })).connected, JSON.stringify(odd))
  }
})

t.test('HEAD is answered without a body, so that the connection stays usable [N10]', async t => {
  const server = await startServer(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const ask = (method: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ agent, method, path, port: server.port }, response => {
        response.resume().on('end', () => resolve(response.statusCode))
      })
        .on('error', reject)
        .end()
    })
  t.equal(await ask('HEAD', '/v1/nothing'), 404)
  t.equal(await ask('GET', '/health'), 200)
})
