import { join } from 'node:path'
import t from 'tap'
import { limitsTopic } from '../../lib/bus/bus.ts'
import { openBus } from '../../lib/bus/open.ts'
import { mostSockets } from '../../lib/server/limits.ts'
import { lacks } from '../kit/needs.ts'
import { next, Person, signUp } from '../kit/person.ts'
import { lacksPostgres, startPostgres } from '../kit/postgres.ts'
import { startRedis } from '../kit/redis.ts'
import { startServerProcess } from '../kit/server.ts'
import { openAccepted, openWebSocket } from '../server/raw-websocket.ts'

const skip = lacks('redis') || lacksPostgres

t.test('two programs on PostgreSQL and Redis are one server, and one that is killed takes nothing with it [M1] [R3]', { skip }, async t => {
  const [redis, postgres] = await Promise.all([startRedis(t), startPostgres(t)])
  const env = { AFIELD_STORE: await postgres.makeDatabase(), AFIELD_BUS: redis.url() }
  const data = t.testdir({ one: {}, two: {} })
  const one = await startServerProcess(t, { data: join(data, 'one'), env })
  const two = await startServerProcess(t, { data: join(data, 'two'), env })
  const here = await signUp(t, one)
  const there = new Person(t, two, here.secret, here.token)
  const session = await here.openSession()
  const app = await here.connect()
  const wrapper = await there.connect({ clientType: 'session-scoped', sessionId: session })

  const told = next(app, 'update', ({ body }) => body.t === 'new-message')
  wrapper.emit('message', { sid: session, message: 'x', localId: 'a' })
  t.match(await told, { body: { message: { seq: 1 } } })

  const method = `${session}:work`
  const registered = next(wrapper, 'rpc-registered')
  wrapper.emit('rpc-register', { method })
  await registered
  wrapper.on('rpc-request', ({ params }, answer) => params === 'quick' && answer('done'))
  t.same(await app.emitWithAck('rpc-call', { method, params: 'quick' }), { ok: true, result: 'done' })

  const asked = next(wrapper, 'rpc-request')
  const answer = app.emitWithAck('rpc-call', { method, params: 'slow' })
  await asked
  // What says that the first is taken came before the answer to this one.
  await app.emitWithAck('rpc-call', { method, params: 'quick' })
  await two.kill()
  const began = performance.now()
  t.same(await answer, { ok: false, error: 'RPC target disconnected' })
  t.ok(performance.now() - began < 5_000, 'its lease ends within five seconds')

  const back = await here.connect({ clientType: 'session-scoped', sessionId: session })
  const toldAgain = next(app, 'update', ({ body }) => body.t === 'new-message')
  back.emit('message', { sid: session, message: 'y', localId: 'b' })
  t.match(await toldAgain, { body: { message: { seq: 2 } } })
  const { body } = await here.call('GET', `/v3/sessions/${session}/messages`)
  t.same(
    body.messages.map(({ localId }: { localId: string }) => localId),
    ['a', 'b']
  )
})

t.test('the sockets of a program that is killed leave their seats to others within five seconds [Q2] [M8]', { skip }, async t => {
  const [redis, postgres] = await Promise.all([startRedis(t), startPostgres(t)])
  const env = { AFIELD_STORE: await postgres.makeDatabase(), AFIELD_BUS: redis.url() }
  const data = t.testdir({ one: {}, two: {} })
  const one = await startServerProcess(t, { data: join(data, 'one'), env, limits: 'default' })
  const two = await startServerProcess(t, { data: join(data, 'two'), env, limits: 'default' })
  const { token } = await signUp(t, one)
  const bus = await openBus(env.AFIELD_BUS, { onError() {} })
  t.teardown(() => bus.close())
  const held = Promise.withResolvers<void>()
  await bus.subscribe(limitsTopic, event => {
    if (event.type === 'seats-held' && event.seats.some(({ sockets }) => sockets === mostSockets - 1)) held.resolve()
  })
  const portOf = ({ url }: { url: string }) => ({ port: Number(new URL(url).port) })
  await openAccepted(t, portOf(one), { token })
  await Promise.all(Array.from({ length: mostSockets - 1 }, () => openAccepted(t, portOf(two), { token })))
  await held.promise
  const connect = async () => {
    const web = await openWebSocket(t, portOf(one))
    await web.next()
    web.send(`40${JSON.stringify({ token })}`)
    return (await web.next()) ?? 'no seat'
  }
  t.equal(await connect(), 'no seat')
  await two.kill()
  const began = performance.now()
  while ((await connect()) === 'no seat') t.ok(performance.now() - began < 5_000)
  t.ok(performance.now() - began < 5_000, `${performance.now() - began} ms`)
})
