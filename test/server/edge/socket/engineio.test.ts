import t from 'tap'
import { maxPacketBytes } from '../../../../lib/protocol/wire/handshake.ts'
import type { AdmittedConnection } from '../../../../lib/server/edge/socket/connection-admission.ts'
import { EngineConnection, type EngineDeps, type Transport } from '../../../../lib/server/edge/socket/engineio.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

/** A connection whose turns end when the test says so, with notes of all that it asks of others. */
function open(given: { limits?: 'default' | 'off'; transport?: object; admitted?: object; sid?: string } = {}) {
  const clock = manualClock()
  const notes: string[] = []
  const writers = new Set<{ flush(): void }>()
  let handler = { mostBytes: 7, closed: () => void notes.push('handler closed') }
  const deps = {
    heartbeat: { alive: () => notes.push('alive'), leave: () => notes.push('leaves the heartbeat') },
    turn: { write: (writer: { flush(): void }) => writers.add(writer) },
    newId: () => 'new',
    clock,
    limits: given.limits ?? 'default',
    accept() {
      handler = Object.assign(handler, {
        message: (data: string | Buffer, isOver: boolean) => void notes.push(`message ${data.length}${isOver ? ' over' : ''}`)
      })
      return handler
    }
  } as unknown as EngineDeps
  const transport = {
    upgrades: ['websocket'],
    readAt: undefined as number | undefined,
    write(packets: readonly string[]) {
      notes.push(packets.join(' '))
      return true
    },
    signedIn(account: string, network: string) {
      notes.push(`transport of ${account} in ${network}`)
      return true
    },
    signedOut: () => 'usual',
    end: (why: string) => notes.push(`ends ${why}`),
    ...given.transport
  }
  const admitted = {
    network: 'net',
    address: 'addr',
    onCrowded() {},
    signedIn: () => notes.push('admitted signed in'),
    signedOut(packetSize: string, _: () => void) {
      notes.push(`stays with ${packetSize}`)
      return true
    },
    leave: () => notes.push('admitted left'),
    ...given.admitted
  }
  const engine = new EngineConnection(
    transport as unknown as Transport,
    deps,
    admitted as unknown as AdmittedConnection,
    ...(given.sid === undefined ? [] : [given.sid])
  )
  engine.onEnd = () => notes.push('over')
  const endTurn = () => {
    const due = [...writers]
    writers.clear()
    for (const writer of due) writer.flush()
  }
  /** What happened since the last call, in order; who is told of an end comes last, since their order is nobody's business. */
  const taken = () => {
    const all = notes.splice(0)
    return [...all.filter(note => !toldOfEnd.includes(note)), ...all.filter(note => toldOfEnd.includes(note)).toSorted()]
  }
  return { engine, transport, admitted, clock, handler, endTurn, taken, writers }
}

const toldOfEnd = ['admitted left', 'handler closed', 'leaves the heartbeat', 'over']
const ended = (why: string) => [`ends ${why}`, ...toldOfEnd]

t.test('a connection is told its id, its upgrades and its timing at once, and is pinged from then on', async t => {
  const { engine, transport, taken } = open()
  const rest = `"upgrades":["websocket"],"pingInterval":15000,"pingTimeout":45000,"maxPayload":${maxPacketBytes}`
  t.same(taken(), [`0{"sid":"new",${rest}}`, 'alive'])
  t.same([engine.network, engine.address, engine.mostBytes, engine.isSignedIn], ['net', 'addr', 7, false])
  t.ok(engine.isOn(transport as unknown as Transport))
  t.match(open({ sid: 'given' }).taken()[0], '{"sid":"given"')
})

t.test('frames of one turn are written together, and none after the end', async t => {
  const { engine, endTurn, taken, writers } = open()
  taken()
  engine.send('a')
  engine.send('b')
  t.equal(writers.size, 1)
  t.same(taken(), [])
  endTurn()
  t.same(taken(), ['a b'])
  endTurn()
  engine.flush()
  t.same(taken(), [])
  engine.send('c')
  endTurn()
  t.same(taken(), ['c'])
  engine.close('bad-packet')
  taken()
  engine.send('d')
  t.equal(writers.size, 0)
})

t.test('an ending connection still says what it had to, and ends everything once', async t => {
  const { engine, endTurn, taken } = open()
  taken()
  engine.send('a')
  engine.close('bad-packet')
  t.same(taken(), ['a', ...ended('bad-packet')])
  t.equal(engine.endedBy, 'bad-packet')
  t.equal(engine.mostBytes, 0)
  engine.close('too-fast')
  engine.gone()
  endTurn()
  engine.receive('42["ping"]')
  engine.receiveBinary(Buffer.from('x'))
  t.same(taken(), [])
  t.equal(engine.endedBy, 'bad-packet')
})

t.test('a connection that does not read is closed without more to read [B1]', async t => {
  let isNear = true
  const { engine, endTurn, taken } = open({ transport: { write: () => isNear } })
  isNear = false
  taken()
  engine.send('a')
  endTurn()
  t.same(taken(), ended('slow-consumer'))
  const waiting = open()
  waiting.taken()
  waiting.engine.send('a')
  waiting.engine.close('slow-consumer')
  t.same(waiting.taken(), ended('slow-consumer'))
})

t.test('a transport that is gone ends the connection without a word to it', async t => {
  const { engine, taken } = open()
  taken()
  engine.send('a')
  engine.gone()
  t.same(taken(), toldOfEnd)
  t.equal(engine.endedBy, 'client-left')
})

