import { randomUUID } from 'node:crypto'
import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { accountTopic, type BusEvent } from '../../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../../lib/bus/local.ts'
import { handshake } from '../../../../lib/protocol/wire/handshake.ts'
import type { ConnectionId } from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import { Accepted } from '../../../../lib/server/edge/socket/accepted.ts'
import type { EngineConnection } from '../../../../lib/server/edge/socket/engineio.ts'
import { createEventHandlers } from '../../../../lib/server/edge/socket/events.ts'
import { unlimited } from '../../../../lib/server/limits.ts'
import { openStore } from '../../../../lib/store/open.ts'
import { noQuotas } from '../../../../lib/store/quotas.ts'
import { RowDamaged, type Store, StoreBusy } from '../../../../lib/store/store.ts'
import { machineId, newAccount, newMachine, newSession, readAll, sealed } from '../../../store/contract/kit.ts'

const opened = openStore('sqlite:afield.db', { dataDirectory: t.testdir(), onBroken: t.fail })
t.teardown(async () => (await opened).close())

type Deps = Parameters<typeof createEventHandlers>[0]

/** The handlers on a real store and bus, an account with a session and a machine, and notes of everything else that is asked of the server. */
async function openEvents(given: { deps?: object; store?: Partial<Store>; hello?: object; scopes?: string[] } = {}) {
  const whole = await opened
  const account = await newAccount(whole, randomUUID())
  const session = await newSession(whole, account, 'one')
  await newMachine(whole, account, machineId('m'))
  const bus = openLocalBus({ onError: t.error })
  const told: BusEvent[] = []
  await bus.subscribe(accountTopic(account), event => told.push(event))
  const notes: string[] = []
  const errors: unknown[] = []
  const note = (...words: unknown[]) =>
    void notes.push(words.map(word => (typeof word === 'string' ? word : JSON.stringify(word))).join(' '))
  const taken: string[] = []
  let inFlight = 0
  let lastId = 0
  const deps = {
    store: { ...whole, ...given.store },
    bus,
    now: () => 1_000,
    newId: () => `id${++lastId}`,
    quotas: () => noQuotas,
    presence: {
      alive: async (_: unknown, row: object, how: object) => note('alive', row, how),
      sessionEnded: async (_: unknown, id: string, time: number) => note('ended', id, time)
    },
    calls: {},
    hub: {
      register: (_: unknown, method: string) => note('registers', method),
      unregister: (_: unknown, method: string) => note('unregisters', method)
    },
    metrics: { eventTaken: (name: string, how: string) => taken.push(`${name} ${how}`) },
    isLimited: true,
    limits: unlimited,
    inFlight: {
      begin() {
        inFlight += 1
        return () => {
          inFlight -= 1
        }
      }
    },
    onError: (error: unknown) => errors.push(error),
    ...given.deps
  } as unknown as Deps
  const engine = { send: (frame: string) => note(frame), close: (why: string) => note('closes', why) } as unknown as EngineConnection
  const scopes = given.scopes ?? ['read', 'write', 'call']
  const bearer = { account, token: 't', kind: 'account', scopes, device: null } as unknown as ConstructorParameters<typeof Accepted>[2]
  const hello = v.parse(handshake, given.hello ?? { clientType: 'session-scoped', sessionId: session })
  const from = new Accepted(engine, 'c1' as ConnectionId, bearer, hello, { clock: { now: () => 7 }, nextAckId: () => 1 })
  const events = createEventHandlers(deps)
  /** What it acknowledges; `silent` if it does not. */
  const ask = async (name: string, payload?: unknown) => {
    let ack: unknown = 'silent'
    await events.handle(from, name, payload, body => {
      ack = body
    })
    return ack
  }
  const tell = (name: string, payload?: unknown) => events.handle(from, name, payload, undefined)
  const skipped = () => told.splice(0).map(event => 'skip' in event && event.skip)
  return { store: whole, account, session, events, from, ask, tell, told, skipped, notes, errors, taken, inFlight: () => inFlight }
}

