import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { failure } from '../../../../lib/protocol/wire/failures.ts'
import { maxPacketBytes } from '../../../../lib/protocol/wire/handshake.ts'
import { Budget } from '../../../../lib/server/budget.ts'
import type { Accepted } from '../../../../lib/server/edge/socket/accepted.ts'
import type { EngineConnection } from '../../../../lib/server/edge/socket/engineio.ts'
import { EventQueue } from '../../../../lib/server/edge/socket/event-queue.ts'
import { SocketConnection, type SocketDeps } from '../../../../lib/server/edge/socket/socketio.ts'
import { unlimited } from '../../../../lib/server/limits.ts'
import { StoreBusy } from '../../../../lib/store/store.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const bearer = { account: 'ada', token: 't', kind: 'app', scopes: ['read', 'write'], device: null }
const mostBytesBeforeConnect = 16 * 1024

/** A connection whose every effect is noted in order: on its engine, on the hub, on the presence, and on the limits. */
function openSocket(given: object = {}) {
  const notes: string[] = []
  const errors: unknown[] = []
  const accepted: Accepted[] = []
  const note = (...words: unknown[]) =>
    void notes.push(words.map(word => (typeof word === 'string' ? word : JSON.stringify(word))).join(' '))
  const clock = manualClock()
  let lastId = 0
  const deps = {
    hub: {
      async attach(connection: Accepted) {
        accepted.push(connection)
        note('attach', connection.id)
      },
      detach: ({ id }: Accepted) => note('detach', id),
      hasOwn: () => false
    },
    presence: {
      machineCame: async (account: string, { id }: { id: string }) => note('machine came', account, id),
      machineLeft: async (account: string, { id }: { id: string }) => note('machine left', account, id),
      listenAgain: (account: string, id: string) => note('listens again to', account, id),
      sessionLeft: (account: string, { id }: { id: string }) => note('session left', account, id)
    },
    clock,
    newId: () => `c${++lastId}`,
    nextAckId: () => 9,
    authenticator: { bearer: async () => bearer },
    seats: {
      take(account: string) {
        note('takes the seat of', account)
        return () => note('leaves the seat')
      }
    },
    events: {
      answerBytes: () => 0,
      refuse: (name: string) => note('refuses', name),
      async handle(_: Accepted, name: string, payload: unknown, reply?: (body: unknown) => void) {
        note('handles', name, payload ?? '')
        reply?.({ done: name })
      }
    },
    limits: unlimited,
    securityLog: { rejected: (what: object) => note('rejected', what) },
    bodies: new Budget(100_000),
    eventQueue: new EventQueue(),
    inFlight: { isClosing: false },
    onError: (error: unknown) => errors.push(error),
    ...given
  } as unknown as SocketDeps
  // What a SocketConnection calls of its engine, and nothing else.
  const engine = {
    address: '192.0.2.7',
    network: 'its network',
    send: (frame: string) => note(frame),
    close: (why: string) => note('closes', why),
    signedIn: (account: string) => {
      note('signed in', account)
      return true
    },
    signedOut: () => note('signed out'),
    ...(given as { engine?: object }).engine
  } as unknown as EngineConnection
  const socket = new SocketConnection(deps, engine)
  const say = async (data: string | Buffer, isOverPace = false) => {
    const before = notes.length
    socket.message(data, isOverPace)
    await turnEnds()
    return notes.slice(before)
  }
  const connect = (hello: object = {}) => say(`0${JSON.stringify({ token: 't', ...hello })}`)
  const close = () => {
    const before = notes.length
    socket.closed()
    return notes.slice(before)
  }
  return { socket, clock, notes, errors, accepted, note, say, connect, close }
}

const machine = { clientType: 'machine-scoped', machineId: 'm' }
const session = { clientType: 'session-scoped', sessionId: 's' }
const welcomed = ['takes the seat of ada', 'attach c1', 'signed in ada', '40{"sid":"c1"}']

t.test('a connection is in the hub before its client hears that it is accepted [S2]', async t => {
  const { connect } = openSocket()
  t.same(await connect(), welcomed)
})

