import type { Socket } from 'socket.io-client'
import t, { type Test } from 'tap'
import type { Bus } from '../../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../../lib/bus/local.ts'
import type { ServerSetup } from '../../../../lib/index.ts'
import { unusedMs } from '../../../../lib/server/actions/calls/callee-arrivals.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { next, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { passTime } from '../../pass-time.ts'
import { openAccepted } from '../../raw-websocket.ts'

const seconds = 1000
const metricsToken = 'a-token-of-the-monitor'
const notAvailable = { ok: false, error: 'RPC method not available' }

async function startWorld(t: Test, options: ServerSetup = {}) {
  const clock = manualClock()
  const server = await startServer(t, { clock, metricsToken, now: () => 1_700_000_000_000 + clock.now(), ...options })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await ada.connect()
  const open = () => ada.connect({ clientType: 'session-scoped', sessionId: session })
  const method = `${session}:abort`
  return { clock, server, ada, session, app, open, method }
}

/** Registers and answers every call with what `answer` gives; a call without an answer is kept waiting. */
async function answerCalls(socket: Socket, method: string, answer?: (params: string) => unknown): Promise<void> {
  socket.on('rpc-request', (request, reply) => {
    if (request.method === method && answer) reply(answer(request.params))
  })
  const registered = next(socket, 'rpc-registered')
  socket.emit('rpc-register', { method })
  await registered
}

t.test("a call reaches the session's own process with its parameters, and its answer returns", async t => {
  const { app, open, method } = await startWorld(t)
  const process = await open()
  const asked = next(process, 'rpc-request')
  const registered = next(process, 'rpc-registered')
  await answerCalls(process, method, params => `re: ${params}`)
  t.same(await registered, { method })
  t.same(await app.emitWithAck('rpc-call', { method, params: 'c2VhbGVk' }), { ok: true, result: 're: c2VhbGVk' })
  t.match(await asked, { method, params: 'c2VhbGVk', by: /^\w+$/ }, 'and with the device that made it')
})

t.test('a machine answers calls too, also with colons in its id', async t => {
  const { ada, app } = await startWorld(t)
  await ada.call('POST', '/v1/machines', { body: { id: 'lap:top', metadata: 'x' } })
  const daemon = await ada.connect({ clientType: 'machine-scoped', machineId: 'lap:top' })
  const method = `lap:top:spawn-${'ü'.repeat(1000)}`
  await answerCalls(daemon, method, () => 'spawned')
  t.same(await app.emitWithAck('rpc-call', { method, params: '' }), { ok: true, result: 'spawned' })
})

t.test('only the session or machine itself registers its methods [R2]', async t => {
  const { ada, server, app, open, session, method } = await startWorld(t)
  await answerCalls(await open(), method, () => 'mine')
  const refused = { type: 'register', error: 'Only the session or machine itself answers its methods' }
  const strangers = [
    await ada.connect(),
    await ada.connect({ clientType: 'machine-scoped', machineId: 'm' }),
    await ada.connect({ clientType: 'session-scoped', sessionId: 'another' }),
    await ada.connect({ clientType: 'session-scoped', sessionId: session.slice(0, -1) }),
    await ada.connect({ clientType: 'session-scoped', sessionId: `${session}:x` })
  ]
  for (const socket of strangers) {
    const told = next(socket, 'rpc-error')
    socket.emit('rpc-register', { method })
    t.same(await told, refused)
  }
  t.same(await app.emitWithAck('rpc-call', { method, params: 'x' }), { ok: true, result: 'mine' })

  const mallory = await signUp(t, server)
  const evil = await mallory.connect({ clientType: 'session-scoped', sessionId: session })
  await answerCalls(evil, method, () => 'stolen')
  t.same(await app.emitWithAck('rpc-call', { method, params: 'x' }), { ok: true, result: 'mine' }, 'never across accounts [R1]')
})

