import type { Socket } from 'socket.io-client'
import t, { type Test } from 'tap'
import { accountTopic } from '../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../lib/bus/local.ts'
import { accountId, machineId, type SessionId, sessionId } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { Presence } from '../../../lib/server/chores/presence.ts'
import type { Caller } from '../../../lib/server/deps.ts'
import type { Push } from '../../../lib/server/push.ts'
import { openStore } from '../../../lib/store/open.ts'
import type { RowRef, SessionRow } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { next, type Person, signUp, type Untyped } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { listen } from '../heard.ts'
import { passTime } from '../pass-time.ts'

const start = 1_700_000_000_000
const seconds = 1000
const minutes = 60 * seconds

/** A server whose two clocks a test moves together, somebody with a session and a machine, and an app that listens. */
async function startWorld(t: Test) {
  const clock = manualClock()
  const wall = { ahead: 0 }
  const now = () => start + clock.now() + wall.ahead
  const server = await startServer(t, { clock, now })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'x' } })
  const app = await ada.connect()
  const process = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const pass = (ms: number) => passTime(clock, ms, app, process)
  return { server, pass, wall, now, ada, session, app, process, heard: listen(app) }
}

async function sessionOf(person: Person, id: string): Promise<Untyped> {
  const { body } = await person.call('GET', '/v1/sessions')
  return body.sessions.find((session: Untyped) => session.id === id)
}

t.test("every keepalive is passed on at once, with the agent's activity", async t => {
  const { ada, app, process, session, now } = await startWorld(t)
  for (const thinking of [true, false, undefined]) {
    const told = next(app, 'ephemeral')
    process.volatile.emit('session-alive', { sid: session, time: now(), thinking, mode: 'remote' })
    t.same(await told, { type: 'activity', id: session, active: true, activeAt: now(), thinking: thinking ?? false })
  }
  const daemon = await ada.connect()
  const told = next(app, 'ephemeral')
  daemon.emit('machine-alive', { machineId: 'laptop', time: now() })
  t.same(await told, { type: 'machine-activity', id: 'laptop', active: true, activeAt: now() })
})

t.test('a time that is far off counts as now [C2]', async t => {
  const { pass, app, process, session, now } = await startWorld(t)
  // Nothing is told as older than what was told before.
  await pass(10 * minutes)
  const table: [sent: number, told: number][] = [
    [now() - 9 * minutes, now() - 9 * minutes],
    [now() - 11 * minutes, now()],
    [now() + 1, now()],
    [0, now()],
    [now() + 10 * 365 * 24 * 60 * minutes, now()]
  ]
  for (const [time, activeAt] of table) {
    const told = next(app, 'ephemeral')
    process.emit('session-alive', { sid: session, time })
    t.equal((await told).activeAt, activeAt)
  }
})

t.test('the store gets a keepalive within 5 s, and then every 30 s at most', async t => {
  const { pass, ada, process, session, now } = await startWorld(t)
  const beat = async () => {
    process.emit('session-alive', { sid: session, time: now() })
    await process.emitWithAck('ping')
  }
  const stored = async () => (await sessionOf(ada, session)).activeAt - start

  await pass(40 * seconds)
  await beat()
  t.equal(await stored(), 0)
  await pass(5 * seconds)
  t.equal(await stored(), 40 * seconds)

  await pass(20 * seconds)
  await beat()
  await pass(5 * seconds)
  t.equal(await stored(), 40 * seconds, 'only 25 s after the last')
  await beat()
  await pass(5 * seconds)
  t.equal(await stored(), 70 * seconds)
})

t.test('an ended session is inactive at once, and what was sent before its end does not revive it', async t => {
  const { pass, ada, app, heard, process, session, now } = await startWorld(t)
  const told = next(app, 'ephemeral')
  process.emit('session-end', { sid: session, time: now() })
  t.same(await told, { type: 'activity', id: session, active: false, activeAt: now(), thinking: false })
  t.match(await sessionOf(ada, session), { active: false, activeAt: now() })

  const endedAt = now()
  await pass(10 * seconds)
  heard.ephemerals.length = 0
  process.emit('session-alive', { sid: session, time: endedAt - 1 })
  process.emit('session-alive', { sid: session, time: endedAt })
  await process.emitWithAck('ping')
  await heard.settled()
  t.same(heard.ephemerals, [], 'stragglers')

  const revived = next(app, 'ephemeral')
  process.emit('session-alive', { sid: session, time: endedAt + 1 })
  t.match(await revived, { active: true })
  await pass(5 * seconds)
  t.equal((await sessionOf(ada, session)).active, true)
})