t.test('who does not sign in within 20 s is closed, and nobody else is', async t => {
  const late = openSocket()
  late.clock.advance(19_999)
  t.same(late.notes, [])
  late.clock.advance(1)
  t.same(late.notes, ['closes connect-timeout'])

  const inTime = openSocket()
  await inTime.connect()
  t.equal(inTime.clock.pending, 0)
  const gone = openSocket()
  gone.close()
  t.equal(gone.clock.pending, 0)
  const refused = openSocket({ authenticator: { bearer: async () => undefined } })
  await refused.connect()
  t.equal(refused.clock.pending, 1, 'who was refused has no more time')
})

t.test('a stranger sends 16 KiB at most, and an accepted client a whole packet', async t => {
  const { socket, say, connect } = openSocket()
  const filled = (bytes: number) => `0{"token":"${'x'.repeat(bytes - '0{"token":""}'.length)}"}`
  t.equal(socket.mostBytes, mostBytesBeforeConnect)
  t.same(await say(filled(mostBytesBeforeConnect + 1)), ['closes bad-packet'])
  t.same(await say(filled(mostBytesBeforeConnect)), ['44{"message":"Missing authentication token"}'])
  await connect()
  t.equal(socket.mostBytes, maxPacketBytes)
  t.match(await say(`2["${'x'.repeat(mostBytesBeforeConnect)}"]`), [/^handles x/])
  await say('1')
  t.equal(socket.mostBytes, mostBytesBeforeConnect, 'and is a stranger again when they leave')
})

t.test('a stranger can only sign in [N6]', async t => {
  for (const packet of ['2["ping"]', '30[]', '1', '51-["ping",{"_placeholder":true,"num":0}]', 'x', '']) {
    t.same(await openSocket().say(packet), ['closes bad-packet'], packet)
  }
  t.same(await openSocket().say(Buffer.from('x')), ['closes bad-packet'])
})

t.test('nobody signs in twice, nor while they do [N6]', async t => {
  const { connect } = openSocket()
  await connect()
  t.same(await connect(), ['closes bad-packet'])
  const hasty = openSocket()
  hasty.socket.message('0{"token":"t"}', false)
  t.same((await hasty.connect())[0], 'closes bad-packet')
})

t.test('another namespace is rejected by name, and changes nothing', async t => {
  const { say, connect } = openSocket()
  t.same(await say('0/admin,{"token":"t"}'), ['44/admin,{"message":"Invalid namespace"}'])
  t.same(await connect(), welcomed)
  t.same(await say('0/admin,{"token":"t"}'), ['44/admin,{"message":"Invalid namespace"}'])
  t.same(await say('2["ping"]'), ['handles ping '])
})

t.test('a rejected sign-in is noted for the operator, and may be tried again', async t => {
  const at = '"address":"192.0.2.7","route":"socket"'
  const table: [hello: object, token: unknown, notes: string[]][] = [
    [{ clientType: 'session-scoped' }, bearer, ['44{"message":"Session ID required for session-scoped clients"}']],
    [{ clientType: 'machine-scoped', sessionId: 's' }, bearer, ['44{"message":"Machine ID required for machine-scoped clients"}']],
    [{}, undefined, [`rejected {${at},"code":"bad-token"}`, '44{"message":"Invalid authentication token"}']],
    [
      {},
      { ...bearer, scopes: ['answer'] },
      [`rejected {${at},"code":"scope-missing"}`, '44{"message":"This token is not allowed to do this"}']
    ]
  ]
  for (const [hello, token, notes] of table) {
    let known = token
    const { connect } = openSocket({ authenticator: { bearer: async () => known } })
    t.same(await connect(hello), notes)
    known = bearer
    t.same((await connect()).at(-1), '40{"sid":"c1"}')
  }
})

t.test('a token is judged by the network it comes from [A8]', async t => {
  const asked: unknown[] = []
  const { connect } = openSocket({
    authenticator: {
      async bearer(token: string, network: () => string) {
        asked.push(token, network())
        return bearer
      }
    }
  })
  await connect()
  t.same(asked, ['t', 'its network'])
})

