import t, { type Test } from 'tap'
import {
  CallFailed,
  callMethod,
  callSession,
  createRest,
  cryptoReady,
  type Forgery,
  postCall,
  type SessionHandlers,
  serveCalls,
  serveSession
} from '../../../lib/client/index.ts'
import { openCallAnswer, type Pin, sealAnswer, sealCall } from '../../../lib/client/sealed/call-seals.ts'
import { dataKeyCipher, engine } from '../../../lib/crypto/index.ts'
import { socketState, startWorld } from '../world.ts'

t.before(() => cryptoReady())

async function serve(t: Test, handlers: SessionHandlers) {
  const world = await startWorld(t)
  const { session, key } = await world.openSession()
  const wrapper = await world.client({ as: 'session', id: session.id })
  const app = await world.client()
  const serving = serveSession({ socket: wrapper.socket, cipher: key.cipher, session: session.id, handlers })
  await serving.registered
  return { world, session, cipher: key.cipher, wrapper, app, serving }
}

t.test('a call reaches the wrapper with its parameters and returns its result, encrypted both ways', async t => {
  const asked: unknown[] = []
  const { app, cipher, session } = await serve(t, {
    permission: params => void asked.push(params),
    setMode: ({ mode }) => ({ mode }),
    killSession: async () => ({ success: true, message: 'bye' })
  })
  t.equal(await callSession(app.socket, cipher, session.id, 'permission', { id: 'p1', approved: true, choice: 'once' }), null)
  t.strictSame(asked, [{ id: 'p1', approved: true, choice: 'once' }])
  t.strictSame(await callSession(app.socket, cipher, session.id, 'setMode', { mode: 'plan' }), { mode: 'plan' })
  t.strictSame(await callSession(app.socket, cipher, session.id, 'killSession', {}), { success: true, message: 'bye' })

  const raw = await app.socket.request('rpc-call', { method: `${session.id}:setMode`, params: cipher.seal({ mode: 'x' }) })
  t.ok(raw.ok && !raw.result.includes('mode'))
})

t.test('a call names its device as the server identifies it, over a socket or HTTP', async t => {
  const asked: unknown[] = []
  const { world, cipher, session, app } = await serve(t, {
    setMode({ mode }, by) {
      asked.push(by)
      return { mode }
    }
  })
  const { devices } = await world.rest.call('listDevices', {})
  const own = devices.find(({ current }) => current)?.id
  t.match(own, /./)
  await callSession(app.socket, cipher, session.id, 'setMode', { mode: 'plan', by: 'another' })
  await postCall(world.rest, cipher, session.id, 'setMode', { mode: 'plan', by: 'another' })
  t.strictSame(asked, [own, own])
})

t.test('closing the connection after an answer waits until the answer is sent', async t => {
  const work = Promise.withResolvers<void>()
  let isOver = false
  const { app, cipher, session, wrapper } = await serve(t, {
    async killSession(_, _by, answered) {
      void answered?.then(() => {
        isOver = true
        wrapper.socket.close()
      })
      setImmediate(work.resolve)
      await work.promise
      t.notOk(isOver, 'not while it works')
      return { success: true, message: 'bye' }
    }
  })
  t.strictSame(await callSession(app.socket, cipher, session.id, 'killSession', {}), { success: true, message: 'bye' })
  t.ok(isOver)
})

t.test('a call works without a socket, and reports as precisely why there is no answer', async t => {
  const { world, cipher, session, serving } = await serve(t, { setMode: ({ mode }) => ({ mode }) })
  t.strictSame(await postCall(world.rest, cipher, session.id, 'setMode', { mode: 'plan' }), { mode: 'plan' })
  await t.rejects(postCall(world.rest, cipher, session.id, 'setMode', { mode: 7 }), { name: 'CallFailed', reason: 'failed' })

  const answer = (status: number, error: string) => async () => ({
    status,
    headers: { get: () => null },
    text: async () => JSON.stringify({ error })
  })
  const reasons = [
    [503, 'RPC method not available', 'away'],
    [503, 'Internal Server Error', 'no-answer'],
    [504, 'operation has timed out', 'no-answer'],
    [502, 'RPC target disconnected', 'no-answer']
  ] as const
  for (const [status, error, reason] of reasons) {
    const rest = createRest({ server: 'http://localhost', fetch: answer(status, error) })
    await t.rejects(postCall(rest, cipher, session.id, 'setMode', {}), { name: 'CallFailed', reason, message: error })
  }
  const rest = createRest({ server: 'http://localhost', fetch: answer(429, 'Too many calls at once') })
  await t.rejects(postCall(rest, cipher, session.id, 'setMode', {}), { name: 'Refused', status: 429 })
  serving.stop()
})