t.test('after a minute, or when the session is opened again, any keepalive counts', async t => {
  const { pass, ada, app, process } = await startWorld(t)
  for (const passes of [() => pass(minutes), (tag: string) => ada.openSession(tag)]) {
    const tag: string = crypto.randomUUID()
    const session = await ada.openSession(tag)
    const ended = next(app, 'ephemeral')
    await ada.call('POST', `/v1/sessions/${session}/archive`)
    const { activeAt } = await ended
    await passes(tag)
    const told = next(app, 'ephemeral')
    process.emit('session-alive', { sid: session, time: activeAt - 1 })
    t.match(await told, { id: session, active: true })
  }
})

t.test('a process that connects to an ended session makes it active at once, also without opening it again', async t => {
  const { ada, app, session, now } = await startWorld(t)
  const ended = next(app, 'ephemeral')
  await ada.call('POST', `/v1/sessions/${session}/archive`)
  await ended
  const resumed = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const told = next(app, 'ephemeral')
  resumed.emit('session-alive', { sid: session, time: now() })
  t.match(await told, { id: session, active: true })
})

t.test('a machine is active while it has a connection', async t => {
  const { ada, app, heard, now } = await startWorld(t)
  const scope = { clientType: 'machine-scoped', machineId: 'laptop' }
  const came = next(app, 'ephemeral')
  const first = await ada.connect(scope)
  t.same(await came, { type: 'machine-activity', id: 'laptop', active: true, activeAt: now() })
  const again = next(app, 'ephemeral')
  const second = await ada.connect(scope)
  await again
  heard.ephemerals.length = 0
  first.disconnect()
  await heard.settled()
  t.same(heard.ephemerals, [], 'it has another connection')
  const left = next(app, 'ephemeral')
  second.disconnect()
  t.same(await left, { type: 'machine-activity', id: 'laptop', active: false, activeAt: now() })
  t.match((await ada.call('GET', '/v1/machines/laptop')).body.machine, { active: false, activeAt: now() })
})

t.test('a connecting machine is active at once, in the lists too', async t => {
  const { pass, ada, app, now } = await startWorld(t)
  const read = async () => (await ada.call('GET', '/v1/machines/laptop')).body.machine
  t.match(await read(), { active: false })
  await pass(1 * minutes)
  const came = next(app, 'ephemeral')
  await ada.connect({ clientType: 'machine-scoped', machineId: 'laptop' })
  await came
  t.match(await read(), { active: true, activeAt: now() })
})

t.test('a machine that reconnects before its disconnect was stored stays active', async t => {
  const clock = manualClock()
  const marks: boolean[] = []
  const told: boolean[] = []
  const leaving = { begun: Promise.withResolvers<void>(), stored: Promise.withResolvers<void>() }
  const store = {
    findMachine: async () => ({ id: 'laptop', activeAt: 0 }),
    async markActive([mark]: Parameters<Store['markActive']>[0]) {
      if (mark) marks.push(mark.active)
      if (mark?.active) return
      leaving.begun.resolve()
      await leaving.stored.promise
    }
  } as unknown as Store
  const bus = openLocalBus({ onError: error => t.error(error) })
  const account = v.parse(accountId, 'ada')
  await bus.subscribe(accountTopic(account), event => {
    if (event.type === 'signal' && event.signal.type === 'presence') told.push(event.signal.active)
  })
  const presence = new Presence(
    { store, bus, clock, now: clock.now, time: clock.now, claim: async () => true, isElsewhere: async () => false },
    { idleAfterMs: 1 }
  )
  t.teardown(() => presence.close())
  const row: RowRef = { of: 'machine', id: v.parse(machineId, 'laptop') }
  const left = presence.machineLeft(account, row)
  await leaving.begun.promise
  clock.advance(1000)
  await presence.machineCame(account, row)
  leaving.stored.resolve()
  await left
  t.same(told, [true])
  t.same(marks, [false, true], 'and that is what was stored last')
})