t.test('a client that cannot be accepted now is told to come again, and not that it is rejected', async t => {
  const fault = new TypeError('no such column')
  const fail = (error: unknown) => ({
    authenticator: {
      async bearer() {
        throw error
      }
    }
  })
  const faulty = openSocket(fail(fault))
  t.same(await faulty.connect(), ['closes try-again'])
  t.same(faulty.errors, [fault])

  const busy = openSocket(fail(new StoreBusy()))
  t.same(await busy.connect(), ['rejected {"address":"192.0.2.7","route":"socket","code":"storage-busy"}', 'closes try-again'])
  t.same(busy.errors, [], 'what is known to happen is not reported')

  const crowded = openSocket({ seats: { take: () => undefined } })
  t.same(await crowded.connect(), ['closes try-again'])

  const deaf = openSocket({ engine: { signedIn: () => false } })
  t.same(await deaf.connect(), ['takes the seat of ada', 'attach c1', 'detach c1', 'closes try-again'])
  t.same(deaf.close(), ['leaves the seat'])
})

t.test('a client that connects too often is noted, and takes no seat [B5]', async t => {
  const { connect, errors } = openSocket({
    limits: {
      ...unlimited,
      take(name: string, account: string) {
        if (name === 'connects' && account === 'ada') throw failure('busy')
      }
    }
  })
  t.same(await connect(), ['rejected {"address":"192.0.2.7","route":"socket","code":"busy"}', 'closes try-again'])
  t.same(errors, [])
})

t.test('a seat that others need ends the connection, which may come again', async t => {
  let makeRoom = () => {}
  const { connect, notes } = openSocket({
    seats: {
      take(_: string, give: () => void) {
        makeRoom = give
        return () => {}
      }
    }
  })
  await connect()
  makeRoom()
  t.equal(notes.at(-1), 'closes try-again')
})

t.test('a client that leaves while it signs in is not accepted', async t => {
  for (const known of [bearer, undefined]) {
    const asked = Promise.withResolvers<unknown>()
    const { socket, say, close } = openSocket({ authenticator: { bearer: () => asked.promise }, securityLog: undefined })
    socket.message('0{"token":"t"}', false)
    t.same(close(), [])
    asked.resolve(known)
    await turnEnds()
    t.equal((await say('0{"token":"t"}')).at(-1), 'closes bad-packet')
  }
})

t.test('a client that leaves while it is added to the hub is removed from it again', async t => {
  const added = Promise.withResolvers<void>()
  const { connect, close, notes } = openSocket({
    hub: { attach: () => added.promise, detach: ({ id }: Accepted) => notes.push(`detach ${id}`) }
  })
  t.same(await connect(), ['takes the seat of ada'])
  t.same(close(), ['leaves the seat'])
  added.resolve()
  await turnEnds()
  t.same(notes.slice(2), ['detach c1', 'closes try-again'])
})

t.test('a connection that ends leaves everything it had, once', async t => {
  const { connect, close, accepted, clock } = openSocket()
  await connect(machine)
  t.same(close(), ['leaves the seat', 'detach c1', 'machine left ada m'])
  t.ok(accepted[0]?.hasEnded)
  t.same(close(), [])
  t.equal(clock.pending, 0)
})

t.test('a client that leaves the namespace keeps its transport, and can sign in again', async t => {
  const { say, connect, accepted } = openSocket()
  await connect(session)
  t.same(await say('1'), ['leaves the seat', 'detach c1', 'session left ada s', 'signed out'])
  t.ok(accepted[0]?.hasEnded)
  t.equal((await connect()).at(-1), '40{"sid":"c2"}')
})

t.test('a process counts as present while it is connected, and an app or a reader never does', async t => {
  const come = async (hello: object, given: object = {}) => {
    const { connect, close } = openSocket(given)
    const notes = [...(await connect(hello)), ...close()]
    return notes.filter(note => /^(machine|session|listens)/.test(note))
  }
  t.same(await come(machine), ['machine came ada m', 'machine left ada m'])
  t.same(await come(session), ['listens again to ada s', 'session left ada s'])
  t.same(await come({}), [])
  t.same(await come(machine, { authenticator: { bearer: async () => ({ ...bearer, scopes: ['read'] }) } }), [])
  const hub = { attach: async () => {}, detach() {}, hasOwn: (account: string, { id }: { id: string }) => account === 'ada' && id === 'm' }
  t.same(await come(machine, { hub }), ['machine came ada m'], 'one that reconnected already has not left')
})

