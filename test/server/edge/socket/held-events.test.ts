import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { tooMany } from '../../../../lib/protocol/wire/failures.ts'
import type { AccountId } from '../../../../lib/protocol/wire/ids.ts'
import { Budget } from '../../../../lib/server/budget.ts'
import type { Accepted } from '../../../../lib/server/edge/socket/accepted.ts'
import type { EngineConnection } from '../../../../lib/server/edge/socket/engineio.ts'
import { EventQueue } from '../../../../lib/server/edge/socket/event-queue.ts'
import { createEventHandlers } from '../../../../lib/server/edge/socket/events.ts'
import { SocketConnection, type SocketDeps } from '../../../../lib/server/edge/socket/socketio.ts'
import { createLimits, type Limits, unlimited } from '../../../../lib/server/limits.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

function openSockets(limits: Pick<Limits, 'check' | 'charge' | 'take'>) {
  const works: PromiseWithResolvers<void>[] = []
  const errors: unknown[] = []
  const refused: string[] = []
  const deps = {
    hub: { attach: async () => {}, detach() {} },
    clock: manualClock(),
    newId: () => 'id',
    nextAckId: () => 1,
    authenticator: { bearer: async () => ({ account: 'ada', token: 't', kind: 'app', scopes: ['read', 'write'], device: null }) },
    seats: { take: () => () => {} },
    events: {
      answerBytes: () => 0,
      refuse: (name: string, reply?: (body: unknown) => void) => {
        refused.push(name)
        reply?.(undefined)
      },
      handle() {
        const work = Promise.withResolvers<void>()
        works.push(work)
        return work.promise
      }
    },
    limits,
    bodies: new Budget(10_000),
    eventQueue: new EventQueue(),
    inFlight: { isClosing: false },
    onError: (error: unknown) => errors.push(error)
  } as unknown as SocketDeps
  const open = async () => {
    const closed: string[] = []
    // What a SocketConnection calls of its engine, and nothing else.
    const engine = { send() {}, close: (why: string) => closed.push(why), signedIn: () => true } as unknown as EngineConnection
    const socket = new SocketConnection(deps, engine)
    socket.message('0{"token":"t"}', false)
    await turnEnds()
    const say = (bytes: number, isOverPace = false) => socket.message(`2["message","${'x'.repeat(bytes)}"]`, isOverPace)
    return { closed, say }
  }
  return { works, errors, refused, open }
}

t.test('unhandled events count together per account, handled ones no longer [B2]', async t => {
  const { works, open } = openSockets(unlimited)
  const [one, two] = [await open(), await open()]
  one.say(2_000)
  two.say(2_000)
  one.say(500)
  works[0]?.resolve()
  await turnEnds()
  two.say(2_000)
  t.same([one.closed, two.closed], [[], []], 'a little one is never too much')
  one.say(2_000)
  t.same([one.closed, two.closed], [['too-fast'], []])
})

t.test('packets of all sockets of an account count together, however many sockets it has [B5]', async t => {
  const clock = manualClock()
  const { open } = openSockets(createLimits({ clock }))
  const sockets = await Promise.all(Array.from({ length: 10 }, open))
  for (const { say } of sockets.slice(0, 8)) for (let sent = 0; sent < 1_990; sent++) say(1)
  const isClosed = () => sockets.map(({ closed }) => closed[0] === 'too-fast')
  for (let sent = 0; sent < 80; sent++) sockets[8]?.say(1)
  t.notOk(isClosed().includes(true), 'so many may come at once')
  sockets[8]?.say(1)
  t.ok(isClosed()[8])
  clock.advance(1_000)
  sockets[9]?.say(1)
  t.notOk(isClosed()[9], 'after a second others may come')
})

t.test('an event that comes too fast, or behind too many, is counted before its connection is closed [B5]', async t => {
  const { refused, open } = openSockets(unlimited)
  const fast = await open()
  fast.say(1, true)
  t.same([fast.closed, refused], [['too-fast'], ['message']])
  const behind = await open()
  while (behind.closed.length === 0) behind.say(1)
  t.same([behind.closed, refused], [['too-fast'], ['message', 'message']])
})