for (const kind of ['machine', 'session'] as const)
  t.test(`a ${kind} whose process reconnected to another instance stays active [M1]`, async t => {
    const clock = manualClock()
    const marks: boolean[] = []
    const store = {
      findMachine: async () => ({ id: 'laptop', activeAt: 0 }),
      findSession: async () => ({ id: 's', activeAt: 0, active: true }),
      markActive: async (rows: Parameters<Store['markActive']>[0]) => void marks.push(...rows.map(({ active }) => active))
    } as unknown as Store
    const bus = openLocalBus({ onError: error => t.error(error) })
    const account = v.parse(accountId, 'ada')
    const caller = { account } as unknown as Caller
    const row: RowRef = kind === 'machine' ? { of: kind, id: v.parse(machineId, 'laptop') } : { of: kind, id: v.parse(sessionId, 's') }
    for (const isElsewhere of [true, false]) {
      const deps = { store, bus, clock, now: clock.now, time: clock.now, claim: async () => true, isElsewhere: async () => isElsewhere }
      const presence = new Presence(deps, { idleAfterMs: 1 })
      await presence.alive(caller, row, { time: 0, thinking: false })
      clock.advance(1)
      if (row.of === 'machine') await presence.machineLeft(account, row)
      else presence.sessionLeft(account, row)
      clock.advance(1)
      while (!isElsewhere && marks.length === 0) await new Promise(setImmediate)
      await new Promise(setImmediate)
      t.same(marks, isElsewhere ? [] : [false])
      await presence.close()
      marks.length = 0
    }
  })

t.test('activity with a lagging clock is not dated before the last end, so that devices accept it [C2]', async t => {
  const { pass, ada, app, process, session, now } = await startWorld(t)
  await pass(1 * minutes)
  const left = next(app, 'ephemeral')
  await ada.call('POST', `/v1/sessions/${session}/archive`)
  const { activeAt } = await left
  const back = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const told = next(app, 'ephemeral')
  back.emit('session-alive', { sid: session, time: now() - 25 * seconds })
  t.match(await told, { id: session, active: true, activeAt })
  process.disconnect()
})

t.test('an inactive machine becomes active at its first keepalive, and with a new state', async t => {
  const { pass, ada, app, now } = await startWorld(t)
  const read = async () => (await ada.call('GET', '/v1/machines/laptop')).body.machine
  const daemon = await ada.connect()
  t.equal((await read()).active, false)
  const told = next(app, 'ephemeral')
  await daemon.emitWithAck('machine-update-state', { machineId: 'laptop', daemonState: 'running', expectedVersion: 0 })
  t.match(await told, { type: 'machine-activity', active: true })
  await pass(5 * seconds)
  t.match(await read(), { active: true, activeAt: now() - 5 * seconds })
})

t.test('a session whose process does not reconnect is inactive after the idle time', async t => {
  const { pass, ada, app, process, session, now } = await startWorld(t)
  const beat = next(app, 'ephemeral')
  process.emit('session-alive', { sid: session, time: now() })
  await beat
  const leftAt = now()
  const other = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  await leave(process, app)
  await pass(30 * seconds)
  await leave(other, app)
  await pass(29 * seconds)
  const told = next(app, 'ephemeral')
  await pass(1 * seconds)
  t.same(await told, { type: 'activity', id: session, active: false, activeAt: leftAt + 30 * seconds, thinking: false })
})

t.test('a session whose process reconnects in time stays active', async t => {
  const { pass, ada, app, heard, process, session, now } = await startWorld(t)
  const beat = async (socket: typeof process) => {
    const told = next(app, 'ephemeral')
    socket.emit('session-alive', { sid: session, time: now() })
    await told
  }
  await beat(process)
  await leave(process, app)
  await pass(20 * seconds)
  const back = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  await beat(back)
  heard.ephemerals.length = 0
  await pass(20 * seconds)
  await heard.settled()
  t.same(heard.ephemerals, [])
  t.equal((await sessionOf(ada, session)).active, true)
})