t.test('a fault while presence is noted is reported', async t => {
  const fault = new TypeError('no such column')
  const reject = async () => {
    throw fault
  }
  const { connect, close, errors } = openSocket({ presence: { machineCame: reject, machineLeft: reject } })
  await connect(machine)
  t.same(errors, [fault])
  close()
  await turnEnds()
  t.same(errors, [fault, fault])
})

t.test('an event is acknowledged under its number, and its answer counts for the account [B5]', async t => {
  const charged: unknown[] = []
  const { say, connect } = openSocket({
    limits: {
      ...unlimited,
      charge: (...count: unknown[]) => count[0] === 'socketAnswers' && charged.push(count)
    }
  })
  await connect()
  const frame = '437[{"done":"ping"}]'
  t.same(await say('27["ping",{"a":1}]'), ['handles ping {"a":1}', frame])
  t.same(charged, [['socketAnswers', 'ada', frame.length]])
  t.same(await say('2["ping"]'), ['handles ping '])
  t.same(await say('20["ping"]'), ['handles ping ', '430[{"done":"ping"}]'])
})

t.test('an answer for who left does not reach who signed in after them', async t => {
  let answer = (_: unknown) => {}
  const { say, connect, notes } = openSocket({
    events: {
      answerBytes: () => 0,
      async handle(_: Accepted, __: string, ___: unknown, reply: (body: unknown) => void) {
        answer = reply
      }
    }
  })
  await connect()
  await say('27["ping"]')
  await say('1')
  await connect()
  const before = notes.length
  answer({ secret: true })
  t.same(notes.slice(before), [])
})

t.test('an acknowledgement reaches who asked', async t => {
  const { say, connect, accepted } = openSocket()
  await connect()
  const replies: unknown[] = []
  accepted[0]?.ask('rpc-request', {}, reply => replies.push(reply))
  await say('39["done"]')
  t.same(replies, ['done'])
})

t.test('an event with bytes is handled when they have come', async t => {
  const { say, connect } = openSocket()
  await connect()
  t.same(await say('52-["e",{"b":{"_placeholder":true,"num":0},"c":{"_placeholder":true,"num":1}}]'), [])
  t.same(await say(Buffer.from('x')), [])
  t.same(await say(Buffer.from('y')), [`handles e {"b":${JSON.stringify(Buffer.from('x'))},"c":${JSON.stringify(Buffer.from('y'))}}`])
  t.same(await say('2["ping"]'), ['handles ping '])
  t.same(await say(Buffer.from('z')), ['closes bad-packet'])
})

t.test('once the server ends no event is begun [L1]', async t => {
  const inFlight = { isClosing: false }
  const { say, connect } = openSocket({ inFlight })
  await connect()
  inFlight.isClosing = true
  t.same(await say('27["ping"]'), [])
})

t.test('an event that came too fast is refused, and without an acknowledgement its connection ends [B5]', async t => {
  const { say, connect } = openSocket()
  await connect()
  t.same(await say('27["ping"]', true), ['refuses ping'])
  t.same(await say('2["ping"]', true), ['refuses ping', 'closes too-fast'])
})

t.test('an event behind too many is refused, and its connection ends [B5]', async t => {
  const { say, connect } = openSocket({ eventQueue: { take: () => undefined } })
  await connect()
  t.same(await say('27["ping"]'), ['refuses ping', 'closes too-fast'])
})

t.test('an event waits as long as its account is busy, and is queued by the size of its answer', async t => {
  const taken: unknown[] = []
  const { say, connect } = openSocket({
    events: { answerBytes: (name: string) => name.length },
    eventQueue: {
      take: (...[account, bytes]: unknown[]) => {
        taken.push(account, bytes)
        return new Promise(() => {})
      }
    }
  })
  await connect()
  t.same(await say('27["ping"]'), [])
  t.same(taken, ['ada', 4])
})