t.test('a connection counts for its account while signed in, and may leave more unread', async t => {
  const { engine, taken } = open()
  taken()
  t.equal(engine.mostUnreadBytes, 64 * 1024)
  t.equal(engine.signedIn('ada'), true)
  t.same(taken(), ['admitted signed in', 'transport of ada in net'])
  t.same([engine.account, engine.isSignedIn, engine.mostUnreadBytes], ['ada', true, 1024 * 1024])
  engine.signedOut()
  t.same(taken(), ['stays with usual'])
  t.same([engine.account, engine.mostUnreadBytes], [undefined, 64 * 1024])
  t.equal(open({ transport: { signedIn: () => false } }).engine.signedIn('ada'), false)
  engine.gone()
  t.equal(engine.signedIn('ada'), false, 'not one that is over')
})

t.test('who signed out and has no place as a stranger is closed, now or when others need it', async t => {
  const none = open({ admitted: { signedOut: () => false } })
  none.taken()
  none.engine.signedOut()
  t.same(none.taken(), ended('client-left'))

  let makeRoom = () => {}
  const lent = open({
    admitted: {
      signedOut(_: string, room: () => void) {
        makeRoom = room
        return true
      }
    }
  })
  lent.engine.signedOut()
  lent.taken()
  makeRoom()
  t.same(lent.taken(), ended('crowded'))

  const crowded = open()
  crowded.taken()
  crowded.admitted.onCrowded()
  t.same(crowded.taken(), ended('crowded'))

  const over = open()
  over.engine.gone()
  over.taken()
  over.engine.signedOut()
  t.same(over.taken(), ['stays with small'])
})

t.test('a silent client is closed, unless it reads what was sent to it [S4]', async t => {
  const { engine, transport, clock, endTurn, taken } = open()
  taken()
  engine.ping()
  endTurn()
  t.same(taken(), ['2'])
  transport.readAt = clock.now()
  clock.advance(44_999)
  engine.silent()
  t.same(taken(), ['alive'])
  clock.advance(1)
  engine.silent()
  t.same(taken(), ended('ping-timeout'))
  const idle = open()
  idle.taken()
  idle.engine.silent()
  t.same(idle.taken(), ended('ping-timeout'))
})

t.test('a client is told that the server shuts down', async t => {
  const { engine, taken } = open()
  taken()
  engine.serverGone()
  t.same(taken(), ended('server-shutdown'))
})

t.test('each kind of packet does what it is for, and others end the connection [N6]', async t => {
  const { engine, taken } = open()
  taken()
  engine.receive('42["ping"]')
  t.same(taken(), ['message 9'])
  engine.receive('3')
  t.same(taken(), ['alive'])
  engine.receive('5')
  engine.receive('6')
  t.same(taken(), [])
  engine.receiveBinary(Buffer.from('xyz'))
  t.same(taken(), ['message 3'])
  engine.receive('1')
  t.same(taken(), ended('client-left'))
  for (const packet of ['', '0', '2', '7', 'b4']) {
    const wrong = open()
    wrong.taken()
    wrong.engine.receive(packet)
    t.same(wrong.taken(), ended('bad-packet'), packet)
  }
})

t.test('a client that sends too fast is refused each message, and then closed [B5]', async t => {
  for (const receive of [
    (engine: EngineConnection) => engine.receive('4x'),
    (engine: EngineConnection) => engine.receiveBinary(Buffer.from('x'))
  ]) {
    const { engine, taken } = open()
    taken()
    // The first one of a lone client is not counted.
    for (let sent = 0; sent < 2_001; sent += 1) receive(engine)
    t.same(new Set(taken()), new Set(['message 1']))
    for (let sent = 0; sent < 100; sent += 1) receive(engine)
    t.same(new Set(taken()), new Set(['message 1 over']))
    receive(engine)
    t.same(taken(), ended('too-fast'))
  }
  const unlimited = open({ limits: 'off' })
  unlimited.taken()
  for (let sent = 0; sent < 3_000; sent += 1) unlimited.engine.receive('4x')
  t.same(new Set(unlimited.taken()), new Set(['message 1']))
})

t.test('a client that was silent for 10 s has its full rate again, and only little is not counted [B5]', async t => {
  const { engine, clock, taken } = open()
  const pour = (count: number, bytes = 1) => {
    taken()
    for (let sent = 0; sent < count; sent += 1) engine.receive(`4${'x'.repeat(bytes)}`)
    return taken().filter(note => note.endsWith(' over')).length
  }
  t.equal(pour(2_001), 0)
  t.equal(pour(1), 1)
  clock.advance(9_999)
  t.equal(pour(1), 0, 'what has grown again')
  clock.advance(10_000)
  t.equal(pour(2_001), 0)
  clock.advance(10_000)
  t.equal(pour(1, 1023), 0)
  t.equal(pour(2_001), 1)
  clock.advance(10_000)
  t.equal(pour(1, 1024), 0)
  t.equal(pour(2_000), 1, 'a larger one is')
})

t.test('another transport first gets what the old one still had', async t => {
  const { engine, transport, taken } = open()
  taken()
  const next = { ...transport, write: (packets: readonly string[]) => packets.length < 3 } as unknown as Transport
  engine.moveTo(next, ['a', 'b'])
  t.ok(engine.isOn(next))
  t.notOk(engine.isOn(transport as unknown as Transport))
  t.same(taken(), [])
  engine.moveTo(next, ['a', 'b', 'c'])
  t.same(taken(), ended('slow-consumer'))
})