t.test('after ten minutes without a keepalive a session is inactive within a minute', async t => {
  const { pass, app, process, session, now } = await startWorld(t)
  const beat = next(app, 'ephemeral')
  process.emit('session-alive', { sid: session, time: now() })
  await beat
  await pass(5 * seconds)
  await pass(10 * minutes - 6 * seconds)
  const told = next(app, 'ephemeral')
  await pass(61 * seconds)
  t.same(await told, { type: 'activity', id: session, active: false, activeAt: start, thinking: false })
})

t.test("no one can make another account's session or machine look active or inactive [I1, I4]", async t => {
  const { server, pass, ada, app, heard, process, session, now } = await startWorld(t)
  const mallory = await signUp(t, server)
  const evil = await mallory.connect({ clientType: 'session-scoped', sessionId: session })
  const evilMachine = await mallory.connect({ clientType: 'machine-scoped', machineId: 'laptop' })
  const beat = next(app, 'ephemeral')
  process.emit('session-alive', { sid: session, time: now() })
  await beat
  heard.ephemerals.length = 0

  evil.emit('session-end', { sid: session, time: now() })
  evil.emit('session-alive', { sid: session, time: now(), thinking: true })
  evilMachine.emit('machine-alive', { machineId: 'laptop', time: now() })
  await evil.emitWithAck('ping')
  await evilMachine.emitWithAck('ping')
  t.equal((await mallory.call('POST', `/v1/sessions/${session}/archive`)).status, 404)
  await leave(evil, app)
  await leave(evilMachine, app)
  await pass(31 * seconds)
  await heard.settled()
  t.same(heard.ephemerals, [])

  const alive = next(app, 'ephemeral')
  process.emit('session-alive', { sid: session, time: start })
  t.match(await alive, { id: session, active: true }, 'not suppressed by a stranger’s end')
  t.match((await ada.call('GET', '/v1/machines/laptop')).body.machine, { active: false })
})

t.test('invalid keepalives are dropped', async t => {
  const { heard, process, session, now } = await startWorld(t)
  const payloads = [
    undefined,
    null,
    7,
    {},
    { sid: session },
    { sid: 7, time: now() },
    { sid: session, time: 'now' },
    { sid: session, time: Number.NaN }
  ]
  for (const payload of payloads) for (const event of ['session-alive', 'session-end', 'machine-alive']) process.emit(event, payload)
  await process.emitWithAck('ping')
  await heard.settled()
  t.same(heard.ephemerals, [])
})

/** Resolves when the server has seen the connection end: what another one sends after it is answered. */
async function leave(socket: Socket, witness: Socket): Promise<void> {
  socket.disconnect()
  await witness.emitWithAck('ping')
}

t.test("changing the server's date ends no session and delays nothing [C1]", async t => {
  const { ada, pass, wall, session, app, process, heard, now } = await startWorld(t)
  const days = 24 * 60 * minutes
  for (const jump of [-40 * days, 40 * days]) {
    process.emit('session-alive', { sid: session, time: now() })
    await process.emitWithAck('ping')
    wall.ahead += jump
    heard.ephemerals.length = 0
    await pass(2 * minutes)
    t.same(heard.ephemerals, [], 'no sweep takes it for silence')
    const { activeAt } = await sessionOf(ada, session)
    const told = next(app, 'ephemeral')
    process.emit('session-alive', { sid: session, time: now() })
    t.match(await told, { active: true, activeAt: Math.max(activeAt, now()) }, 'devices pass over what is older')
    t.match(await sessionOf(ada, session), { active: true })
  }
  await pass(21 * minutes)
  t.match(await sessionOf(ada, session), { active: false }, 'silence that lasts is told in the end')
})

