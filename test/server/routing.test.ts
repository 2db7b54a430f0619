import t from 'tap'
import { type Person, signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { listen } from './heard.ts'

/** One connection of each scope an account has, and what each hears. */
async function everyScope(person: Person, session: string) {
  return {
    app: listen(await person.connect()),
    unnamed: listen(await person.connect({ clientType: undefined })),
    session: listen(await person.connect({ clientType: 'session-scoped', sessionId: session })),
    otherSession: listen(await person.connect({ clientType: 'session-scoped', sessionId: 'another' })),
    machine: listen(await person.connect({ clientType: 'machine-scoped', machineId: 'laptop' })),
    otherMachine: listen(await person.connect({ clientType: 'machine-scoped', machineId: 'another' }))
  }
}

type Scope = keyof Awaited<ReturnType<typeof everyScope>>

t.test('each connection gets what its scope may see, and nothing else', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'x' } })
  const scopes = await everyScope(ada, session)
  const actor = await ada.connect({ clientType: 'machine-scoped', machineId: 'actor' })
  for (const heard of Object.values(scopes)) {
    await heard.settled()
    heard.updates.length = 0
    heard.ephemerals.length = 0
  }

  const artifact = { id: crypto.randomUUID(), header: 'x', body: 'x', dataEncryptionKey: 'x' }
  const apps: Scope[] = ['app', 'unnamed']
  const table: [what: string, run: () => Promise<unknown> | unknown, told: string, who: Scope[]][] = [
    ['a message by HTTP', () => ada.send(session, { localId: 'a' }), 'new-message', [...apps, 'session']],
    ['a message by socket', () => actor.emit('message', { sid: session, message: 'x' }), 'new-message', [...apps, 'session']],
    [
      'metadata',
      () => actor.emitWithAck('update-metadata', { sid: session, metadata: 'x', expectedVersion: 0 }),
      'update-session',
      [...apps, 'session']
    ],
    [
      'agent state',
      () => actor.emitWithAck('update-state', { sid: session, agentState: 'x', expectedVersion: 0 }),
      'update-session',
      [...apps, 'session']
    ],
    [
      'machine metadata',
      () => actor.emitWithAck('machine-update-metadata', { machineId: 'laptop', metadata: 'x', expectedVersion: 1 }),
      'update-machine',
      [...apps, 'machine']
    ],
    ['a new session', () => ada.openSession(), 'new-session', apps],
    ['settings', () => ada.call('POST', '/v1/account/settings', { body: { settings: 'x', expectedVersion: 0 } }), 'update-account', apps],
    ['a sign of life', () => actor.emit('session-alive', { sid: session, time: Date.now() + 1000 }), 'activity', apps],
    ['an end', () => ada.call('POST', `/v1/sessions/${session}/archive`), 'activity', apps],
    ['a machine’s sign of life', () => actor.emit('machine-alive', { machineId: 'laptop', time: Date.now() }), 'machine-activity', apps],
    ['keys', () => ada.call('POST', '/v1/kv', { body: { mutations: [{ key: 'k', value: 'x', version: -1 }] } }), 'kv-batch-update', apps],
    ['an artifact', () => ada.call('POST', '/v1/artifacts', { body: artifact }), 'new-artifact', apps],
    [
      'a changed artifact',
      () => ada.call('POST', `/v1/artifacts/${artifact.id}`, { body: { body: 'y', expectedBodyVersion: 1 } }),
      'update-artifact',
      apps
    ],
    ['a removed artifact', () => ada.call('DELETE', `/v1/artifacts/${artifact.id}`), 'delete-artifact', apps],
    [
      'usage',
      () => actor.emitWithAck('usage-report', { key: 'k', sessionId: session, tokens: { total: 1 }, cost: { total: 1 } }),
      'usage',
      apps
    ],
    ['a removed machine', () => ada.call('DELETE', '/v1/machines/laptop'), 'delete-machine', apps],
    ['a removed session', () => ada.call('DELETE', `/v1/sessions/${session}`), 'delete-session', apps]
  ]
  for (const [what, run, told, who] of table) {
    await run()
    await actor.emitWithAck('ping')
    for (const [scope, heard] of Object.entries(scopes) as [Scope, (typeof scopes)[Scope]][]) {
      await heard.settled()
      const kinds = [...heard.updates.map(({ body }) => body.t), ...heard.ephemerals.map(({ type }) => type)]
      t.same(kinds, who.includes(scope) ? [told] : [], `${what} at ${scope}`)
      heard.updates.length = 0
      heard.ephemerals.length = 0
    }
  }
})

