import { once } from 'node:events'
import { io } from 'socket.io-client'
import t from 'tap'
import { call, next, signInBody, signUp, type Untyped } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { listen } from '../server/heard.ts'

// What existing clients do that one would not expect. What a test beside its action proves is not repeated here.

t.test('all startup requests of an app are answered, although its GETs claim to have a JSON body', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const headers = { 'content-type': 'application/json', 'x-happy-client': 'ios/1.2.3' }
  const table: [path: string, shape: Untyped][] = [
    ['/v1/account/profile', { id: String, timestamp: Number, firstName: null, avatar: null, github: null, connectedServices: [] }],
    ['/v1/account/settings', { settings: null, settingsVersion: 0 }],
    ['/v1/sessions', { sessions: [] }],
    ['/v1/machines', []],
    ['/v1/artifacts', []],
    ['/v1/friends', { friends: [] }],
    ['/v1/feed', { items: [], hasMore: false }],
    ['/v1/push-tokens', { tokens: [] }],
    ['/v1/kv', { items: [] }]
  ]
  for (const [path, shape] of table) t.match(await ada.call('GET', path, { headers }), { status: 200, body: shape }, path)
})

t.test('the name that a client gives itself is never required', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const name of ['cli/1.2.5', 'cli-daemon/1.2.5', 'x', '', 'a/b/c'.repeat(50)]) {
    t.equal((await ada.call('GET', '/v1/sessions', { headers: { 'x-happy-client': name } })).status, 200, name)
    t.equal(
      (await call(server, 'POST', '/v1/auth', { body: await signInBody(ada.secret), headers: { 'x-happy-client': name } })).status,
      200
    )
  }
})

t.test('both base64 alphabets are accepted, with or without padding', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const key = Buffer.alloc(32, 0xfb)
  const spellings = [
    key.toString('base64'),
    key.toString('base64').replace(/=+$/, ''),
    key.toString('base64url'),
    `${key.toString('base64url')}=`
  ]
  for (const publicKey of spellings) {
    t.same(
      (await call(server, 'POST', '/v1/auth/request', { body: { publicKey, supportsV2: true } })).body,
      { state: 'requested' },
      publicKey
    )
    const status = await call(server, 'GET', `/v1/auth/request/status?publicKey=${encodeURIComponent(publicKey)}`)
    t.same(status.body, { status: 'pending', supportsV2: true })
  }
  const response = await ada.call('POST', '/v1/auth/response', { body: { publicKey: spellings[2], response: 'c2VhbGVk' } })
  t.same(response, { status: 200, body: { success: true } })
  t.match((await call(server, 'POST', '/v1/auth/request', { body: { publicKey: spellings[0] } })).body, { state: 'authorized' })
})

t.test('an app reads the account from the token as browsers decode it', async t => {
  const server = await startServer(t)
  for (let account = 0; account < 5; account += 1) {
    const ada = await signUp(t, server)
    const parts = ada.token.split('.')
    t.equal(parts.length, 3)
    for (const part of parts) t.ok(part.length > 0)
    // `atob` takes neither `-` nor `_`.
    const { sub } = JSON.parse(atob(parts[1] ?? ''))
    t.equal(sub, (await ada.call('GET', '/v1/account/profile')).body.id)
  }
})

t.test('a probe without a token gets the answer that there is a server', async t => {
  const server = await startServer(t)
  t.ok((await call(server, 'GET', '/v1/sessions')).status < 500)
})

t.test('a daemon reconnects the usual way: state, registrations, heartbeat, metadata', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const body = { id: 'laptop', metadata: 'bWV0YQ==', daemonState: 'c3RhdGU=' }
  t.match((await ada.call('POST', '/v1/machines', { body })).body.machine, { metadataVersion: 1, daemonStateVersion: 1, active: false })
  const app = listen(await ada.connect())
  const daemon = await ada.connect({ clientType: 'machine-scoped', machineId: 'laptop' })
  const registered = new Set<string>()
  daemon.on('rpc-registered', ({ method }) => registered.add(method))

  const state = await daemon.emitWithAck('machine-update-state', { machineId: 'laptop', daemonState: 'cnVubmluZw==', expectedVersion: 1 })
  t.same(state, { result: 'success', version: 2, daemonState: 'cnVubmluZw==' })
  for (const method of ['spawn-happy-session', 'resume-happy-session']) daemon.emit('rpc-register', { method: `laptop:${method}` })
  daemon.emit('machine-alive', { machineId: 'laptop', time: Date.now() })
  const metadata = await daemon.emitWithAck('machine-update-metadata', { machineId: 'laptop', metadata: 'bmV3', expectedVersion: 1 })
  t.same(metadata, { result: 'success', version: 2, metadata: 'bmV3' })
  t.same([...registered], ['laptop:spawn-happy-session', 'laptop:resume-happy-session'])

  await app.settled()
  t.ok(app.ephemerals.some(({ type, active }) => type === 'machine-activity' && active))
})

t.test('a session process that reconnects registers at once and fetches everything after its last message', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.send(session, { localId: 'seen' }, { localId: 'missed' })
  const agent = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const registered = next(agent, 'rpc-registered')
  agent.emit('rpc-register', { method: `${session}:permission` })
  await registered
  const { body } = await ada.call('GET', `/v3/sessions/${session}/messages?after_seq=1&limit=100`)
  t.match(body, { messages: [{ seq: 2, localId: 'missed' }], hasMore: false })
})

t.test('a control program connects with only its token, and without waiting for the transport', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = listen(await ada.connect())
  const control = io(server.url, { path: '/v1/updates', transports: ['websocket'], auth: { token: ada.token }, forceNew: true })
  t.teardown(() => control.disconnect())
  // What it says before it is connected is sent the moment it is.
  control.emit('message', { sid: session, message: 'aGk=', localId: 'first' })
  control.emit('session-end', { sid: session, time: Date.now() })
  await once(control as never, 'connect')
  await control.emitWithAck('ping')
  await app.settled()
  t.equal(app.bodies('new-message').length, 1)
  t.ok(app.ephemerals.some(({ type, active }) => type === 'activity' && active === false))
})

t.test('an app that reconnects requests everything again and reports whether it is in use', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (let connect = 0; connect < 3; connect += 1) {
    const app = await ada.connect({ happyClient: 'web/1', appState: 'active' })
    app.emit('app-state', { state: 'background' })
    for (const path of ['/v1/sessions', '/v1/machines', '/v1/artifacts', '/v1/friends', '/v1/feed']) {
      t.equal((await ada.call('GET', path)).status, 200, path)
    }
    t.same(await app.emitWithAck('ping'), {})
    app.disconnect()
  }
})