t.test("silence is judged by the store's time, by one instance at a time, and not while its date was just changed [M7] [C1]", async t => {
  const clock = manualClock()
  const date = { ahead: 0 }
  let isOurs = true
  const swept: number[] = []
  const store = {
    sweepActive: async (before: number) => {
      swept.push(before)
      return []
    },
    sweepPairings: async () => {}
  } as unknown as Store
  const bus = openLocalBus({ onError: error => t.error(error) })
  const presence = new Presence(
    {
      ...{ store, bus, clock, isElsewhere: async () => false },
      now: () => 0,
      time: () => start + clock.now() + date.ahead,
      claim: async () => isOurs
    },
    { idleAfterMs: 1 }
  )
  t.teardown(() => presence.close())
  const pass = async (count: number) => {
    for (let minute = 0; minute < count; minute += 1) {
      clock.advance(minutes)
      await new Promise(setImmediate)
    }
  }
  await pass(1)
  t.same(swept.splice(0), [start - 9 * minutes])
  isOurs = false
  await pass(2)
  t.same(swept, [], 'another instance does it')
  isOurs = true
  for (const jump of [24 * 60 * minutes, -24 * 60 * minutes]) {
    date.ahead += jump
    await pass(10)
    t.same(swept.splice(0), [])
    await pass(1)
    t.equal(swept.splice(0).length, 1, 'and again, once all who are alive were heard')
  }
})

t.test('an end counts for a minute, regardless of date changes [C1]', async t => {
  const { pass, wall, session, app, process, heard, now } = await startWorld(t)
  const ended = next(app, 'ephemeral')
  process.emit('session-end', { sid: session, time: now() })
  const sentBefore = (await ended).activeAt - 1
  wall.ahead -= 60 * minutes
  await pass(61 * seconds)
  heard.ephemerals.length = 0
  process.emit('session-alive', { sid: session, time: sentBefore })
  await process.emitWithAck('ping')
  await app.emitWithAck('ping')
  t.match(heard.ephemerals, [{ type: 'activity', active: true }])
})

t.test('the most recent ones are remembered, up to the limit', async t => {
  const clock = manualClock()
  const asked: string[] = []
  const store = {
    findSession: async (_: unknown, id: SessionId) => {
      asked.push(id)
      return { id, activeAt: 0 } as unknown as SessionRow
    },
    markActive: async () => {}
  } as unknown as Store
  const bus = openLocalBus({ onError: error => t.error(error) })
  const presence = new Presence(
    { store, bus, clock, now: clock.now, time: clock.now, claim: async () => true, isElsewhere: async () => false },
    { idleAfterMs: 1, mostRemembered: 2 }
  )
  t.teardown(() => presence.close())
  const caller = { account: v.parse(accountId, 'ada') } as unknown as Caller
  const beat = (id: string) => presence.alive(caller, { of: 'session', id: v.parse(sessionId, id) }, { time: 0, thinking: false })
  for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await beat(id)
  t.same(asked, ['a', 'b', 'c', 'b'])
})

t.test('a stored machine state is acknowledged even if presence cannot be recorded', async t => {
  const data = t.testdir()
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken: () => {}, clock: Date.now })
  t.teardown(() => store.close())
  let isDeaf = false
  const findMachine: Store['findMachine'] = (account, machine) =>
    isDeaf ? Promise.reject(new Error('not now')) : store.findMachine(account, machine)
  const server = await startServer(t, { store: { ...store, findMachine }, data })
  const ada = await signUp(t, server)
  await ada.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'x' } })
  const daemon = await ada.connect()
  isDeaf = true
  const state = { machineId: 'laptop', daemonState: 'on', expectedVersion: 0 }
  t.same(await daemon.emitWithAck('machine-update-state', state), { result: 'success', version: 1, daemonState: 'on' })
})

/** Somebody with a phone that is told of notices, and computers on which agents work. */
async function startWork(t: Test) {
  const clock = manualClock()
  const now = () => start + clock.now()
  const rang: string[] = []
  const push: Push = async ({ kind }, tokens) => {
    rang.push(kind)
    return tokens.map(token => ({ token, outcome: 'delivered' as const }))
  }
  const server = await startServer(t, { clock, now, push, idleAfterMs: 1 })
  const ada = await signUp(t, server)
  await ada.call('POST', '/v1/push-tokens', { body: { token: 'phone' } })
  const app = await ada.connect()
  const heard = listen(app)
  const pass = (ms: number) => passTime(clock, ms, app)
  const beat = async (process: Socket, session: string, thinking = true) => {
    const told = next(app, 'ephemeral')
    process.emit('session-alive', { sid: session, time: now(), thinking })
    await told
  }
  const come = (session: string) => ada.connect({ clientType: 'session-scoped', sessionId: session })
  const computer = async (thinking = true) => {
    const session = await ada.openSession()
    const process = await come(session)
    await beat(process, session, thinking)
    return { session, process }
  }
  /** Resolves once the server knows that it is gone. */
  const lose = async (process: Socket) => {
    heard.ephemerals.length = 0
    process.disconnect()
    while (heard.ephemerals.length === 0) await pass(1)
  }
  return { rang, ada, app, pass, beat, come, computer, lose, now }
}