t.test('another account gets nothing at all, even scoped to the same ids [I2]', async t => {
  const server = await startServer(t)
  const [ada, mallory] = [await signUp(t, server), await signUp(t, server)]
  const session = await ada.openSession()
  const scopes = await everyScope(mallory, session)
  const app = await ada.connect()
  const process = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const daemon = await ada.connect({ clientType: 'machine-scoped', machineId: 'laptop' })

  await ada.send(session, { localId: 'a' })
  await ada.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'x' } })
  await ada.call('POST', '/v1/account/settings', { body: { settings: 'x', expectedVersion: 0 } })
  await process.emitWithAck('update-metadata', { sid: session, metadata: 'x', expectedVersion: 0 })
  await daemon.emitWithAck('machine-update-state', { machineId: 'laptop', daemonState: 'x', expectedVersion: 0 })
  process.emit('session-alive', { sid: session, time: Date.now() })
  process.emit('message', { sid: session, message: 'x' })
  process.emit('partial', { sid: session, partial: 'x' })
  process.emit('rpc-register', { method: `${session}:abort` })
  process.on('rpc-request', (_, reply) => reply('done'))
  t.same(await app.emitWithAck('rpc-call', { method: `${session}:abort`, params: 'x' }), { ok: true, result: 'done' })
  daemon.disconnect()
  await ada.call('DELETE', `/v1/sessions/${session}`)

  for (const [scope, heard] of Object.entries(scopes)) {
    await heard.settled()
    // Her own machine-scoped connections told her apps that they came.
    const foreign = heard.ephemerals.filter(({ type }) => type !== 'machine-activity')
    t.same([heard.updates, foreign], [[], []], scope)
  }
})

t.test('a message sent by socket is not echoed to that socket; all others get it once [S3]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const scope = { clientType: 'session-scoped', sessionId: session }
  const sender = await ada.connect(scope)
  const own = listen(sender)
  const others = [listen(await ada.connect(scope)), listen(await ada.connect())]
  sender.emit('message', { sid: session, message: 'x', localId: 'a' })
  await own.settled()
  t.same(own.updates, [])
  for (const heard of others) {
    await heard.settled()
    t.equal(heard.bodies('new-message').length, 1)
  }
})

t.test('a message posted by HTTP is echoed to all connections except the one the post names [S3]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const [one, two] = [await ada.connect(), await ada.connect()]
  const [first, second] = [listen(one), listen(two)]
  const post = (localId: string, headers: Record<string, string>) =>
    ada.call('POST', `/v3/sessions/${session}/messages`, { body: { messages: [{ localId, content: 'x' }] }, headers })

  await post('a', {})
  await post('b', { 'x-connection-id': one.id ?? '' })
  await post('c', { 'x-connection-id': 'nobody' })
  await post('d', { 'x-connection-id': 'x'.repeat(1000) })
  const localIds = (heard: typeof first) => heard.bodies('new-message').map(({ message }) => message.localId)
  await first.settled()
  await second.settled()
  t.same(localIds(first), ['a', 'c', 'd'])
  t.same(localIds(second), ['a', 'b', 'c', 'd'])
})

t.test('a message without a localId is stored each time; one with a known localId is dropped', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect()
  const heard = listen(await ada.connect())
  for (const localId of [undefined, null, 'a', undefined, 'a', 'b']) socket.emit('message', { sid: session, message: 'x', localId })
  await socket.emitWithAck('ping')
  await heard.settled()
  t.same(
    heard.bodies('new-message').map(({ message }) => [message.seq, message.localId]),
    [
      [1, null],
      [2, null],
      [3, 'a'],
      [4, null],
      [5, 'b']
    ]
  )
})

t.test('messages of one socket keep their order, and a ping is answered after all of them', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  for (let number = 0; number < 300; number += 1) socket.emit('message', { sid: session, message: `${number}`, localId: `${number}` })
  t.same(await socket.emitWithAck('ping'), {})
  const { body } = await ada.call('GET', `/v3/sessions/${session}/messages?limit=500`)
  t.same(
    body.messages.map((message: { content: { c: string } }) => message.content.c),
    Array.from({ length: 300 }, (_, number) => `${number}`)
  )
})

