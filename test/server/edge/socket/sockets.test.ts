import { once } from 'node:events'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { LargeFrame } from '../../../../lib/server/hub/frames.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { next, signUp, type Untyped } from '../../../kit/person.ts'
import { portToKeep } from '../../../kit/port.ts'
import { startServer, startServerProcess } from '../../../kit/server.ts'
import { openAccepted, openWebSocket } from '../../raw-websocket.ts'

t.test('the open packet has the timing that clients rely on, and allows large packets', async t => {
  const server = await startServer(t)
  const web = await openWebSocket(t, server)
  const open = await web.next()
  t.equal(open?.[0], '0')
  const { sid, ...rest } = JSON.parse(open?.slice(1) ?? '')
  t.match(sid, /^[a-z2-7]{24}$/)
  t.same(rest, { upgrades: [], pingInterval: 15_000, pingTimeout: 45_000, maxPayload: 24 * 1024 * 1024 })
})

t.test('each scope is accepted with its required fields and gets its own id', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const auths = [
    {},
    { clientType: undefined },
    { clientType: 'user-scoped', appState: 'active', happyClient: 'ios/1' },
    { clientType: 'something-new' },
    { clientType: 'session-scoped', sessionId: 'any' },
    { clientType: 'machine-scoped', machineId: 'any' }
  ]
  const ids = new Set<string>()
  for (const auth of auths) ids.add((await ada.connect(auth)).id ?? '')
  t.equal(ids.size, auths.length)
})

t.test('a rejected client gets the reason in the documented words', async t => {
  const server = await startServer(t)
  const { token } = await signUp(t, server)
  const table: [auth: unknown, message: string][] = [
    [{}, 'Missing authentication token'],
    [{ token: '' }, 'Missing authentication token'],
    [{ token: 7 }, 'Missing authentication token'],
    [null, 'Missing authentication token'],
    [[], 'Missing authentication token'],
    ['text', 'Missing authentication token'],
    [{ token, clientType: 'session-scoped' }, 'Session ID required for session-scoped clients'],
    [{ token, clientType: 'machine-scoped' }, 'Machine ID required for machine-scoped clients'],
    [{ token, clientType: 'machine-scoped', sessionId: 'x' }, 'Machine ID required for machine-scoped clients'],
    [{ token: `${token}x` }, 'Invalid authentication token'],
    [{ token: 'x' }, 'Invalid authentication token']
  ]
  for (const [auth, message] of table) {
    const web = await openWebSocket(t, server)
    await web.next()
    web.send(`40${JSON.stringify(auth)}`)
    t.equal(await web.next(), `44${JSON.stringify({ message })}`, JSON.stringify(auth).slice(0, 60))
  }
})

t.test('the real client gets a rejection as connect_error, and may retry on the same connection', async t => {
  const server = await startServer(t)
  const { token } = await signUp(t, server)
  const auth = { token: 'wrong' }
  const socket = io(server.url, { path: '/v1/updates', transports: ['websocket'], auth: done => done(auth), forceNew: true })
  t.teardown(() => socket.disconnect())
  const [refusal] = await once(socket as never, 'connect_error')
  t.equal(refusal.message, 'Invalid authentication token')
  t.equal(socket.active, false, 'it does not come back by itself')
  auth.token = token
  socket.connect()
  await once(socket as never, 'connect')
  t.same(await socket.emitWithAck('ping'), {})
})

t.test('events sent right after the connect are not lost', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const web = await openWebSocket(t, server)
  await web.next()
  web.send(`40${JSON.stringify({ token: ada.token, clientType: 'session-scoped', sessionId: session })}`)
  t.match(await web.next(), /^40\{"sid":"[a-z2-7]{24}"\}$/)
  web.send(`42["rpc-register",{"method":"${session}:abort"}]`)
  t.equal(await web.next(), `42["rpc-registered",{"method":"${session}:abort"}]`)
})

t.test('a connection that never signs in is closed after 20 s', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock })
  const web = await openWebSocket(t, server)
  await web.next()
  clock.advance(20_000)
  t.equal(await web.ended(), 4003)
})

t.test('connections are pinged every 15 s, and closed after 45 s without an answer [S4]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock })
  const ada = await signUp(t, server)
  const answers = await openAccepted(t, server, { token: ada.token })
  const silent = await openAccepted(t, server, { token: ada.token })
  for (let round = 1; round <= 3; round += 1) {
    clock.advance(16_000)
    t.equal(await answers.next(), '2', `ping ${round}`)
    answers.send('3')
    answers.send('420["ping"]')
    t.equal(await answers.next(), '430[{}]')
  }
  clock.advance(16_000)
  t.equal(await silent.ended(), 4002)
  t.same(silent.texts, ['2'])
  t.equal(await answers.next(), '2')
})

t.test('a client that closes is removed at once', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  web.send('1')
  t.equal(await web.ended(), 1000)
})