t.test('a computer that goes offline while agents work causes one notification, after five minutes [P10]', async t => {
  const { rang, pass, computer, lose } = await startWork(t)
  const [one, other] = [await computer(), await computer()]
  await lose(one.process)
  await lose(other.process)
  await pass(4 * minutes)
  t.same(rang, [])
  await pass(2 * minutes)
  t.same(rang, ['machine'])
  await pass(20 * minutes)
  t.same(rang, ['machine'])
  const again = await computer()
  await lose(again.process)
  await pass(6 * minutes)
  t.same(rang, ['machine', 'machine'], 'the next one is told again')
})

t.test('a computer that reconnects in time, was idle, or ended its session causes no notification [P10]', async t => {
  const { rang, ada, pass, beat, come, computer, lose, now } = await startWork(t)
  const back = await computer()
  await lose(back.process)
  await pass(4 * minutes)
  await beat(await come(back.session), back.session)
  await lose((await computer(false)).process)
  const ended = await computer()
  ended.process.emit('session-end', { sid: ended.session, time: now() })
  await lose(ended.process)
  const removed = await computer()
  await lose(removed.process)
  await ada.call('DELETE', `/v1/sessions/${removed.session}`)
  await pass(20 * minutes)
  t.same(rang, [])
})

const ada = v.parse(accountId, 'ada')
const one: RowRef = { of: 'session', id: v.parse(sessionId, 'one') }
const two: RowRef = { of: 'session', id: v.parse(sessionId, 'two') }
const laptop: RowRef = { of: 'machine', id: v.parse(machineId, 'laptop') }

/** Presence by itself, on rows that a test sets; time begins at an hour, and both clocks agree. */
async function openUnit(t: Test) {
  const clock = manualClock()
  const begin = 60 * minutes
  const now = () => begin + clock.now()
  const rows = new Map<string, { active: boolean; activeAt: number }>(
    [one, two, laptop].map(({ id }) => [id, { active: false, activeAt: 0 }])
  )
  const written: [id: string, active: boolean, at: number][][] = []
  const told: [id: string, active: boolean, at: number, thinking: boolean][] = []
  const asked: string[] = []
  const dropped: string[] = []
  const swept: number[] = []
  const state = { isElsewhere: false, sweeps: [] as { account: typeof ada; row: RowRef; activeAt: number }[], duringWrite: async () => {} }
  const find = async (_: unknown, id: string) => {
    asked.push(id)
    return rows.get(id) ?? 'missing'
  }
  const store = {
    ...{ findSession: find, findMachine: find },
    async markActive(marks: { row: RowRef; active: boolean; at: number }[]) {
      written.push(marks.map(({ row, active, at }) => [row.id, active, at - begin]))
      for (const { row, active, at } of marks) rows.set(row.id, { active, activeAt: at })
      await state.duringWrite()
    },
    sweepActive: async () => state.sweeps.splice(0),
    sweepPairings: async (at: number) => void swept.push(at - begin)
  } as unknown as Store
  const bus = openLocalBus({ onError: error => t.error(error) })
  await bus.subscribe(accountTopic(ada), event => {
    if (event.type !== 'signal' || event.signal.type !== 'presence') return
    const { row, active, at, thinking } = event.signal
    t.equal(event.audience, 'apps')
    told.push([row.id, active, at - begin, thinking])
  })
  const deps = { store, bus, clock, now, time: now, claim: async () => true, isElsewhere: async () => state.isElsewhere }
  const presence = new Presence({ ...deps, onDropped: account => void dropped.push(account) }, { idleAfterMs: 30 * seconds })
  t.teardown(() => presence.close())
  const caller = { account: ada } as unknown as Caller
  return {
    ...{ presence, clock, rows, asked, dropped, swept, state, caller },
    beat: (row = one, { time = now(), thinking = false } = {}) => presence.alive(caller, row, { time, thinking }),
    end: (time?: number) => presence.sessionEnded(caller, v.parse(sessionId, 'one'), time === undefined ? undefined : begin + time),
    written: () => written.splice(0).flat(),
    told: () => told.splice(0),
    async pass(ms: number) {
      clock.advance(ms)
      for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate)
    }
  }
}

