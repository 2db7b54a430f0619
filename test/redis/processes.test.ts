import { join } from 'node:path'
import t from 'tap'
import { lacks } from '../kit/needs.ts'
import { next, Person, signUp } from '../kit/person.ts'
import { lacksPostgres, startPostgres } from '../kit/postgres.ts'
import { startRedis } from '../kit/redis.ts'
import { startServerProcess } from '../kit/server.ts'

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