t.test('packets of an account are counted before they are read, and too many end the connection [B5]', async t => {
  const counted: unknown[] = []
  let isReached = (_: string) => false
  const count =
    (how: string) =>
    (name: string, ...rest: unknown[]) => {
      if (name === 'connects') return
      if (isReached(name)) throw failure('busy')
      counted.push([how, name, ...rest].join(' '))
    }
  const { say, connect } = openSocket({ limits: { take: count('take'), check: count('check'), charge: count('charge') } })
  await connect()
  t.same(counted, [], 'a sign-in counts elsewhere')
  const little = `2["${'x'.repeat(1024 - '2[""]'.length)}"]`
  await say(little)
  t.same(counted.splice(0), ['take socketPackets ada', 'charge socketBytes ada 1024'])
  const large = `2["${'x'.repeat(1025 - '2[""]'.length)}"]`
  await say(large)
  t.same(counted.splice(0), ['take socketPackets ada', 'check socketBytes ada', 'charge socketBytes ada 1025'])

  const refused = ['rejected {"address":"192.0.2.7","route":"socket","code":"busy"}', 'closes too-fast']
  isReached = name => name === 'socketBytes'
  t.same(await say(large), refused)
  t.same(counted.splice(0), ['take socketPackets ada'])
  isReached = name => name === 'socketPackets'
  t.same(await say(little), refused)
  t.same(counted, [], 'what is refused is not charged')
})

t.test('what arrived counts until it is handled, also in parts and of a connection that ended [B2]', async t => {
  const budget = new Budget(10_000)
  const works: PromiseWithResolvers<void>[] = []
  const events = {
    answerBytes: () => 0,
    refuse() {},
    handle() {
      const work = Promise.withResolvers<void>()
      works.push(work)
      return work.promise
    }
  }
  const { say, connect, close } = openSocket({ bodies: budget, events })
  // The account may hold half.
  const left = () => {
    const share = budget.share('ada')
    let bytes = 0
    while (share.take(100)) bytes += 100
    share.giveBack()
    return bytes
  }
  // So that it holds something else: otherwise it could exceed its half.
  budget.share('ada').take(100)
  const whole = left()
  await connect()
  await say(`2["${'x'.repeat(1995)}"]`)
  t.equal(left(), whole - 2000, 'an event until it is over')
  works[0]?.resolve()
  await turnEnds()
  t.equal(left(), whole)

  await say(`51-["e",{"_placeholder":true,"num":0}${' '.repeat(1100)}]`)
  const announced = left()
  t.ok(announced < whole - 1000, 'one whose bytes are still to come')
  await say(Buffer.alloc(500))
  t.equal(left(), announced - 500, 'with each of them, however little')
  works[1]?.resolve()
  await turnEnds()
  t.equal(left(), whole)

  await say('51-["e",{"_placeholder":true,"num":0}]')
  await say(`30[${' '.repeat(2000)}]`)
  await say(`51-["e",{"_placeholder":true,"num":0}${' '.repeat(1100)}]`)
  close()
  t.equal(left(), whole, 'and an unfinished one ends with its connection')
})

t.test('what is handled at once counts no longer', async t => {
  const budget = new Budget(10_000)
  const { say, connect } = openSocket({ bodies: budget })
  await connect()
  // So that the account holds something else: otherwise it could exceed its half.
  budget.share('ada').take(100)
  for (let time = 0; time < 10; time++) t.same(await say(`30[${' '.repeat(3000)}]`), [])
  for (let time = 0; time < 10; time++) t.same(await say(`27["e"${' '.repeat(3000)}]`, true), ['refuses e'])
})

t.test('more than an account may hold ends the connection that sent it [B2]', async t => {
  const { say, connect } = openSocket({
    bodies: new Budget(1),
    events: { answerBytes: () => 0, handle: () => new Promise(() => {}) }
  })
  await connect()
  t.same(await say(`2["${'x'.repeat(2000)}"]`), [], 'one that is alone may')
  t.same(await say(`2["${'x'.repeat(2000)}"]`), ['closes too-fast'])
})