const notFound = { result: 'error', message: 'Not found' }

t.test('versioned values of sessions and machines are replaced by event, and others get the current ones [X4]', async t => {
  const { session: sid, ask, skipped, notes } = await openEvents()
  t.same(await ask('update-metadata', { sid, metadata: 'a', expectedVersion: 0 }), { result: 'success', version: 1, metadata: 'a' })
  t.same(await ask('update-metadata', { sid, metadata: 'b', expectedVersion: 0 }), {
    result: 'version-mismatch',
    version: 1,
    metadata: 'a'
  })
  t.same(await ask('update-state', { sid, agentState: 'a', expectedVersion: 0 }), { result: 'success', version: 1, agentState: 'a' })
  t.same(await ask('update-state', { sid, agentState: null, expectedVersion: 0 }), {
    result: 'version-mismatch',
    version: 1,
    agentState: 'a'
  })
  t.same(await ask('update-state', { sid, agentState: null, expectedVersion: 1 }), { result: 'success', version: 2, agentState: null })
  t.same(await ask('update-metadata', { sid: 'unknown', metadata: 'a', expectedVersion: 0 }), notFound)

  const machine = { machineId: 'm' }
  const metadata = { ...machine, metadata: 'a', expectedVersion: 1 }
  t.same(await ask('machine-update-metadata', metadata), { result: 'success', version: 2, metadata: 'a' })
  t.same(await ask('machine-update-metadata', metadata), { result: 'version-mismatch', version: 2, metadata: 'a' })
  t.same(notes, [])
  const state = { ...machine, daemonState: 'a', expectedVersion: 1 }
  t.same(await ask('machine-update-state', state), { result: 'success', version: 2, daemonState: 'a' })
  t.same(notes, ['alive {"of":"machine","id":"m"} {"time":1000,"thinking":false}'], 'who reports a state is there')
  t.same(await ask('machine-update-state', state), { result: 'version-mismatch', version: 2, daemonState: 'a' })
  t.same(
    skipped(),
    Array.from({ length: 5 }, () => undefined),
    'and each is told to its writer too'
  )
})

t.test('a connection that wants no echo is not told its own versioned values [S3]', async t => {
  const { session: sid, ask, skipped } = await openEvents({ hello: { echo: false } })
  await ask('update-metadata', { sid, metadata: 'a', expectedVersion: 0 })
  t.same(skipped(), ['c1'])
})

t.test('keepalives and ends reach the presence', async t => {
  const { ask, notes } = await openEvents()
  t.same(await ask('session-alive', { sid: 's', time: 5, thinking: true }), undefined)
  await ask('session-alive', { sid: 's', time: 6 })
  await ask('machine-alive', { machineId: 'm', time: 7 })
  t.same(await ask('session-end', { sid: 's', time: 8 }), undefined)
  t.same(notes, [
    'alive {"of":"session","id":"s"} {"time":5,"thinking":true}',
    'alive {"of":"session","id":"s"} {"time":6,"thinking":false}',
    'alive {"of":"machine","id":"m"} {"time":7,"thinking":false}',
    'ended s 8'
  ])
})

t.test('a keepalive or an end that cannot be noted is reported, and answered with an error', async t => {
  const fault = new TypeError('no such column')
  const fail = async () => {
    throw fault
  }
  const { ask, errors } = await openEvents({ deps: { presence: { alive: fail, sessionEnded: fail } } })
  for (const name of ['session-alive', 'session-end']) t.match(await ask(name, { sid: 's', time: 5 }), { result: 'error' }, name)
  t.match(await ask('machine-alive', { machineId: 'm', time: 5 }), { result: 'error' })
  t.same(errors, [fault, fault, fault])
})

