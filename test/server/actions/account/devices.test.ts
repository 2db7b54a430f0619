import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { openLocalBus } from '../../../../lib/bus/local.ts'
import { routes } from '../../../../lib/protocol/wire/routes.ts'
import { everyScope } from '../../../../lib/protocol/wire/scopes.ts'
import type { PushNotice } from '../../../../lib/server/push.ts'
import { openStore } from '../../../../lib/store/open.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { movingTime } from '../../../kit/moving-time.ts'
import { call, next, type Person, signUp, type Untyped } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

const gone = { status: 401, body: { error: 'Invalid token' } }
const notAllowed = { status: 403, body: { error: 'This token is not allowed to do this' } }
const success = { status: 200, body: { success: true } }
const days = 24 * 60 * 60_000

const devicesOf = async (person: Person): Promise<Untyped[]> => (await person.call('GET', '/v1/devices')).body.devices
const tokenIdOf = (token: string) => JSON.parse(atob(token.split('.')[1] ?? '')).tid

async function pairTerminal(server: { url: string }, person: Person, fetchIt = true) {
  const publicKey = randomBytes(32).toString('base64')
  const poll = () => call(server, 'POST', '/v1/auth/request', { body: { publicKey, deviceName: 'laptop' } })
  await poll()
  await person.call('POST', '/v1/auth/response', { body: { publicKey, response: 'c2VhbGVk' } })
  return { poll, token: fetchIt ? ((await poll()).body.token as string) : '' }
}

t.test('a device is renamed, and removed with its tokens, its push tokens and the answers it gave [A10]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const lost = await signUp(t, server, ada.secret)
  await lost.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[lost]' } })
  await ada.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[kept]' } })
  const { poll } = await pairTerminal(server, lost, false)
  const socket = await lost.connect()
  const closed = new Promise(resolve => socket.once('disconnect', resolve))

  const { id } = (await devicesOf(ada)).find(({ current }: Untyped) => !current)
  t.same(await ada.call('PUT', `/v1/devices/${id}`, { body: { name: 'lost in a taxi' } }), success)
  t.ok((await devicesOf(ada)).some(({ name }: Untyped) => name === 'lost in a taxi'))
  t.same(await ada.call('DELETE', `/v1/devices/${id}`), success)
  await closed
  t.same(await lost.call('GET', '/v1/sessions'), gone)
  t.equal((await poll()).status, 410, 'the terminal it let in is not let in')
  const { body } = await ada.call('GET', '/v1/push-tokens')
  t.same(
    body.tokens.map(({ token }: Untyped) => token),
    ['ExponentPushToken[kept]']
  )
  t.equal((await devicesOf(ada)).length, 1)
  t.same(await ada.call('DELETE', `/v1/devices/${id}`), { status: 404, body: { error: 'Device not found' } })
})

t.test('revoking one token of a device removes the device', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const lost = await signUp(t, server, ada.secret)
  t.same(await ada.call('DELETE', `/v1/tokens/${tokenIdOf(lost.token)}`), success)
  t.equal((await devicesOf(ada)).length, 1)
  t.same(await lost.call('GET', '/v1/sessions'), gone)
})

t.test('a device may remove itself', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const { token } = await pairTerminal(server, ada)
  t.same(await call(server, 'DELETE', '/v1/devices/current', { token }), success)
  t.same(await call(server, 'GET', '/v1/sessions', { token }), gone)
  t.equal((await devicesOf(ada)).length, 1)
})

t.test('a token may use a route only with the scope in the table', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const scope of everyScope) {
    const { body } = await ada.call('POST', '/v1/tokens', { body: { name: scope, scopes: [scope] } })
    for (const { method, path, auth } of Object.values(routes)) {
      // What ends a sign-in looks closer: the own one may be ended with any token.
      if (auth === 'none' || path === '/v1/tokens/:id' || (method === 'DELETE' && path === '/v1/devices/:id')) continue
      const answer = await call(server, method, path.replace(/:\w+/g, 'x'), { token: body.token, ...(method !== 'GET' && { body: {} }) })
      const isRefused = answer.status === 403 && answer.body.error === notAllowed.body.error
      t.equal(isRefused, auth !== 'any' && auth !== scope, `${scope}: ${method} ${path}`)
    }
  }
})

t.test('a linked computer reads, writes and calls, and does not manage', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const { token } = await pairTerminal(server, ada)
  const [owner] = (await devicesOf(ada)).filter(({ current }: Untyped) => current)
  t.equal((await call(server, 'GET', '/v1/sessions', { token })).status, 200)
  t.equal((await call(server, 'POST', '/v1/sessions', { token, body: { tag: 'x', metadata: 'x' } })).status, 200)
  for (const [method, path] of [
    ['GET', '/v1/devices'],
    ['DELETE', `/v1/devices/${owner.id}`],
    ['DELETE', `/v1/tokens/${tokenIdOf(ada.token)}`]
  ] as const)
    t.same(await call(server, method, path, { token }), notAllowed, path)
})

t.test('a socket event needs the scope in the table, and a connection needs to read', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const make = async (...scopes: string[]) => (await ada.call('POST', '/v1/tokens', { body: { name: 'x', scopes } })).body.token
  await t.rejects(ada.connect({ token: await make('write') }), { message: 'This token is not allowed to do this' })

  const socket = await ada.connect({ token: await make('read') })
  const write = { sid: session, metadata: 'evil', expectedVersion: 0 }
  const refused = { result: 'error', message: 'This token is not allowed to do this', status: 403 }
  t.same(await socket.emitWithAck('update-metadata', write), refused)
  t.match(await socket.emitWithAck('rpc-call', { method: 'x:y', params: 'x' }), { ok: false })
  socket.emit('message', { sid: session, message: 'evil' })
  await socket.emitWithAck('ping', {})
  t.same((await ada.call('GET', `/v3/sessions/${session}/messages`)).body.messages, [])
})

