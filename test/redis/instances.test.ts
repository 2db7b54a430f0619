import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../lib/async/clock.ts'
import { pause } from '../../lib/async/pause.ts'
import { limitsTopic } from '../../lib/bus/bus.ts'
import { openBus } from '../../lib/bus/open.ts'
import type { ServerSetup } from '../../lib/server/create.ts'
import { limits, mostSockets } from '../../lib/server/limits.ts'
import { openStore } from '../../lib/store/open.ts'
import { lacks } from '../kit/needs.ts'
import { call, next, Person, signInBody, signUp, type Untyped } from '../kit/person.ts'
import { type Redis, startRedis } from '../kit/redis.ts'
import { startServer } from '../kit/server.ts'
import { openAccepted, openWebSocket } from '../server/raw-websocket.ts'
import { isSoSoon, listenToLimit } from '../server/told-limits.ts'

/** Two instances of one server: one store, one Redis. */
async function startInstances(t: Test, redis: Redis, options: ServerSetup = {}) {
  const data = t.testdir({ store: {}, one: {}, two: {} })
  const store = await openStore('sqlite:shared.db', { dataDirectory: join(data, 'store'), onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  const bus = redis.url()
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const start = async (name: string) => startServer(t, { store, bus, data: join(data, name), onError, ...options })
  const [one, two] = [await start('one'), await start('two')]
  const ada = await signUp(t, one)
  return { servers: [one, two] as const, bus, errors, here: ada, there: new Person(t, two, ada.secret, ada.token) }
}

t.test('two instances over Redis', { skip: lacks('redis') }, async t => {
  const redis = await startRedis(t)

  t.test('what is stored at one instance is told at the other, in order and once, and not to its sender [M1] [S3]', async t => {
    const { here, there } = await startInstances(t, redis)
    const session = await here.openSession()
    const [near, far, sender] = [await here.connect(), await there.connect(), await there.connect()]
    const seqs = new Map([near, far, sender].map(socket => [socket, [] as number[]]))
    for (const [socket, heard] of seqs) {
      socket.on('update', ({ body }) => {
        if (body.t === 'new-message') heard.push(body.message.seq)
      })
    }
    const texts = ['a', 'b', 'x'.repeat(300_000), 'c']
    for (const text of texts) sender.emit('message', { sid: session, message: text, localId: text.slice(0, 9) })
    while ([near, far].some(socket => (seqs.get(socket)?.length ?? 0) < 4)) await Promise.race([next(near, 'update'), next(far, 'update')])
    const last = [near, far, sender].map(socket => next(socket, 'update', ({ body }) => body.message?.seq === 5))
    await here.send(session, { localId: 'last' })
    await Promise.all(last)
    t.same(seqs.get(near), [1, 2, 3, 4, 5])
    t.same(seqs.get(far), [1, 2, 3, 4, 5])
    t.same(seqs.get(sender), [5])
  })

  t.test('a call reaches a callee at the other instance, at any size, and ends at once when its socket closes [R3] [M1]', async t => {
    const { here, there } = await startInstances(t, redis)
    const session = await here.openSession()
    const callee = await there.connect({ clientType: 'session-scoped', sessionId: session })
    const method = `${session}:echo`
    const registered = next(callee, 'rpc-registered')
    callee.emit('rpc-register', { method })
    await registered
    callee.on('rpc-request', ({ params }, answer) => params !== 'wait' && answer(params))
    const app = await here.connect()
    for (const params of ['short', 'x'.repeat(1_000_000)])
      t.same(await app.emitWithAck('rpc-call', { method, params }), { ok: true, result: params })
    const asked = next(callee, 'rpc-request')
    const answer = app.emitWithAck('rpc-call', { method, params: 'wait' })
    await asked
    callee.disconnect()
    t.same(await answer, { ok: false, error: 'RPC target disconnected' })
  })

  t.test('a callee that moves to another instance is found there, and its old registration is over [R2] [M1]', async t => {
    const { here, there } = await startInstances(t, redis)
    const session = await here.openSession()
    const method = `${session}:where`
    const register = async (person: Person, name: string) => {
      const socket = await person.connect({ clientType: 'session-scoped', sessionId: session })
      socket.on('rpc-request', (_, answer) => answer(name))
      const registered = next(socket, 'rpc-registered')
      socket.emit('rpc-register', { method })
      await registered
      return socket
    }
    const old = await register(here, 'here')
    const released = next(old, 'rpc-unregistered')
    await register(there, 'there')
    await released
    const app = await here.connect()
    t.same(await app.emitWithAck('rpc-call', { method, params: 'x' }), { ok: true, result: 'there' })
  })

  t.test('of two registrations at the same moment at two instances exactly one answers, wherever it is called [R2] [M1]', async t => {
    const { here, there } = await startInstances(t, redis)
    const session = await here.openSession()
    const apps = [await here.connect(), await there.connect()]
    for (let round = 0; round < 5; round += 1) {
      const method = `${session}:round${round}`
      const sockets = await Promise.all([here, there].map(person => person.connect({ clientType: 'session-scoped', sessionId: session })))
      for (const [at, socket] of sockets.entries()) socket.on('rpc-request', (_, answer) => answer(`${at}`))
      const released = Promise.race(sockets.map(async (socket, at) => next(socket, 'rpc-unregistered').then(() => at)))
      for (const socket of sockets) socket.emit('rpc-register', { method })
      const stays = 1 - (await released)
      for (const app of apps)
        t.same(await app.emitWithAck('rpc-call', { method, params: 'x' }), { ok: true, result: `${stays}` }, `round ${round}`)
      for (const socket of sockets) socket.disconnect()
    }
  })

  t.test('an emptied Redis loses no message, no token and no used challenge [M3]', async t => {
    const { servers, here, there } = await startInstances(t, redis)
    const session = await here.openSession()
    const socket = await there.connect()
    const challenge = await signInBody(here.secret)
    const [one, two] = servers
    t.equal((await call(one, 'POST', '/v1/auth', { body: challenge })).status, 200)
    const told = next(socket, 'update')
    await redis.ask('FLUSHALL')
    await here.send(session, { localId: 'a' })
    t.match(await told, { body: { t: 'new-message', message: { seq: 1 } } })
    t.equal((await there.call('GET', `/v3/sessions/${session}/messages`)).body.messages.length, 1)
    t.equal((await call(two, 'POST', '/v1/auth', { body: challenge })).status, 401)
  })

  t.test('a revoked token is rejected and its sockets are closed at the other instance [A4] [M1]', async t => {
    const { here, there } = await startInstances(t, redis)
    const socket = await there.connect()
    const closed = next(socket, 'disconnect')
    t.equal((await here.call('DELETE', '/v1/devices/current')).status, 200)
    await closed
    t.equal((await there.call('GET', '/v1/sessions')).status, 401)
  })

  t.test('an app in use at the other instance suppresses notifications, and a machine connected there stays online [M1]', async t => {
    const { here, there } = await startInstances(t, redis)
    const session = await here.openSession()
    const app = await there.connect({ clientType: 'user-scoped', appState: 'active' })
    const event = { kind: 'done', title: 'x', body: 'x' }
    const notify = async () => (await here.call('POST', `/v1/sessions/${session}/push-event`, { body: event })).body.result
    t.equal(await notify(), 'suppressed')
    app.disconnect()
    while ((await notify()) === 'suppressed');
    t.equal(await notify(), 'no_tokens')

    for (const id of ['laptop', 'tower']) await here.call('POST', '/v1/machines', { body: { id, metadata: 'x' } })
    const watching = await there.connect()
    const goesOffline = (id: string) => next(watching, 'ephemeral', body => body.id === id && !body.active)
    let isOffline = false
    const offline = goesOffline('laptop').then(() => {
      isOffline = true
    })
    const connect = (person: Person, machineId: string) => person.connect({ clientType: 'machine-scoped', machineId })
    const [first, second, tower] = [await connect(here, 'laptop'), await connect(there, 'laptop'), await connect(here, 'tower')]
    const towerOffline = goesOffline('tower')
    first.disconnect()
    tower.disconnect()
    // Nobody answers for this one, which takes longer than the answer for the other.
    await towerOffline
    t.notOk(isOffline)
    second.disconnect()
    await offline
  })

  t.test('what is used of limits counts at the other instance, but not while Redis is away [Q1] [Q2] [M8]', async t => {
    const { servers, bus: url, here, there } = await startInstances(t, redis, { limits: 'default', trustProxy: 'loopback' })
    const bus = await openBus(url, { onError() {} })
    t.teardown(() => bus.close())
    const ask = async (server: { url: string }, address: string) =>
      (await call(server, 'GET', '/v2/auth/nonce', { headers: { 'x-forwarded-for': address } })).status
    /** How often an address may ask until it is told to wait. */
    const exhaust = async (server: { url: string }, address: string) => {
      let times = 0
      while ((await ask(server, address)) === 200) times += 1
      return times
    }
    const told = await listenToLimit(bus, 'nonce')
    t.ok((await exhaust(servers[0], '192.0.2.1')) >= limits.nonce.burst)
    await told.used
    t.ok(await isSoSoon(async () => (await ask(servers[1], '192.0.2.1')) === 429))
    t.equal(await ask(servers[1], '192.0.2.2'), 200)

    const held = Promise.withResolvers<void>()
    await bus.subscribe(limitsTopic, event => {
      if (event.type === 'seats-held' && event.seats.some(({ sockets }) => sockets === 40)) held.resolve()
    })
    await openAccepted(t, { port: servers[1].port }, { token: there.token })
    await Promise.all(Array.from({ length: 40 }, () => openAccepted(t, { port: servers[0].port }, { token: here.token })))
    await held.promise
    const more = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const web = await openWebSocket(t, { port: servers[1].port })
        await web.next()
        web.send(`40${JSON.stringify({ token: there.token })}`)
        return (await web.next()) ?? 'no seat'
      })
    )
    t.equal(more.filter(answer => answer === 'no seat').length, 41 + 40 - mostSockets)

    await redis.kill()
    for (const server of servers) t.ok((await exhaust(server, '192.0.2.3')) >= limits.nonce.burst, 'each by itself')
    await redis.start()
    // Each of their connections to Redis is back at a time of its own.
    for (let number = 1, isTogether = false; !isTogether; number += 1) {
      const toldAgain = await listenToLimit(bus, 'nonce')
      const address = `198.51.100.${number}`
      await exhaust(servers[0], address)
      await Promise.race([toldAgain.used, pause(1_000, { clock: systemClock })])
      isTogether = await isSoSoon(async () => (await ask(servers[1], address)) === 429)
    }
  })

  t.test('while Redis is away all else goes on, and when it is back clients are told to catch up [M2] [M3] [A4]', async t => {
    const { errors, here, there } = await startInstances(t, redis)
    const session = await here.openSession()
    const [near, sender, far] = [await here.connect(), await here.connect(), await there.connect()]
    const closed = [near, sender, far].map(socket => next(socket, 'disconnect'))
    const method = `${session}:wait`
    const callee = await there.connect({ clientType: 'session-scoped', sessionId: session })
    const registered = next(callee, 'rpc-registered')
    callee.emit('rpc-register', { method })
    await registered
    callee.on('rpc-request', ({ params }, reply) => params === 'quick' && reply('done'))
    const asked = next(callee, 'rpc-request')
    const answer = near.emitWithAck('rpc-call', { method, params: 'slow' })
    await asked
    // What says that the first is taken came before the answer to this one.
    await near.emitWithAck('rpc-call', { method, params: 'quick' })
    await redis.kill()
    const began = performance.now()
    t.same(await answer, { ok: false, error: 'RPC target disconnected' }, 'its callee cannot be asked any more')
    t.ok(performance.now() - began < 6_000)

    const told = next(near, 'update')
    sender.emit('message', { sid: session, message: 'x', localId: 'a' })
    t.match(await told, { body: { t: 'new-message' } })
    const late = await there.connect()
    const { body } = await there.call('GET', `/v3/sessions/${session}/messages`)
    t.equal(body.messages.length, 1)

    closed.push(next(late, 'disconnect'))
    await redis.start()
    await Promise.all(closed)
    // The other instance may be back later, and say then what it could not publish: that closes this connection too.
    for (let heard: Untyped; typeof heard !== 'object'; ) {
      const again = await there.connect()
      const first = Promise.race([next(again, 'update'), next(again, 'disconnect')])
      await here.send(session, { localId: crypto.randomUUID() })
      heard = await first
    }
    t.ok(errors.every(error => /^The bus at \S+ does not work/.test(error instanceof Error ? error.message : '')))

    await redis.kill()
    const removed = next(await there.connect(), 'disconnect')
    t.equal((await here.call('DELETE', '/v1/devices/current')).status, 200)
    await removed
    t.equal((await there.call('GET', '/v1/sessions')).status, 401)
  })
})