t.test('a message is stored once under its name, and its sender is not told [X1, S3]', async t => {
  const { store, account, session: sid, ask, tell, skipped } = await openEvents()
  t.same(await ask('message', { sid, message: 'aGk=', localId: 'a' }), undefined)
  await tell('message', { sid, message: 'aGk=', localId: 'a' })
  await tell('message', { sid, message: 'aG8=' })
  const stored = await readAll(store, account, sid)
  t.same(
    stored.map(({ sealed, localId }) => [sealed, localId]),
    [
      ['aGk=', 'a'],
      ['aG8=', null]
    ]
  )
  t.same(skipped(), ['c1', 'c1'])
})

t.test('a ping is answered when everything before it is done [D1]', async t => {
  const stored = Promise.withResolvers<void>()
  const order: string[] = []
  const {
    session: sid,
    ask,
    tell
  } = await openEvents({
    store: {
      async appendMessages() {
        await stored.promise
        order.push('stored')
        return { messages: [], added: [], clock: 1 }
      }
    }
  })
  const message = tell('message', { sid, message: 'aGk=' })
  const ping = ask('ping').then(ack => {
    order.push('answered')
    t.same(ack, {})
  })
  await turnEnds()
  t.same(order, [])
  stored.resolve()
  await Promise.all([message, ping])
  t.same(order, ['stored', 'answered'])
})

t.test('who may not register a method is told why, and others may register it and give it up [R2]', async t => {
  const { session, from, ask, notes, taken } = await openEvents()
  t.same(await ask('rpc-register', { method: 'other:run' }), undefined)
  t.same(notes.splice(0), ['42["rpc-error",{"type":"register","error":"Only the session or machine itself answers its methods"}]'])
  const method = `${session}:run`
  t.same(await ask('rpc-register', { method }), undefined)
  t.same([...from.methods], [method])
  t.same(await ask('rpc-unregister', { method }), undefined)
  t.same([...from.methods], [])
  t.same(notes, [`registers ${method}`, `unregisters ${method}`])
  t.same(taken, ['rpc-register refused', 'rpc-register done', 'rpc-unregister done'])
})

t.test('a call gets the answer of its callee, or why there is none [R3]', async t => {
  const asked: unknown[] = []
  const results: unknown[] = []
  const call = async (_: unknown, what: object) => {
    asked.push(what)
    return results.shift()
  }
  const { from, ask } = await openEvents({ deps: { calls: { call } } })
  const callFor = (result: unknown, params: unknown) => {
    results.push(result)
    return ask('rpc-call', { method: 's:run', params })
  }
  t.same(await callFor({ ok: true, value: 'done' }, 'x'), { ok: true, result: 'done' })
  t.same(asked, [{ method: 's:run', params: 'x', from: 'c1', signal: from.gone }])
  t.same(await callFor({ ok: false, why: 'timed-out' }, { deep: ['x', null, 7] }), { ok: false, error: 'operation has timed out' })
  const noMethod = { ok: false, error: 'Invalid parameters: method is required' }
  for (const bytes of [Buffer.from('x'), { deep: [{ er: Buffer.from('x') }] }]) {
    t.same(await ask('rpc-call', { method: 's:run', params: bytes }), noMethod, 'bytes are not forwarded')
  }
  t.same(await ask('rpc-call', {}), noMethod)
  t.equal(asked.length, 2)
})

t.test('a client that calls on although it has too many calls is closed after 100, unless one passed [B5]', async t => {
  for (const isLimited of [true, false]) {
    let why = 'too-many'
    const call = async () => (why === '' ? { ok: true, value: 'x' } : { ok: false, why })
    const { ask, notes } = await openEvents({ deps: { calls: { call }, isLimited } })
    const callTimes = async (times: number) => {
      for (let time = 0; time < times; time += 1) await ask('rpc-call', { method: 's:run' })
    }
    await callTimes(100)
    for (const other of ['', 'timed-out']) {
      why = other
      await callTimes(1)
      why = 'too-many'
      await callTimes(100)
    }
    t.same(notes, [])
    await callTimes(1)
    t.same(notes, isLimited ? ['closes too-fast'] : [])
  }
})