t.test('keepalives are told at once, and written together within five seconds and then every thirty', async t => {
  const { beat, pass, told, written } = await openUnit(t)
  await beat(one, { thinking: true })
  await beat(two)
  t.same(told(), [
    ['one', true, 0, true],
    ['two', true, 0, false]
  ])
  await pass(4_999)
  t.same(written(), [])
  await pass(1)
  t.same(written(), [
    ['one', true, 0],
    ['two', true, 0]
  ])
  await pass(24_999)
  await beat()
  await pass(5_000)
  t.same(written(), [], 'the last one was written less than thirty seconds before')
  await beat()
  await pass(5_000)
  t.same(written(), [['one', true, 34_999]])
})

t.test('the owner of a row is looked up again after thirty seconds, and keepalives of a removed row go to nobody', async t => {
  const { asked, beat, pass, rows, told, written } = await openUnit(t)
  await beat()
  await pass(29_999)
  await beat()
  t.same(asked, ['one'])
  rows.delete('one')
  await pass(1)
  told()
  written()
  await beat()
  t.same(asked, ['one', 'one'])
  await beat()
  await pass(5_000)
  t.same([asked.length, told(), written()], [3, [], []])
})

t.test('what was sent before an end does not revive a session, for a minute', async t => {
  const { beat, end, pass, told, written, presence } = await openUnit(t)
  const begin = 60 * minutes
  await beat()
  await pass(10_000)
  await end(9_000)
  t.same(told().slice(1), [['one', false, 9_000, false]])
  t.same(written().slice(1), [['one', false, 9_000]])
  await beat(one, { time: begin + 9_000 })
  t.same(told(), [])
  await beat(one, { time: begin + 9_001 })
  t.same(told(), [['one', true, 9_001, false]])
  await end()
  t.same(told(), [['one', false, 10_000, false]], 'without a time it is now')
  await pass(59_999)
  await beat()
  t.same(told(), [], 'nor is anything else, since nobody knows when it was sent')
  await pass(1)
  await beat()
  t.same(told(), [['one', true, 70_000, false]])
  await end()
  presence.listenAgain(ada, v.parse(sessionId, 'one'))
  await beat()
  t.match(told().at(-1), ['one', true])
})

t.test('a keepalive that comes while an end is written keeps the session active', async t => {
  const { beat, clock, end, state, told } = await openUnit(t)
  await beat()
  told()
  clock.advance(1)
  state.duringWrite = async () => {
    state.duringWrite = async () => {}
    clock.advance(1)
    await beat()
  }
  await end(0)
  t.same(told(), [['one', true, 2, false]])
})

t.test('a session whose process left is inactive after the idle time, unless somebody has heard of it', async t => {
  const cases: [what: string, isInactive: boolean, meanwhile: (world: Awaited<ReturnType<typeof openUnit>>) => unknown][] = [
    ['nothing was heard', true, () => {}],
    ['a keepalive came here', false, ({ beat }) => beat()],
    ['it is connected elsewhere', false, ({ state }) => (state.isElsewhere = true)],
    ['another instance wrote of it later', false, ({ rows }) => rows.set('one', { active: true, activeAt: 61 * minutes + 10_001 })],
    ['another instance wrote of it before', true, ({ rows }) => rows.set('one', { active: true, activeAt: 60 * minutes + 10_000 })],
    ['another instance wrote its end', true, ({ rows }) => rows.set('one', { active: false, activeAt: 61 * minutes + 10_001 })],
    ['it is forgotten', false, ({ presence }) => presence.forget(ada, one)]
  ]
  for (const [what, isInactive, meanwhile] of cases) {
    const world = await openUnit(t)
    await world.beat()
    await world.pass(10_000)
    world.presence.sessionLeft(ada, one)
    await world.pass(29_999)
    await meanwhile(world)
    world.told()
    world.written()
    await world.pass(1)
    t.same(world.told(), isInactive ? [['one', false, 10_000, false]] : [], what)
  }
})