/** Where nobody was before, so that the line is one for small packets. */
const elsewhere = '127.0.0.7'

t.test('a client that leaves the namespace gets nothing more, and can sign in again on its limited connection', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock, limits: 'default' })
  const ada = await signUp(t, server)
  const app = await ada.connect()
  await ada.call('POST', '/v1/machines', { body: { id: 'm', metadata: 'x' } })
  const machine = { token: ada.token, clientType: 'machine-scoped', machineId: 'm' }
  const web = await openAccepted(t, { ...server, from: elsewhere }, machine)
  web.send('420["rpc-register",{"method":"m:run"}]')
  t.match(await web.next(), 'rpc-registered')
  t.match(await web.next(), '430')
  const told = next(app, 'ephemeral', ({ active }) => active === false)
  web.send('41')
  t.match(await told, { type: 'machine-activity', id: 'm' })
  clock.advance(15_000)
  t.equal(await web.next(), '2', 'it is pinged as before')
  web.send('3')
  clock.advance(10_000)

  web.send(`40${JSON.stringify({ ...machine, machineId: 'other' })}`)
  t.match(await web.next(), /^40\{"sid"/)
  web.send('421["rpc-register",{"method":"m:run"}]')
  t.match(await web.next(), 'rpc-error', 'it is who signed in last')
  t.match(await web.next(), '431')
  web.send('41')
  web.send('422["ping"]')
  t.equal(await web.ended(), 4400, 'and nobody in between')
})

t.test('an account gets its places back from connections that left the namespace', async t => {
  const server = await startServer(t, { limits: 'default' })
  const ada = await signUp(t, server)
  const web = await openAccepted(t, { ...server, from: elsewhere }, { token: ada.token })
  for (let time = 0; time < 70; time += 1) {
    web.send('41')
    web.send(`40${JSON.stringify({ token: ada.token })}`)
    t.match(await web.next(), /^40\{"sid"/)
  }
})

t.test('noop and upgrade packets have no effect here', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  web.send('6')
  web.send('5')
  web.send('3')
  web.send('421["ping"]')
  t.equal(await web.next(), '431[{}]')
})

const askedWrong: [query: string, code: number, message: string][] = [
  ['EIO=3&transport=websocket', 5, 'Unsupported protocol version'],
  ['transport=websocket', 5, 'Unsupported protocol version'],
  ['EIO=4', 0, 'Transport unknown'],
  ['EIO=4&transport=carrier-pigeon', 0, 'Transport unknown'],
  ['EIO=4&transport=websocket&sid=abc', 1, 'Session ID unknown'],
  ['EIO=4&transport=websocket', 3, 'Bad request']
]

for (const [query, code, message] of askedWrong) {
  t.test(`a request for ?${query} without an upgrade is answered as by Engine.IO`, async t => {
    const server = await startServer(t)
    const response = await fetch(`${server.url}/v1/updates/?${query}`)
    t.equal(response.status, 400)
    t.same(await response.json(), { code, message })
  })
}

t.test('an upgrade with an invalid query is rejected', async t => {
  const server = await startServer(t)
  for (const [query, code, message] of askedWrong.slice(0, -1)) {
    await t.rejects(openWebSocket(t, server, query), { message: new RegExp(`400 Bad Request[^]*${message}`) }, `${query} ${code}`)
  }
  await t.rejects(openWebSocket(t, server, 'EIO=4&transport=polling'), { message: /400 Bad Request.*Bad request/s })
})

t.test('an unknown namespace is rejected as in Socket.IO, and the main one still works', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const web = await openWebSocket(t, server)
  await web.next()
  web.send(`40/admin,${JSON.stringify({ token: ada.token })}`)
  t.equal(await web.next(), '44/admin,{"message":"Invalid namespace"}')
  web.send(`40/admin?x=1,{}`)
  t.equal(await web.next(), '44/admin,{"message":"Invalid namespace"}')
  web.send(`40${JSON.stringify({ token: ada.token })}`)
  t.match(await web.next(), /^40\{"sid"/)
})

t.test('a packet of many megabytes is accepted and forwarded', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const [sender, other] = [await ada.connect(), await ada.connect()]
  const told = next(other, 'update')
  const message = 'x'.repeat(20 * 1024 * 1024)
  sender.emit('message', { sid: session, message, localId: 'large' })
  const { body } = await told
  t.ok(body.message.content.c === message)
  t.same(await other.emitWithAck('ping'), {}, 'and nobody was taken for slow')
})