t.test('an app says whether it is in use, for how long, and whether it wants growing text', async t => {
  const { from, ask } = await openEvents({ hello: { clientType: 'user-scoped', appState: 'active', signals: true } })
  t.equal(from.watchedUntil, Number.POSITIVE_INFINITY)
  t.same(await ask('app-state', { state: 'active', watchedForMs: 100, partials: false }), undefined)
  t.same([from.watchedUntil, from.takesPartials], [107, false])
  await ask('app-state', { state: 'background' })
  t.same([from.watchedUntil, from.takesPartials], [Number.NEGATIVE_INFINITY, false])
  await ask('app-state', { state: 'active', partials: true })
  t.same([from.watchedUntil, from.takesPartials], [Number.POSITIVE_INFINITY, true])
})

t.test('growing text of its own session is forwarded, and of no other [I2]', async t => {
  const { session: sid, ask, told } = await openEvents()
  await ask('partial', { sid: 'other', partial: 'aGk=' })
  t.same(await ask('partial', { sid, partial: 'aGk=' }), undefined)
  t.same(told, [{ type: 'signal', audience: 'apps', skip: 'c1', signal: { type: 'partial', session: sid, partial: 'aGk=' } }])
})

t.test('a usage report is acknowledged with its id and times', async t => {
  const { session, ask, told } = await openEvents()
  const report = { key: 'k', sessionId: session, tokens: { total: 3 }, cost: { total: 1 } }
  t.same(await ask('usage-report', report), { success: true, reportId: 'id1', createdAt: 1_000, updatedAt: 1_000 })
  t.match(told, [{ signal: { type: 'usage', session, tokens: { total: 3 } } }])
  t.same(await ask('usage-report', { ...report, sessionId: 'unknown' }), { success: false, error: 'Session not found' })
  t.same(await ask('usage-report', { key: 'k' }), { success: false, error: 'Invalid parameters' })
})

t.test('artifacts are made, read, replaced in part and removed by event [X4]', async t => {
  const { ask, skipped } = await openEvents()
  const artifactId = '0d9c1b52-6f5e-4a9b-8f7c-2f1f9a3e4b5c'
  const draft = { id: artifactId, header: 'h1', body: 'b1', dataEncryptionKey: 'k' }
  const artifact = { ...draft, headerVersion: 1, bodyVersion: 1, seq: 0, createdAt: 1_000, updatedAt: 1_000 }
  t.same(await ask('artifact-create', draft), { result: 'success', artifact })
  t.same(await ask('artifact-read', { artifactId }), { result: 'success', artifact })
  const part = (data: string, expectedVersion: number) => ({ data, expectedVersion })
  t.same(await ask('artifact-update', { artifactId, header: part('h2', 1) }), { result: 'success', header: { version: 2, data: 'h2' } })
  t.same(await ask('artifact-update', { artifactId, body: part('b2', 1) }), { result: 'success', body: { version: 2, data: 'b2' } })
  t.same(await ask('artifact-update', { artifactId, header: part('h3', 2), body: part('b3', 2) }), {
    result: 'success',
    header: { version: 3, data: 'h3' },
    body: { version: 3, data: 'b3' }
  })
  t.same(await ask('artifact-update', { artifactId, header: part('h4', 1), body: part('b4', 3) }), {
    result: 'version-mismatch',
    header: { version: 3, data: 'h3' }
  })
  t.same(await ask('artifact-delete', { artifactId }), { result: 'success' })
  t.same(
    skipped(),
    Array.from({ length: 5 }, () => undefined),
    'and its writer is told too'
  )
  t.same(await ask('artifact-read', { artifactId }), { result: 'error', message: 'Artifact not found', status: 404 })
  t.same(await ask('artifact-delete', { artifactId }), { result: 'error', message: 'Artifact not found', status: 404 })
})