t.test('a fault while packets or connections are counted is reported, and a reached limit is not', async t => {
  const fault = new TypeError('no such counter')
  for (const broken of ['connects', 'socketPackets']) {
    const take = (name: string) => {
      if (name === broken) throw fault
    }
    const { errors, open } = openSockets({ ...unlimited, take })
    const { closed, say } = await open()
    if (broken === 'socketPackets') say(1)
    t.same(closed, [broken === 'connects' ? 'try-again' : 'too-fast'])
    t.same(errors, [fault])
  }
  const reached = () => {
    throw tooMany(1)
  }
  const { errors, open } = openSockets({ ...unlimited, take: reached })
  t.same((await open()).closed, ['try-again'])
  t.same(errors, [])
})

t.test('a method is not registered for a connection that left while its event waited [R2]', async t => {
  const registered: string[] = []
  // What registering uses, and nothing else.
  const deps = {
    hub: { register: (_: Accepted, method: string) => registered.push(method) },
    metrics: { eventTaken() {} },
    inFlight: { begin: () => () => {} },
    limits: unlimited,
    onError: t.error
  } as unknown as Parameters<typeof createEventHandlers>[0]
  const events = createEventHandlers(deps)
  const connection = (hasEnded: boolean) => {
    const scopes = ['read', 'write', 'call', 'answer']
    return {
      hasEnded,
      scope: { of: 'session', id: 's' },
      methods: new Set(),
      sender: { scopes, kind: 'app' },
      writes() {}
    } as unknown as Accepted
  }
  await events.handle(connection(true), 'rpc-register', { method: 's:late' }, undefined)
  await events.handle(connection(false), 'rpc-register', { method: 's:here' }, undefined)
  t.same(registered, ['s:here'])
})

t.test('a message that meets a bug each time it is sent closes few connections, and then is dropped [X6]', async t => {
  const errors: Error[] = []
  const bug = new TypeError('no such column')
  const deps = {
    store: {
      async appendMessages() {
        throw bug
      }
    },
    metrics: { eventTaken() {} },
    inFlight: { begin: () => () => {} },
    limits: unlimited,
    now: () => 1,
    quotas: () => ({}),
    onError: (error: Error) => errors.push(error)
  } as unknown as Parameters<typeof createEventHandlers>[0]
  const events = createEventHandlers(deps)
  const closed: string[] = []
  const send = (localId: string) => {
    const connection = {
      account: 'ada',
      sender: { scopes: ['read', 'write'], kind: 'app', account: 'ada' },
      close: (why: string) => closed.push(`${localId} ${why}`),
      writes() {}
    } as unknown as Accepted
    return events.handle(connection, 'message', { sid: 's', message: 'aGk=', localId }, undefined)
  }
  for (let tries = 0; tries < 7; tries++) await send('poison')
  await send('another')
  t.same(closed, [...Array.from({ length: 4 }, () => 'poison try-again'), 'another try-again'])
  t.equal(errors.length, 8, 'each is reported')
  t.equal(errors[6]?.cause, bug)
})

t.test('no more calls of an account begin in one turn than other events, however many come at once', async t => {
  let begun = 0
  const call = () => {
    begun += 1
    return new Promise(() => {})
  }
  // What calling uses, and nothing else.
  const deps = {
    calls: { call },
    metrics: { eventTaken() {} },
    inFlight: { begin: () => () => {} },
    limits: unlimited,
    onError: t.error
  } as unknown as Parameters<typeof createEventHandlers>[0]
  const events = createEventHandlers(deps)
  const connection = { sender: { scopes: ['call'], kind: 'app' } } as unknown as Accepted
  const queue = new EventQueue()
  for (let come = 0; come < 300; come++) {
    queue.take('ada' as AccountId, 0, () => events.handle(connection, 'rpc-call', { method: 's:m', params: 'x' }, undefined))
    // As between two packets that came together.
    await Promise.resolve()
  }
  t.equal(begun, 128)
  for (let turn = 0; turn < 6; turn++) await turnEnds()
  t.equal(begun, 300)
})