t.test('memory of a large call is freed once its callee was sent it, and that of an update for many is not [B2]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const sessionId = await ada.openSession()
  const [caller, callee] = [await ada.connect(), await ada.connect({ clientType: 'session-scoped', sessionId })]
  const mib = 1024 * 1024
  const params = 'x'.repeat(mib)
  const sent = t.capture(LargeFrame.prototype, 'sent', LargeFrame.prototype.sent)
  callee.on('rpc-request', (asked, answer) => answer(asked.params))
  callee.emit('rpc-register', { method: `${sessionId}:echo` })
  await callee.emitWithAck('ping')
  t.same(await caller.emitWithAck('rpc-call', { method: `${sessionId}:echo`, params }), { ok: true, result: params })
  const heard = Promise.all([caller, callee].map(socket => next(socket, 'update')))
  await ada.send(sessionId, { localId: 'a', content: params })
  t.same(
    (await heard).map(({ body }) => body.message.content.c.length),
    [mib, mib]
  )
  const left = sent().map(({ receiver }) => (receiver as LargeFrame).bytes.length)
  t.same(left.slice(0, 2), [0, 0], 'the question and the answer')
  t.same(
    left.slice(2).map(bytes => bytes > mib),
    [true, true]
  )
})

t.test('the real client reconnects after a server restart, and calls work again [S1]', async t => {
  const data = t.testdir()
  const first = await startServer(t, { data, port: await portToKeep() })
  const ada = await signUp(t, first)
  const session = await ada.openSession()
  const socket = reconnecting(t, first.url, { token: ada.token, clientType: 'session-scoped', sessionId: session })
  await once(socket as never, 'connect')
  const firstId = socket.id
  const unanswered = socket.timeout(60_000).emitWithAck('rpc-call', { method: `${session}:nobody`, params: 'x' })
  const gone = t.rejects(unanswered, 'an acknowledgement ends with its connection')

  const left = once(socket as never, 'disconnect')
  await first.close()
  t.same((await left)[0], 'transport close')
  await gone
  const back = once(socket as never, 'connect')
  const second = await startServer(t, { data, port: first.port })
  await back
  t.not(socket.id, firstId)
  t.notOk(socket.recovered)

  const registered = next(socket, 'rpc-registered')
  socket.emit('rpc-register', { method: `${session}:abort` })
  await registered
  socket.on('rpc-request', (_, reply) => reply('done'))
  const app = reconnecting(t, second.url, { token: ada.token })
  t.same(await app.emitWithAck('rpc-call', { method: `${session}:abort`, params: 'x' }), { ok: true, result: 'done' })
})

t.test('the real client reconnects after the server was killed, and gets later messages [S1]', async t => {
  const first = await startServerProcess(t)
  const ada = await signUp(t, first)
  const session = await ada.openSession()
  await ada.send(session, { localId: 'before' })
  const socket = reconnecting(t, first.url, { token: ada.token })
  await once(socket as never, 'connect')
  const left = once(socket as never, 'disconnect')
  await first.kill()
  t.same((await left)[0], 'transport close')
  const back = new Promise<void>(resolve => socket.once('connect', resolve))
  await startServerProcess(t, { data: first.data, port: Number(new URL(first.url).port) })
  await back
  const told = next(socket, 'update')
  const { body } = await ada.send(session, { localId: 'before' }, { localId: 'after' })
  t.same(
    body.messages.map((message: Untyped) => message.seq),
    [1, 2]
  )
  t.equal((await told).body.message.localId, 'after')
})

t.test('volatile events and acknowledgements with a time limit work with the real client', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const [app, process] = [await ada.connect(), await ada.connect({ clientType: 'session-scoped', sessionId: session })]
  const told = next(app, 'ephemeral')
  process.volatile.emit('session-alive', { sid: session, time: Date.now(), thinking: true })
  t.match(await told, { type: 'activity', thinking: true })
  t.same(await process.timeout(10_000).emitWithAck('ping'), {})
  await t.rejects(app.timeout(1).emitWithAck('rpc-call', { method: `${session}:nobody`, params: 'x' }), { message: /timed out/ })
  t.same(await app.emitWithAck('ping'), {}, 'and the late answer harms nothing')
})

function reconnecting(t: Test, url: string, auth: object) {
  const socket = io(url, {
    path: '/v1/updates',
    transports: ['websocket'],
    auth,
    forceNew: true,
    reconnectionDelay: 20,
    reconnectionDelayMax: 50
  })
  t.teardown(() => socket.disconnect())
  return socket
}

t.test('what one socket sends is stored in that order, also a message behind many states [O1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await ada.connect()
  const heard: string[] = []
  app.on('update', ({ body }: Untyped) => heard.push(body.t))
  const last = next(app, 'update', ({ body }) => body.t === 'new-message')
  const web = await openAccepted(t, server, { token: ada.token })
  for (let version = 0; version < 12; version += 1) {
    web.send(`42["update-state",${JSON.stringify({ sid: session, agentState: `s${version}`, expectedVersion: version })}]`)
  }
  web.send(`42["message",${JSON.stringify({ sid: session, message: 'bQ==' })}]`)
  await last
  t.same(heard, [...Array(12).fill('update-session'), 'new-message'])
})