t.test('an access key is read by event', async t => {
  const { store, account, session, ask } = await openEvents()
  const place = { sessionId: session, machineId: 'm' }
  t.same(await ask('access-key-get', place), { ok: true, accessKey: null })
  await store.addAccessKey(account, { session, machine: machineId('m') }, sealed('key'), 5)
  t.match(await ask('access-key-get', place), { ok: true, accessKey: { data: 'key', dataVersion: 1 } })
  t.same(await ask('access-key-get', { ...place, machineId: 'x' }), { ok: false, error: 'Session or machine not found' })
  t.same(await ask('access-key-get', {}), { ok: false, error: 'Invalid parameters' })
})

t.test('an event that the token does not allow is refused before its payload is looked at [I4]', async t => {
  const { ask, taken } = await openEvents({ scopes: ['read'] })
  const message = 'This token is not allowed to do this'
  t.same(await ask('artifact-delete', 'no payload'), { result: 'error', message, status: 403 })
  t.same(await ask('rpc-call', {}), { ok: false, error: message })
  t.same(await ask('usage-report', {}), { success: false, error: message })
  t.same(await ask('ping'), {})
  t.same(taken.toSorted(), ['artifact-delete refused', 'ping done', 'rpc-call refused', 'usage-report refused'])
})

t.test('an invalid payload is refused, in words where the event has an answer', async t => {
  const { ask, errors, taken } = await openEvents()
  for (const name of ['update-metadata', 'machine-update-state', 'artifact-read', 'artifact-update']) {
    t.same(await ask(name, 7), { result: 'error', message: 'Invalid parameters' }, name)
  }
  for (const name of ['message', 'session-alive', 'rpc-register', 'app-state', 'partial']) t.same(await ask(name, 7), undefined, name)
  t.same(errors, [])
  t.ok(taken.every(each => each.endsWith(' refused')))
})

t.test('a name that is no event is counted under one name, and not answered [R6]', async t => {
  const { events, ask, taken, inFlight } = await openEvents()
  for (const name of ['unknown', 'constructor', '__proto__', 'toString']) t.equal(await ask(name, {}), 'silent')
  t.equal(inFlight(), 0)
  const acks: unknown[] = []
  events.refuse('unknown', ack => acks.push(ack))
  t.same(acks, [undefined])
  t.same(
    taken,
    Array.from({ length: 5 }, () => 'other refused')
  )
})

t.test('an event that comes too fast is refused in the words of its own answer [B5]', async t => {
  const { events, taken } = await openEvents()
  const refused = (name: string) => {
    const acks: unknown[] = []
    events.refuse(name, ack => acks.push(ack))
    return acks[0]
  }
  t.same(refused('ping'), { result: 'error', message: 'Too many messages at once' })
  t.same(refused('rpc-call'), { ok: false, error: 'Too many messages at once' })
  t.same(refused('usage-report'), { success: false, error: 'Too many messages at once' })
  events.refuse('message', undefined)
  t.same(
    taken,
    ['ping', 'rpc-call', 'usage-report', 'message'].map(name => `${name} refused`)
  )
})

t.test('only events that answer with stored values are counted as large, and wait for their limit [B2]', async t => {
  const asked: unknown[] = []
  const { account, events, ask } = await openEvents({
    deps: {
      limits: {
        check(name: string, of: string) {
          asked.push([name, of])
          throw new StoreBusy('not now')
        }
      }
    }
  })
  const mib = 1024 * 1024
  const sizes = {
    'update-metadata': mib,
    'update-state': 4 * mib,
    'machine-update-metadata': mib,
    'machine-update-state': 4 * mib,
    'artifact-read': 64 * mib,
    'artifact-create': 64 * mib,
    'artifact-update': 64 * mib,
    'access-key-get': 32 * mib
  }
  for (const [name, bytes] of Object.entries(sizes)) {
    t.equal(events.answerBytes(name), bytes, name)
    t.match(await ask(name, {}), name === 'access-key-get' ? { ok: false } : { result: 'error', status: 503 })
    t.same(asked.splice(0), [['socketAnswers', account]])
  }
  for (const name of ['ping', 'message', 'rpc-call', 'toString']) {
    t.equal(events.answerBytes(name), 0, name)
    await ask(name, {})
    t.same(asked, [])
  }
})