t.test('the caller gets the message of an error thrown by a handler', async t => {
  const { app, cipher, session } = await serve(t, {
    abort: () => {
      throw new Error('nothing runs')
    }
  })
  await t.rejects(callSession(app.socket, cipher, session.id, 'abort', {}), {
    name: 'CallFailed',
    reason: 'failed',
    message: 'nothing runs'
  })
})

t.test('parameters of the wrong shape, or encrypted with another key, never reach the handler', async t => {
  const asked: unknown[] = []
  const { app, cipher, session } = await serve(t, {
    setMode: params => {
      asked.push(params)
      return params
    }
  })
  const call = (sealing: typeof cipher, params: Record<string, unknown>) => callMethod(app.socket, sealing, session.id, 'setMode', params)
  await t.rejects(call(cipher, { mode: 7 }), { reason: 'failed', message: 'The parameters have an unknown shape' })
  await t.rejects(call(dataKeyCipher(engine.randomBytes(32)), { mode: 'x' }), { name: 'CallFailed', reason: 'unreadable' })
  t.strictSame(asked, [])
})

t.test('a failed call gives its reason in both forms that existing apps read', async t => {
  const abort = () => {
    throw new Error('There is no room.')
  }
  const { app, cipher, session } = await serve(t, { abort })
  const reply = await app.socket.request('rpc-call', { method: `${session.id}:abort`, params: cipher.seal({}) })
  t.strictSame(reply.ok && cipher.open(reply.result), {
    ok: true,
    value: { error: 'There is no room.', type: 'error', errorMessage: 'There is no room.' }
  })
})

t.test('a replayed call is rejected in any base64 encoding [R7]', async t => {
  let aborted = 0
  const { app, cipher, session } = await serve(t, { abort: () => void aborted++ })
  const method = `${session.id}:abort`
  // A text that has letters of both alphabets, so that the second form differs.
  let params = cipher.seal({})
  while (!/[+/]/.test(params)) params = cipher.seal({})
  const forms = [params, params, params.replaceAll('+', '-').replaceAll('/', '_'), params.replace(/=+$/, '')]
  for (const form of forms) {
    const reply = await app.socket.request('rpc-call', { method, params: form })
    t.ok(reply.ok)
  }
  t.equal(aborted, 1)
})

t.test('a call without any parameters, as existing apps send it, is accepted', async t => {
  let aborted = 0
  const { app, cipher, session } = await serve(t, { abort: () => void aborted++ })
  const reply = await app.socket.request('rpc-call', { method: `${session.id}:abort`, params: cipher.seal(undefined) })
  t.strictSame(reply.ok && cipher.open(reply.result), { ok: true, value: null }, 'and answered as bare as it came')
  t.equal(await callMethod(app.socket, cipher, session.id, 'abort', undefined), null)
  t.equal(aborted, 2)
})

t.test('without a connection nothing is sent, and the caller is told', async t => {
  const { app, cipher, session } = await serve(t, { abort: () => {} })
  const down = socketState(app.socket, 'down')
  app.line.cut()
  await down
  await t.rejects(callSession(app.socket, cipher, session.id, 'abort', {}), { name: 'CallFailed', reason: 'not-connected' })
})

t.test('a wrapper that disconnects during a call makes its outcome unknown at once [R3]', async t => {
  const reached = Promise.withResolvers<void>()
  const { app, cipher, session, wrapper } = await serve(t, {
    abort: () => {
      reached.resolve()
      return new Promise(() => {})
    }
  })
  const call = callSession(app.socket, cipher, session.id, 'abort', {})
  await reached.promise
  wrapper.socket.close()
  await t.rejects(call, { reason: 'no-answer', message: 'RPC target disconnected' })
})

t.test('machines answer calls of every method', async t => {
  const world = await startWorld(t)
  const key = world.vault.newKey()
  await world.rest.call('openMachine', { body: { id: 'm-1', metadata: key.cipher.seal({}), dataEncryptionKey: key.wrapped } })
  const machine = await world.client({ as: 'machine', id: 'm-1' })
  const app = await world.client()
  const handlers = { echo: (params: unknown) => ({ heard: params }) }
  await serveCalls({ socket: machine.socket, cipher: key.cipher, target: 'm-1', handlers }).registered
  t.strictSame(await callMethod(app.socket, key.cipher, 'm-1', 'echo', { one: 1 }), { heard: { one: 1 } })
})

t.test('an absent callee is distinguished from a missing answer', async t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const socket = { request: async () => ({ ok: false, error: 'RPC method not available' }) as never }
  await t.rejects(callMethod(socket, cipher, 's', 'abort', {}), new CallFailed('away', 'RPC method not available'))
})