t.test(
  'an account is told once of a computer that went offline while an agent worked, and again after a quarter of an hour [P10]',
  async t => {
    const { beat, dropped, pass, presence } = await openUnit(t)
    const leave = async (row: RowRef, thinking = true) => {
      await beat(row, { thinking })
      presence.sessionLeft(ada, row)
    }
    await leave(one)
    await leave(two)
    await pass(30_000)
    await pass(5 * minutes - 30_001)
    t.same(dropped, [])
    await pass(1)
    t.same(dropped, ['ada'])
    await leave(one)
    await pass(30_000)
    await pass(5 * minutes)
    t.equal(dropped.length, 1)
    await pass(10 * minutes)
    await leave(one, false)
    await pass(30_000)
    await pass(5 * minutes)
    t.equal(dropped.length, 1, 'its agent was idle')
    await leave(one)
    await pass(30_000)
    await pass(5 * minutes)
    t.equal(dropped.length, 2)
  }
)

t.test('a computer that is heard of again is not told of as offline [P10]', async t => {
  const cases: [what: string, meanwhile: (world: Awaited<ReturnType<typeof openUnit>>) => unknown][] = [
    ['a keepalive came', ({ beat }) => beat(one, { thinking: true })],
    ['it ended', ({ end }) => end()],
    ['it is active elsewhere', ({ rows }) => rows.set('one', { active: true, activeAt: 0 })],
    ['it was seen elsewhere since', ({ rows }) => rows.set('one', { active: false, activeAt: 64 * minutes })],
    ['it is removed', ({ rows }) => rows.delete('one')]
  ]
  for (const [what, meanwhile] of cases) {
    const world = await openUnit(t)
    await world.beat(one, { thinking: true })
    world.presence.sessionLeft(ada, one)
    await world.pass(30_000)
    await world.pass(3 * minutes)
    await meanwhile(world)
    await world.pass(2 * minutes)
    t.same(world.dropped, [], what)
  }
})

t.test('a machine is active from its connection on, and inactive without one unless it is connected elsewhere', async t => {
  const { pass, presence, rows, state, told, written } = await openUnit(t)
  await presence.machineCame(ada, laptop)
  t.same([told(), written()], [[['laptop', true, 0, false]], [['laptop', true, 0]]])
  await pass(10)
  state.isElsewhere = true
  await presence.machineLeft(ada, laptop)
  t.same([told(), written()], [[], []])
  state.isElsewhere = false
  await presence.machineLeft(ada, laptop)
  t.same([told(), written()], [[['laptop', false, 10, false]], [['laptop', false, 10]]])
  state.duringWrite = () => Promise.reject(new Error('The disk is full.'))
  await presence.machineCame(ada, laptop)
  t.same(told(), [['laptop', true, 10, false]], 'clients are told all the same')
  rows.clear()
  await pass(30_000)
  await presence.machineCame(ada, laptop)
  await presence.machineLeft(ada, laptop)
  t.same(told(), [])
})

t.test('a session that was silent for long is told of as inactive, and old pairing requests are removed', async t => {
  const { pass, state, swept, told } = await openUnit(t)
  state.sweeps = [{ account: ada, row: one, activeAt: 60 * minutes - 5 }]
  await pass(minutes)
  t.same(told(), [['one', false, -5, false]])
  t.same(swept, [minutes])
})

t.test('closing writes what is unwritten, except of forgotten rows, and leaves no timer', async t => {
  const { beat, clock, presence, written } = await openUnit(t)
  await beat(one)
  await beat(two)
  presence.sessionLeft(ada, two)
  presence.forget(ada, one)
  await presence.close()
  t.same(written(), [['two', true, 0]])
  t.equal(clock.pending, 0)
})