t.test('an id with the same prefix as another answers none of its calls [R1, R2]', async t => {
  const { ada } = await startWorld(t)
  const [short, long] = ['lap', 'lap:top']
  for (const id of [short, long]) await ada.call('POST', '/v1/machines', { body: { id, metadata: 'x' } })
  const own = await ada.connect({ clientType: 'machine-scoped', machineId: long })
  await answerCalls(own, `${long}:bash`, () => 'own')
  const other = await ada.connect({ clientType: 'machine-scoped', machineId: short })
  const told = next(other, 'rpc-error')
  other.emit('rpc-register', { method: `${long}:bash` })
  t.match(await told, { type: 'register' })
  const app = await ada.connect()
  t.same(await app.emitWithAck('rpc-call', { method: `${long}:bash`, params: '' }), { ok: true, result: 'own' })
})

t.test('a name that is not an id and a method cannot be registered [R2]', async t => {
  const { ada } = await startWorld(t)
  const machine = await ada.connect({ clientType: 'machine-scoped', machineId: 'lap' })
  for (const method of ['lapX', 'lap', 'laps', ':lap', 'X']) {
    const told = new Promise(resolve => {
      machine.once('rpc-error', resolve)
      machine.once('rpc-registered', resolve)
    })
    machine.emit('rpc-register', { method })
    t.match(await told, { type: 'register' }, method)
    machine.removeAllListeners()
  }
})

t.test('a call to a session of another account is like one without a callee [R1, I1]', async t => {
  const { clock, server, open, method } = await startWorld(t)
  let calls = 0
  await answerCalls(await open(), method, () => {
    calls += 1
    return 'done'
  })
  const mallory = await (await signUp(t, server)).connect()
  const [foreign, missing] = [
    mallory.emitWithAck('rpc-call', { method, params: 'x' }),
    mallory.emitWithAck('rpc-call', { method: 'nobody:abort', params: 'x' })
  ]
  await mallory.emitWithAck('ping')
  clock.advance(15 * seconds)
  t.same(await foreign, notAvailable)
  t.same(await missing, notAvailable)
  t.equal(calls, 0)
})

t.test('the newest registration answers, and the previous one is notified [R2]', async t => {
  const { app, open, method } = await startWorld(t)
  const [old, young] = [await open(), await open()]
  await answerCalls(old, method, () => 'old')
  const over = next(old, 'rpc-unregistered')
  await answerCalls(young, method, () => 'young')
  t.same(await over, { method })
  t.same(await app.emitWithAck('rpc-call', { method, params: 'x' }), { ok: true, result: 'young' })

  old.emit('rpc-unregister', { method })
  await next(old, 'rpc-unregistered')
  t.same(await app.emitWithAck('rpc-call', { method, params: 'x' }), { ok: true, result: 'young' }, 'the old one cannot unregister it')
})

t.test('without a handler a call waits 15 s for a reconnect, then fails [R4]', async t => {
  const { clock, app, method } = await startWorld(t)
  let isOver = false
  const answer = app.emitWithAck('rpc-call', { method, params: 'x' }).finally(() => {
    isOver = true
  })
  await app.emitWithAck('ping')
  clock.advance(15 * seconds - 1)
  await app.emitWithAck('ping')
  t.notOk(isOver)
  clock.advance(1)
  t.same(await answer, notAvailable)
})

t.test('a handler that registers within the grace gets the call, once', async t => {
  const { clock, app, open, method } = await startWorld(t)
  const answer = app.emitWithAck('rpc-call', { method, params: 'x' })
  await app.emitWithAck('ping')
  clock.advance(14 * seconds)
  let calls = 0
  const process = await open()
  await answerCalls(process, method, () => {
    calls += 1
    return 'late'
  })
  t.same(await answer, { ok: true, result: 'late' })
  await passTime(clock, 60 * seconds, app, process)
  t.equal(calls, 1, 'executed at most once [R5]')
})

t.test('a handler that does not answer within 30 s is abandoned, and its late answer is dropped [R3, R5]', async t => {
  const { clock, app, open, method } = await startWorld(t)
  const process = await open()
  const asked = Promise.withResolvers<(reply: unknown) => void>()
  process.on('rpc-request', (_, reply) => asked.resolve(reply))
  await answerCalls(process, method)
  let isOver = false
  const answer = app.emitWithAck('rpc-call', { method, params: 'x' }).finally(() => {
    isOver = true
  })
  const reply = await asked.promise
  clock.advance(30 * seconds - 1)
  await app.emitWithAck('ping')
  t.notOk(isOver)
  clock.advance(1)
  t.same(await answer, { ok: false, error: 'operation has timed out' })
  reply('too late')
  await process.emitWithAck('ping')
  t.same(await app.emitWithAck('ping'), {})
})