t.test('a call is only executed as the method it was sealed for [R8]', async t => {
  const done: string[] = []
  const forged: Forgery[] = []
  const world = await startWorld(t)
  const { session, key } = await world.openSession()
  const wrapper = await world.client({ as: 'session', id: session.id })
  const app = await world.client()
  const handlers: SessionHandlers = {
    abort: () => void done.push('abort'),
    killSession: () => {
      done.push('killSession')
      return { success: true, message: '' }
    }
  }
  const onForged = (forgery: Forgery) => void forged.push(forgery)
  await serveSession({ socket: wrapper.socket, cipher: key.cipher, session: session.id, handlers, onForged }).registered

  const name = { target: session.id, method: 'abort', call: 'c1' }
  const ask = async (params: string, method = 'killSession') => {
    const reply = await app.socket.request('rpc-call', { method: `${session.id}:${method}`, params })
    return reply.ok ? openCallAnswer(key.cipher, reply.result, name) : undefined
  }
  const refused = {
    type: 'result',
    result: { error: 'The call was made for a different target', type: 'error', errorMessage: 'The call was made for a different target' }
  }
  t.strictSame(await ask(sealCall(key.cipher, name, {})), refused, 'its caller is told, under its own name')
  t.strictSame(await ask(sealCall(key.cipher, { ...name, target: 'another' }, {}), 'abort'), { type: 'astray' })
  t.strictSame(await ask(sealAnswer(key.cipher, { type: 'answer', ...name }, {}), 'abort'), refused, 'an answer is no call')
  t.strictSame(await ask(session.metadata), refused, 'nor is what a session says of itself')
  t.strictSame(done, [])
  t.strictSame(
    forged.map(({ why, method }) => `${why} ${method}`),
    ['astray killSession', 'astray abort', 'astray abort', 'astray killSession']
  )
  await ask(sealCall(key.cipher, name, {}), 'abort')
  t.strictSame(done, ['abort'])
})

t.test('an answer is accepted only for the call it was sealed for [R8]', async t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const name = { target: 's1', method: 'readFile', call: 'c1' }
  const answer = (to: object, result: unknown = 1) =>
    openCallAnswer(cipher, sealAnswer(cipher, { type: 'call', ...name, ...to }, result), name)
  t.strictSame(answer({}), { type: 'result', result: 1 })
  for (const other of [{ call: 'c2' }, { method: 'bash' }, { target: 's2' }]) t.strictSame(answer(other), { type: 'astray' })
  t.strictSame(openCallAnswer(cipher, sealCall(cipher, name, {}), name), { type: 'astray' }, 'a call is no answer')
  t.strictSame(openCallAnswer(cipher, cipher.seal({ sealedFor: 7, result: 1 }), name), { type: 'astray' })

  const pin: Pin = { isSet: false, set: () => Object.assign(pin, { isSet: true }) }
  const pinned = { ...cipher, pin }
  const bare = cipher.seal({ success: true })
  t.strictSame(openCallAnswer(pinned, bare, name), { type: 'result', result: { success: true } }, 'as existing wrappers answer')
  openCallAnswer(pinned, sealAnswer(cipher, { type: 'call', ...name, call: 'c2' }, 1), name)
  t.notOk(pin.isSet, 'the answer to another call proves nothing of this one')
  openCallAnswer(pinned, sealAnswer(cipher, { type: 'call', ...name }, 1), name)
  t.ok(pin.isSet)
  t.strictSame(openCallAnswer(pinned, bare, name), { type: 'astray' }, 'and is not taken any more once they say what they answer')
})

t.test('once an app has announced what it seals, methods only we have are not called unsealed [R8]', async t => {
  const world = await startWorld(t)
  const { session, key } = await world.openSession()
  const wrapper = await world.client({ as: 'session', id: session.id })
  const app = await world.client()
  const pin: Pin = { isSet: false, set: () => Object.assign(pin, { isSet: true }) }
  const asked: string[] = []
  const handlers: SessionHandlers = {
    setMode({ mode }) {
      asked.push(mode)
      return { mode }
    },
    abort: () => void asked.push('abort')
  }
  await serveSession({ socket: wrapper.socket, cipher: key.cipher, session: session.id, handlers, pin }).registered
  const bare = async (method: string, params: unknown) => {
    const reply = await app.socket.request('rpc-call', { method: `${session.id}:${method}`, params: key.cipher.seal(params) })
    return reply.ok ? key.cipher.open(reply.result) : undefined
  }
  t.strictSame(await bare('setMode', { mode: 'plan' }), { ok: true, value: { mode: 'plan' } }, 'by an earlier version of ours')
  await callSession(app.socket, key.cipher, session.id, 'setMode', { mode: 'ask' })
  t.match(await bare('setMode', { mode: 'plan' }), { value: { error: /does not name its target/ } })
  t.strictSame(await bare('abort', { reason: 'enough' }), { ok: true, value: null }, 'existing apps are heard beside ours')
  t.strictSame(asked, ['plan', 'ask', 'abort'])
})
