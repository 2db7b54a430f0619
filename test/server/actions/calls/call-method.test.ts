import type { Socket } from 'socket.io-client'
import t, { type Test } from 'tap'
import { manualClock } from '../../../kit/manual-clock.ts'
import { next, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { passTime } from '../../pass-time.ts'

const seconds = 1000

async function startWorld(t: Test) {
  const clock = manualClock()
  const server = await startServer(t, { clock, now: () => 1_700_000_000_000 + clock.now() })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const own = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const method = `${session}:abort`
  const call = (params = 'c2VhbGVk', as = ada) => as.call('POST', '/v1/calls', { body: { method, params } })
  return { clock, server, ada, session, own, method, call }
}

async function register(socket: Socket, method: string): Promise<void> {
  const registered = next(socket, 'rpc-registered')
  socket.emit('rpc-register', { method })
  await registered
}

t.test('a call over HTTP is answered by the session’s own process', async t => {
  const { own, method, call } = await startWorld(t)
  own.on('rpc-request', (request, reply) => reply(`re: ${request.params}`))
  await register(own, method)
  t.same(await call('c2VhbGVk'), { status: 200, body: { result: 're: c2VhbGVk' } })
})

t.test('a call without a callee fails after the reconnect grace period [R4]', async t => {
  const { clock, call, own } = await startWorld(t)
  const called = call()
  await own.emitWithAck('ping')
  await passTime(clock, 15 * seconds, own)
  t.same(await called, { status: 503, body: { error: 'RPC method not available' } })
})

t.test('a call waits for a process that is reconnecting', async t => {
  const { own, method, call } = await startWorld(t)
  const called = call()
  own.on('rpc-request', (_, reply) => reply('back'))
  await register(own, method)
  t.same(await called, { status: 200, body: { result: 'back' } })
})

t.test('a call ends on a timeout, and when its target disconnects [R3]', async t => {
  const { clock, own, method, call } = await startWorld(t)
  await register(own, method)
  const late = [next(own, 'rpc-request'), call()]
  await late[0]
  await passTime(clock, 30 * seconds, own)
  t.same(await late[1], { status: 504, body: { error: 'operation has timed out' } })
  const cut = [next(own, 'rpc-request'), call()]
  await cut[0]
  own.disconnect()
  t.same(await cut[1], { status: 502, body: { error: 'RPC target disconnected' } })
})

t.test('a caller that disconnects leaves no call behind [R3]', async t => {
  const { server, ada, own, method } = await startWorld(t)
  await register(own, method)
  const controllers = Array.from({ length: 33 }, () => new AbortController())
  const asked = (signal: AbortSignal) =>
    fetch(`${server.url}/v1/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ method, params: 'x' }),
      signal
    }).then(
      response => response.status,
      () => 'gone'
    )
  const requests = new Promise<void>(resolve => {
    let count = 0
    own.on('rpc-request', () => ++count === 32 && resolve())
  })
  const statuses = controllers.map(({ signal }) => asked(signal))
  await requests
  t.equal(await Promise.race(statuses), 429, 'more than 32 at once are refused')
  for (const controller of controllers) controller.abort()
  t.same(new Set(await Promise.all(statuses)), new Set(['gone', 429]))

  // The seats are free again as soon as the server has seen them go.
  own.removeAllListeners('rpc-request')
  own.on('rpc-request', (_, reply) => reply('free'))
  let status: unknown = 429
  while (status === 429) status = await asked(new AbortController().signal)
  t.equal(status, 200)
})

t.test('a call never reaches another account, and needs a method and a token that may call [R1]', async t => {
  const { server, clock, ada, own, method, call } = await startWorld(t)
  const mallory = await signUp(t, server)
  let reached = 0
  own.on('rpc-request', (_, reply) => reply(`reached ${++reached}`))
  await register(own, method)
  const foreign = call('x', mallory)
  await own.emitWithAck('ping')
  await passTime(clock, 15 * seconds, own)
  t.same(await foreign, { status: 503, body: { error: 'RPC method not available' } })
  t.equal(reached, 0)
  for (const body of [{}, { method: '', params: 'x' }, { method: {}, params: 'x' }, { method, params: 7 }]) {
    t.equal((await ada.call('POST', '/v1/calls', { body })).status, 400, JSON.stringify(body))
  }
  t.equal((await ada.call('POST', '/v1/calls', { body: { method, params: 'x' }, token: 'none' })).status, 401)
})