t.test('a call ends when its handler disconnects [R3]', async t => {
  const { app, open, method } = await startWorld(t)
  const process = await open()
  const asked = next(process, 'rpc-request')
  await answerCalls(process, method)
  const answer = app.emitWithAck('rpc-call', { method, params: 'x' })
  await asked
  process.disconnect()
  t.same(await answer, { ok: false, error: 'RPC target disconnected' })
})

t.test('when the caller disconnects the call ends, and a late answer does no harm [R3]', async t => {
  const { clock, server, app, ada, open, method } = await startWorld(t)
  const process = await open()
  const asked = Promise.withResolvers<(reply: unknown) => void>()
  process.on('rpc-request', (_, reply) => asked.resolve(reply))
  await answerCalls(process, method)
  void app.emitWithAck('rpc-call', { method, params: 'x' }).catch(() => {})
  const reply = await asked.promise
  const timers = clock.pending
  const gone = new Promise(resolve => app.io.engine.once('close', resolve))
  app.disconnect()
  await gone
  await process.emitWithAck('ping')
  t.equal(clock.pending, timers + 1, 'no call has a timer of its own: one is for all subscriptions that no call uses now')
  const ended = 'afield_calls_total{outcome="internal"} 1'
  const measured = async () => (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })).text()
  while (!(await measured()).includes(ended));
  reply('nobody hears it')
  await process.emitWithAck('ping')
  const other = await ada.connect()
  process.removeAllListeners('rpc-request')
  await answerCalls(process, method, () => 'next')
  t.same(await other.emitWithAck('rpc-call', { method, params: 'x' }), { ok: true, result: 'next' })
})

t.test('calls one after another share one subscription, which ends a minute after the last', async t => {
  const bus = openLocalBus({ onError: error => t.error(error) })
  let subscriptions = 0
  const counting: Bus = {
    ...bus,
    async subscribe(topic, listener) {
      subscriptions += 1
      const unsubscribe = await bus.subscribe(topic, listener)
      return () => {
        subscriptions -= 1
        return unsubscribe()
      }
    }
  }
  const { clock, app, open, method } = await startWorld(t, { bus: counting })
  const process = await open()
  await answerCalls(process, method, params => params)
  const before = subscriptions
  for (const params of ['one', 'two', 'three']) {
    t.same(await app.emitWithAck('rpc-call', { method, params }), { ok: true, result: params })
    t.equal(subscriptions, before + 1, params)
  }
  await passTime(clock, unusedMs - 1, app, process)
  t.equal(subscriptions, before + 1, 'it is still open')
  await passTime(clock, 1, app, process)
  t.equal(subscriptions, before, 'and closed')
})

t.test('a connection cannot call itself', async t => {
  const { open, method } = await startWorld(t)
  const process = await open()
  await answerCalls(process, method, () => 'me')
  t.same(await process.emitWithAck('rpc-call', { method, params: 'x' }), { ok: false, error: 'Cannot call RPC on the same socket' })
})

t.test('a call without a method, or with bytes in its parameters, is rejected at once', async t => {
  const { app } = await startWorld(t)
  const refused = { ok: false, error: 'Invalid parameters: method is required' }
  for (const payload of [
    undefined,
    null,
    {},
    { method: {} },
    { method: '', params: 'x' },
    { params: 'x' },
    'text',
    [],
    { method: 'm:x', params: Buffer.from('x') },
    { method: 'm:x', params: { a: [Buffer.from('x')] } }
  ]) {
    t.same(await app.emitWithAck('rpc-call', payload), refused)
  }
})

t.test('any JSON parameters reach the callee unchanged, including none', async t => {
  const { app, open, method } = await startWorld(t)
  const heard: unknown[] = []
  const process = await open()
  process.on('rpc-request', ({ params }) => heard.push(params))
  await answerCalls(process, method, () => 'done')
  const all = [undefined, null, '', 7, -0.5, true, { a: { b: [1, 'x', null] } }, [], ['x', {}], '\ud800', { 'ü\u0000': '🔐' }]
  for (const params of all) t.same(await app.emitWithAck('rpc-call', { method, params }), { ok: true, result: 'done' })
  t.strictSame(heard, all)
})