t.test('a named token is listed without its text, ends when revoked, and has no more scopes than its creator', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const make = (token: string, ...scopes: string[]) => call(server, 'POST', '/v1/tokens', { token, body: { name: 'ci', scopes } })
  const { body } = await make(ada.token, 'manage')
  t.match(body.token, /^afield1-named\./)
  t.same(await make(body.token, 'write'), notAllowed)

  const listed = (await ada.call('GET', '/v1/tokens')).body.tokens
  t.match(listed, [{ id: body.id, name: 'ci', scopes: ['manage'], expiresAt: null }])
  t.notMatch(JSON.stringify(listed), body.token.split('.')[2])
  t.equal((await devicesOf(ada)).length, 1, 'it is no device')
  t.same(await ada.call('DELETE', `/v1/tokens/${body.id}`), success)
  t.same(await make(body.token, 'manage'), gone)
})

async function startWithTime(t: Test) {
  const time = movingTime()
  const server = await startServer(t, { now: time.now, clock: time.clock })
  return { server, time, ada: await signUp(t, server) }
}

t.test('a named token is valid until it expires', async t => {
  const { server, time, ada } = await startWithTime(t)
  const { body } = await ada.call('POST', '/v1/tokens', { body: { name: 'x', scopes: ['read'], expiresAt: time.at + 5_000 } })
  const ask = () => call(server, 'GET', '/v1/sessions', { token: body.token })
  time.at += 4_999
  t.equal((await ask()).status, 200)
  time.at += 1
  t.same(await ask(), gone)
})

t.test('a token that would expire between two milliseconds is rejected at the edge', async t => {
  const { ada } = await startWithTime(t)
  for (const expiresAt of [1.5, -1, 1e16]) {
    const { status } = await ada.call('POST', '/v1/tokens', { body: { name: 'x', scopes: ['read'], expiresAt } })
    t.equal(status, 400, `${expiresAt}`)
  }
})

t.test('the token of an existing client expires after half a year without use', async t => {
  const { time, ada } = await startWithTime(t)
  time.at += 179 * days
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200)
  time.at += 179 * days
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200, 'each use keeps it alive')
  time.at += 180 * days + 1
  t.same(await ada.call('GET', '/v1/sessions'), gone)
})

t.test('an instance whose bus is dead still ends a revoked token and its sockets [A4]', async t => {
  const clock = manualClock()
  const data = t.testdir()
  const deps = { dataDirectory: data, onBroken: (reason: unknown) => t.fail(String(reason)) }
  const store = await openStore(`sqlite:${data}/shared.db`, deps)
  t.teardown(() => store.close())
  const deafBus = () => openLocalBus({ onError: error => t.fail(String(error)) })
  const [here, there] = await Promise.all([
    startServer(t, { data: t.testdir({ one: {} }), store, bus: deafBus() }),
    startServer(t, { data, store, bus: deafBus(), clock })
  ])
  const ada = await signUp(t, here)
  const lost = await signUp(t, here, ada.secret)
  const ask = () => call(there, 'GET', '/v1/sessions', { token: lost.token })
  const socket = await lost.connect({}, there)
  t.equal((await ask()).status, 200, 'it is remembered there')
  await ada.call('DELETE', `/v1/tokens/${tokenIdOf(lost.token)}`)
  t.equal((await ask()).status, 200, 'nobody told it')
  const closed = new Promise(resolve => socket.once('disconnect', resolve))
  clock.advance(2_000)
  await closed
  t.same(await ask(), gone)
})

t.test("a sign-in notifies the account's apps at once, and its phones without naming the device", async t => {
  const notices: PushNotice[] = []
  const pushed = Promise.withResolvers<void>()
  const server = await startServer(t, {
    push: async (notice, tokens) => {
      notices.push(notice)
      pushed.resolve()
      return tokens.map(token => ({ token, outcome: 'delivered' }))
    }
  })
  const ada = await signUp(t, server)
  const mallory = await signUp(t, server)
  await ada.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[ada]' } })
  const [app, other] = [await ada.connect({ appState: 'active' }), await mallory.connect()]
  other.on('ephemeral', frame => t.fail(JSON.stringify(frame)))
  const told = next(app, 'ephemeral')
  await pairTerminal(server, ada)
  t.match(await told, { type: 'device-came', kind: 'terminal', name: 'laptop' })
  await pushed.promise
  const again = next(app, 'ephemeral')
  await signUp(t, server, ada.secret)
  t.match(await again, { type: 'device-came', kind: 'account' })
  t.match(notices[0], { kind: 'device', session: undefined, title: 'A new device signed in' })
  t.notMatch(JSON.stringify(notices), /laptop/)
})

t.test('an answer fetched a second time alerts the account, once [A7]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const app = await ada.connect()
  const heard: string[] = []
  app.on('ephemeral', ({ type }) => heard.push(type))
  const { poll } = await pairTerminal(server, ada)
  await poll()
  await poll()
  await app.emitWithAck('ping', {})
  t.same(heard, ['device-came', 'pairing-fetched-twice'])
})