t.test('a fault is reported and answered without its words, and damage is reported too [N1]', async t => {
  let error: Error = new TypeError('no such column')
  const { ask, errors, taken } = await openEvents({
    store: {
      async findArtifact() {
        throw error
      },
      async putUsageReport() {
        throw error
      }
    }
  })
  const artifact = { artifactId: '0d9c1b52-6f5e-4a9b-8f7c-2f1f9a3e4b5c' }
  const usage = { key: 'k', tokens: { total: 1 }, cost: { total: 1 } }
  t.same(await ask('artifact-read', artifact), { result: 'error', message: 'Internal error' })
  t.same(await ask('usage-report', usage), { success: false, error: 'Internal error' })
  t.same(errors.splice(0), [error, error])
  error = new RowDamaged('a row')
  t.same(await ask('artifact-read', artifact), { result: 'error', message: 'The stored data is damaged', status: 500 })
  t.same(errors.splice(0), [error])
  error = new StoreBusy('not now')
  t.match(await ask('artifact-read', artifact), { result: 'error', status: 503 })
  t.same(errors, [])
  t.same(taken, ['artifact-read failed', 'usage-report failed', 'artifact-read refused', 'artifact-read refused'])
})

t.test('a connection whose message is not stored is closed, unless that is answered or will never change [D1]', async t => {
  let error: Error = new StoreBusy('not now')
  const {
    session: sid,
    ask,
    tell,
    notes
  } = await openEvents({
    store: {
      async appendMessages() {
        throw error
      }
    }
  })
  const message = { sid, message: 'aGk=', localId: 'a' }
  t.match(await ask('message', message), { result: 'error', status: 503 })
  t.same(notes, [])
  await tell('message', message)
  t.same(notes.splice(0), ['closes try-again'])
  error = new RowDamaged('a row')
  await tell('message', message)
  t.same(notes, [])
  error = new TypeError('no such column')
  for (let tries = 1; tries <= 5; tries += 1) await tell('message', message)
  t.same(
    notes.splice(0),
    Array.from({ length: 4 }, () => 'closes try-again')
  )
  await tell('message', { ...message, localId: 'b' })
  t.same(notes.splice(0), ['closes try-again'], 'another name is another message')
  const nameless = (text: string) => tell('message', { sid, message: text })
  for (let tries = 1; tries <= 5; tries += 1) await nameless('x'.repeat(100))
  t.equal(notes.splice(0).length, 4)
  await nameless('y'.repeat(100))
  t.same(notes.splice(0), ['closes try-again'], 'and so is another text')
  await tell('update-metadata', { sid, metadata: 'a', expectedVersion: 0 })
  t.same(notes, [])
})

t.test('the server waits for events that are under way, also for calls [L1]', async t => {
  const call = Promise.withResolvers<unknown>()
  const { tell, inFlight } = await openEvents({ deps: { calls: { call: () => call.promise } } })
  const work = tell('rpc-call', { method: 's:run' })
  t.equal(inFlight(), 1)
  await work
  t.equal(inFlight(), 1, 'which their queue does not wait for')
  call.resolve({ ok: true, value: 'x' })
  await turnEnds()
  t.equal(inFlight(), 0)
})

t.test('a ping does not wait for calls', async t => {
  const { tell, ask } = await openEvents({ deps: { calls: { call: () => new Promise(() => {}) } } })
  await tell('rpc-call', { method: 's:run' })
  t.same(await ask('ping'), {})
})