t.test('an answer that is not text is an error', async t => {
  const { app, open, method } = await startWorld(t)
  const answers: unknown[] = [undefined, null, 7, {}, ['x'], '\ud800']
  let count = 0
  await answerCalls(await open(), method, () => answers[count++])
  for (const _ of answers) t.same(await app.emitWithAck('rpc-call', { method, params: 'x' }), { ok: false, error: 'Internal error' })
})

t.test('a connection has 32 calls in progress, 256 more wait in order, and further ones are rejected [B5]', async t => {
  const { clock, app, open, method } = await startWorld(t)
  const process = await open()
  const asked: { params: string; reply: (answer: string) => void }[] = []
  process.on('rpc-request', ({ params }, reply) => asked.push({ params, reply }))
  await answerCalls(process, method)
  const call = (params: string) => app.emitWithAck('rpc-call', { method, params })
  const burst = Array.from({ length: 32 + 256 }, (_, at) => call(`${at}`))
  t.same(await call('one too many'), { ok: false, error: 'Too many calls at once' })
  await process.emitWithAck('ping')
  t.same(asked.length, 32)

  // Each that is answered makes room for the next.
  for (let at = 0; at < burst.length; at += 1) {
    while (asked.length <= at) await process.emitWithAck('ping')
    t.equal(asked[at]?.params, `${at}`)
    asked[at]?.reply(`re: ${at}`)
  }
  t.same(
    await Promise.all(burst),
    burst.map((_, at) => ({ ok: true, result: `re: ${at}` }))
  )
  t.equal(clock.now(), 0, 'nobody waited for a limit')
})

t.test('a call queued behind unanswered ones ends at its own deadline [B5, R3]', async t => {
  const { clock, app, open, method } = await startWorld(t)
  await answerCalls(await open(), method)
  const answers = Array.from({ length: 33 }, () => app.emitWithAck('rpc-call', { method, params: 'x' }))
  await app.emitWithAck('ping')
  clock.advance(30 * seconds)
  for (const answer of await Promise.all(answers)) t.same(answer, { ok: false, error: 'operation has timed out' })
})

t.test('a connection that keeps calling with a full queue is closed [B5]', async t => {
  const { app, open, method } = await startWorld(t, { limits: 'default' })
  await answerCalls(await open(), method)
  const left = next(app, 'disconnect')
  for (let at = 0; at < 32 + 256 + 101; at += 1) app.emit('rpc-call', { method, params: 'x' }, () => {})
  t.equal(await left, 'transport close')
})

t.test('queued calls end with their connection, and affect nothing else [R3]', async t => {
  const { ada, app, open, method } = await startWorld(t)
  const process = await open()
  let asked = 0
  process.on('rpc-request', () => {
    asked += 1
  })
  await answerCalls(process, method)
  for (let at = 0; at < 64; at += 1) app.emit('rpc-call', { method, params: 'x' }, () => {})
  while (asked < 32) await process.emitWithAck('ping')
  app.disconnect()
  const other = await ada.connect()
  const answer = other.emitWithAck('rpc-call', { method, params: 'mine' })
  while (asked < 33) await process.emitWithAck('ping')
  await process.emitWithAck('ping')
  t.equal(asked, 33, 'what waited was never asked')
  process.disconnect()
  t.same(await answer, { ok: false, error: 'RPC target disconnected' })
})

t.test('of many simultaneous calls, each gets its own answer', async t => {
  const { app, ada, open, method } = await startWorld(t)
  await answerCalls(await open(), method, params => `re: ${params}`)
  const callers = [app, await ada.connect(), await ada.connect({ clientType: 'machine-scoped', machineId: 'm' })]
  const asked = callers.flatMap((socket, caller) => Array.from({ length: 30 }, (_, call) => ({ socket, params: `${caller}.${call}` })))
  const answers = await Promise.all(asked.map(({ socket, params }) => socket.emitWithAck('rpc-call', { method, params })))
  t.same(
    answers,
    asked.map(({ params }) => ({ ok: true, result: `re: ${params}` }))
  )
})