t.test('growing text goes from a session’s own process to the apps, and is not stored', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const scope = { clientType: 'session-scoped', sessionId: session }
  const process = await ada.connect(scope)
  const [app, twin, own] = [listen(await ada.connect()), listen(await ada.connect(scope)), listen(process)]
  process.volatile.emit('partial', { sid: session, partial: 'grow' })
  process.emit('partial', { sid: 'another', partial: 'x' })
  ;(await ada.connect()).emit('partial', { sid: session, partial: 'from an app' })
  await process.emitWithAck('ping')
  for (const heard of [app, twin, own]) await heard.settled()
  t.same(app.ephemerals, [{ type: 'partial', sid: session, partial: 'grow' }])
  t.same([twin.ephemerals, own.ephemerals], [[], []])
  t.same((await ada.call('GET', `/v3/sessions/${session}/messages`)).body.messages, [])
})

t.test('data unknown to existing clients goes only to clients that ask for it, over either transport', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.send(session, { localId: 'a' })
  const process = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const existing = { signals: undefined }
  const own = { ...existing, clientType: 'session-scoped', sessionId: session }
  const silent = []
  for (const transport of ['websocket', 'polling'])
    for (const auth of [existing, own]) silent.push(listen(await ada.connect(auth, server, [transport])))
  const ours = [listen(await ada.connect()), listen(await ada.connect({ ...existing, echo: false }))]

  process.emit('partial', { sid: session, partial: 'grow' })
  await process.emitWithAck('ping')
  await ada.call('POST', `/v1/sessions/${session}/receipts`, { body: { readSeq: 1 } })
  await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { kind: 'error', title: 'It failed', body: 'Look' } })
  await signUp(t, server, ada.secret)
  await ada.send(session, { localId: 'b' })
  for (const heard of [...silent, ...ours]) await heard.settled()
  for (const { updates, ephemerals } of silent) {
    t.same(
      updates.map(({ body }) => body.t),
      ['new-message']
    )
    t.same(
      ephemerals.filter(({ type }) => type !== 'activity'),
      []
    )
  }
  for (const { updates, ephemerals } of ours) {
    t.same(
      updates.map(({ body }) => body.t),
      ['session-receipts', 'new-message']
    )
    t.same(
      ephemerals.map(({ type }) => type).filter(type => type !== 'activity'),
      ['partial', 'session-event', 'notice', 'device-came']
    )
  }
})

t.test('growing text goes to no app that opted out, at connect or later; stored messages do', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const process = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const [sparing, changing] = [await ada.connect({ partials: false }), await ada.connect()]
  const heard = [listen(sparing), listen(changing)]
  const grow = async (partial: string) => {
    process.emit('partial', { sid: session, partial })
    await process.emitWithAck('ping')
    for (const each of heard) await each.settled()
  }
  const grown = () => heard.map(({ ephemerals }) => ephemerals.map(({ partial }) => partial))
  const tell = async (socket: typeof changing, state: object) => {
    socket.emit('app-state', state)
    await socket.emitWithAck('ping')
  }
  await grow('a')
  t.same(grown(), [[], ['a']])
  await tell(changing, { state: 'active', partials: false })
  await tell(sparing, { state: 'background' })
  await grow('b')
  t.same(grown(), [[], ['a']], 'one that does not say so is sent none as before')
  await tell(sparing, { state: 'active', partials: true })
  await grow('c')
  t.same(grown(), [['c'], ['a']])
  process.emit('message', { sid: session, message: 'whole' })
  await process.emitWithAck('ping')
  for (const each of heard) await each.settled()
  t.same(
    heard.map(({ updates }) => updates.length),
    [1, 1]
  )
})

t.test('a message to a missing or foreign session is dropped, and is not a server error [I1]', async t => {
  const server = await startServer(t)
  const [ada, mallory] = [await signUp(t, server), await signUp(t, server)]
  const session = await ada.openSession()
  const socket = await mallory.connect()
  for (const sid of ['unknown', session]) {
    socket.emit('message', { sid, message: 'x', localId: 'a' })
    const refused = { result: 'error', message: 'Session not found', status: 404 }
    t.same(await socket.emitWithAck('message', { sid, message: 'x' }), refused)
  }
  t.same(await socket.emitWithAck('ping'), {})
  t.same((await ada.call('GET', `/v3/sessions/${session}/messages`)).body.messages, [])
})
