import t, { type Test } from 'tap'
import { accountTopic, type Bus, limitsTopic } from '../../lib/bus/bus.ts'
import { accountId } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { unusedMs } from '../../lib/server/actions/calls/callee-arrivals.ts'
import { limits } from '../../lib/server/limits.ts'
import { openStore } from '../../lib/store/open.ts'
import { type FailingBus, failingBus } from '../bus/failing-bus.ts'
import { manualClock } from '../kit/manual-clock.ts'
import { call, Person, signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { listen } from './heard.ts'
import { passTime } from './pass-time.ts'
import { openAccepted, openWebSocket } from './raw-websocket.ts'

/** A server whose bus fails on purpose, and what it told its owner of that. */
async function startOn(t: Test, bus: FailingBus, more: Parameters<typeof startServer>[1] = {}) {
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const server = await startServer(t, { bus: bus.open({ onError }), onError, ...more })
  return Object.assign(server, { errors })
}

/** The close code of a connection that says who it is. */
async function closeCodeOf(t: Test, server: { port: number }, token: string): Promise<number | undefined> {
  const web = await openWebSocket(t, server)
  await web.next()
  web.send(`40${JSON.stringify({ token })}`)
  return web.ended()
}

t.test('when the bus fails one subscription, the connection is told to reconnect, and the next one is accepted [M2]', async t => {
  const bus = failingBus()
  const server = await startOn(t, bus)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  bus.subscriptions.push('fails')
  t.equal(await closeCodeOf(t, server, ada.token), 1013)
  t.match(server.errors.splice(0), [{ message: 'The bus takes no listener.' }])

  const socket = await ada.connect()
  const heard = listen(socket)
  await ada.send(session, { localId: 'a' })
  await heard.settled()
  t.equal(heard.bodies('new-message').length, 1)
  t.equal(bus.listeners(accountTopic(v.parse(accountId, ada.id))), 1, 'nothing of the failure is left')
})

t.test('a bus that never confirms a subscription delays nobody for longer than one attempt [M2]', async t => {
  const bus = failingBus()
  const clock = manualClock()
  const server = await startOn(t, bus, { clock })
  const ada = await signUp(t, server)
  bus.subscriptions.push('hangs')
  const closed = closeCodeOf(t, server, ada.token)
  while (bus.subscriptions.length > 0) await new Promise(setImmediate)
  clock.advance(10_000)
  t.equal(await closed, 1013)
  t.match(server.errors.splice(0), [{ name: 'DeadlineExceeded' }])

  const topic = accountTopic(v.parse(accountId, ada.id))
  await openAccepted(t, server, { token: ada.token })
  t.equal(bus.listeners(topic), 1)
  bus.endHanging()
  while (bus.listeners(topic) !== 1) await new Promise(setImmediate)
  t.same(server.errors, [], 'what comes late is given back')
})

t.test('a connection that closed while the bus subscribed neither answers calls nor counts as in use', async t => {
  const bus = failingBus()
  const server = await startOn(t, bus)
  const ada = await signUp(t, server)
  bus.subscriptions.push('hangs')
  const gone = await openWebSocket(t, server)
  await gone.next()
  gone.send(`40${JSON.stringify({ token: ada.token, clientType: 'user-scoped', appState: 'active' })}`)
  while (bus.subscriptions.length > 0) await new Promise(setImmediate)
  gone.sendBytes(Buffer.from([0x88, 0x80, 0, 0, 0, 0]))
  await gone.ended()
  const session = await ada.openSession()
  const event = { kind: 'done', title: 'x', body: 'x' }
  const { body } = await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: event })
  t.equal(body.result, 'no_tokens', 'it is not suppressed for an app that nobody looks at')
  bus.endHanging()
})

t.test('a call is sent even when the bus fails its subscription, and leaves nothing behind [R3]', async t => {
  const bus = failingBus()
  const clock = manualClock()
  const server = await startOn(t, bus, { clock })
  const ada = await signUp(t, server)
  const machine = await ada.connect({ clientType: 'machine-scoped', machineId: 'm' })
  machine.on('rpc-request', (_, answer) => answer('done'))
  await new Promise(resolve => {
    machine.once('rpc-registered', resolve)
    machine.emit('rpc-register', { method: 'm:run' })
  })
  const app = await ada.connect()
  for (const trouble of ['fails', 'hangs'] as const) {
    bus.subscriptions.push(trouble)
    const answer = app.emitWithAck('rpc-call', { method: 'm:run', params: 'x' })
    while (bus.subscriptions.length > 0) await new Promise(setImmediate)
    clock.advance(2_000)
    t.same(await answer, { ok: true, result: 'done' }, trouble)
  }
  bus.leavingFails = true
  t.same(await app.emitWithAck('rpc-call', { method: 'm:run', params: 'x' }), { ok: true, result: 'done' }, 'leaving')
  await passTime(clock, unusedMs, app, machine)
  bus.leavingFails = false
  bus.endHanging()
  t.match(server.errors, [{ message: 'The bus takes no listener.' }, { message: 'The bus lets nobody go.' }])
})

t.test('a bus that fails a subscription at startup fails the start, whoever asked, and leaves nothing open', async t => {
  const data = t.testdir()
  // Limits and the setup code are counted with other instances too.
  const setup = { data, limits: 'default', signup: 'owner' } as const
  for (let before = 0; before < 6; before += 1) {
    const bus = failingBus()
    let asked = 0
    const end = bus.open({ onError: error => t.error(error) })
    const failsLater: typeof end = {
      ...end,
      async subscribe(topic, listener) {
        asked += 1
        if (asked === before + 1) throw new Error('The bus takes no listener.')
        return end.subscribe(topic, listener)
      }
    }
    await t.rejects(startServer(t, { ...setup, bus: failsLater }), { message: 'The bus takes no listener.' })
  }
  const server = await startServer(t, setup)
  t.ok(server.url, 'the directory is free')
})

t.test('a version that knows no common limits hears nothing of them, and serves beside one that does [L4] [M8]', async t => {
  const bus = failingBus()
  const store = await openStore('sqlite:shared.db', { dataDirectory: t.testdir(), onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  const setup = { store, limits: 'default', trustProxy: 'loopback' } as const
  const next = await startOn(t, bus, setup)
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const before = await startServer(t, { ...setup, bus: withoutLimits(bus.open({ onError })), onError })
  const ada = await signUp(t, next)
  const [near, far] = [await ada.connect(), await new Person(t, before, ada.secret, ada.token).connect()]
  const heard = listen(far)
  for (let number = 0; number < 10; number += 1) await ada.connect()
  const from = (address: string) => ({ body: { publicKey: 'A', challenge: 'A', signature: 'A' }, headers: { 'x-forwarded-for': address } })
  for (let number = 0; number < limits.login.burst; number += 1) await call(next, 'POST', '/v1/auth', from('192.0.2.1'))
  t.equal((await call(next, 'POST', '/v1/auth', from('192.0.2.1'))).status, 429)
  t.equal((await call(before, 'POST', '/v1/auth', from('192.0.2.1'))).status, 401)
  const session = await ada.openSession()
  await ada.send(session, { localId: 'a' })
  await heard.settled()
  t.equal(heard.bodies('new-message').length, 1)
  t.same([near.connected, far.connected, errors, next.errors], [true, true, [], []])
})

/** As of the version before: it does not listen to what later ones tell of limits. */
function withoutLimits(bus: Bus): Bus {
  return {
    ...bus,
    subscribe: (topic, listener) => (topic === limitsTopic ? Promise.resolve(async () => {}) : bus.subscribe(topic, listener))
  }
}