t.test('an answer to a call of the previous connection does not answer a current one [R5]', async t => {
  const { ada, server, app, session, method } = await startWorld(t)
  const scope = { token: ada.token, clientType: 'session-scoped', sessionId: session }
  const asked = async (params: string) => {
    const web = await openAccepted(t, server, scope)
    web.send(`42["rpc-register",{"method":"${method}"}]`)
    await web.next()
    const answer = app.emitWithAck('rpc-call', { method, params })
    const [, id] = /^42(\d+)\["rpc-request"/.exec((await web.next()) ?? '') ?? []
    return { web, answer, id }
  }
  const before = await asked('before')
  before.web.send('1')
  t.same(await before.answer, { ok: false, error: 'RPC target disconnected' })
  const now = await asked('now')
  now.web.send(`43${before.id}["late"]`)
  now.web.send(`43${now.id}["in time"]`)
  t.same(await now.answer, { ok: true, result: 'in time' })
})

t.test('a large answer goes through', async t => {
  const { app, open, method } = await startWorld(t)
  const large = 'x'.repeat(20 * 1024 * 1024)
  await answerCalls(await open(), method, () => large)
  const answer = await app.emitWithAck('rpc-call', { method, params: 'x' })
  t.equal(answer.ok, true)
  t.equal(answer.result.length, large.length)
})

t.test('an unregistered method has no callee', async t => {
  const { clock, app, open, method } = await startWorld(t)
  const process = await open()
  await answerCalls(process, method, () => 'done')
  const told = next(process, 'rpc-unregistered')
  process.emit('rpc-unregister', { method })
  t.same(await told, { method })
  const answer = app.emitWithAck('rpc-call', { method, params: 'x' })
  await app.emitWithAck('ping')
  clock.advance(15 * seconds)
  t.same(await answer, notAvailable)
})

const large = 'a'.repeat(4 * 1024 * 1024)
const tooMany = { ok: false, error: 'Too many calls at once' }

t.test('parameters of unaccepted calls are limited per account; others can keep calling [B5, N2]', async t => {
  const { clock, server, app, ada, method } = await startWorld(t)
  const waiting = Array.from({ length: 8 }, () => app.emitWithAck('rpc-call', { method, params: large }))
  t.same(await app.emitWithAck('rpc-call', { method, params: large }), tooMany)
  t.match(await ada.call('POST', '/v1/calls', { body: { method, params: large } }), { status: 429 }, 'nor over HTTP')
  t.same(await app.emitWithAck('rpc-call', { method, params: { nested: [large] } }), tooMany, 'however they are wrapped')

  const bob = await signUp(t, server)
  const session = await bob.openSession()
  const callee = await bob.connect({ clientType: 'session-scoped', sessionId: session })
  await answerCalls(callee, `${session}:abort`, params => String(params.length))
  const asked = { method: `${session}:abort`, params: large }
  t.same(await (await bob.connect()).emitWithAck('rpc-call', asked), { ok: true, result: String(large.length) })

  passTime(clock, 15 * seconds)
  t.same(await Promise.all(waiting), Array(8).fill(notAvailable))
  const again = app.emitWithAck('rpc-call', { method, params: large })
  await app.emitWithAck('ping')
  passTime(clock, 15 * seconds)
  t.same(await again, notAvailable, 'and then there is room again')
})

t.test('parameters count by their size in memory, not as text [B5]', async t => {
  const { app, method } = await startWorld(t)
  const params = Array(4_990).fill({})
  const answers: unknown[] = []
  for (let call = 0; call < 80; call += 1) app.emit('rpc-call', { method, params }, (answer: unknown) => answers.push(answer))
  await app.emitWithAck('ping')
  t.ok(answers.length > 0, 'the last of these 1.2 MB of text are refused')
  t.same(answers, Array(answers.length).fill(tooMany))
  t.ok(answers.length < 40, 'and the first wait for somebody to take them')
})

t.test('parameters of accepted calls no longer count, answered or not [B5]', async t => {
  const { app, open, method } = await startWorld(t)
  const process = await open()
  await answerCalls(process, method)
  for (let call = 0; call < 10; call += 1) {
    const heard = next(process, 'rpc-request')
    app.emit('rpc-call', { method, params: large }, () => {})
    await heard
  }
  await answerCalls(process, `${method}s`, params => String(params.length))
  t.same(await app.emitWithAck('rpc-call', { method: `${method}s`, params: large }), { ok: true, result: String(large.length) })
})
