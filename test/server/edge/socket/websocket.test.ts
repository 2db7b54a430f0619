import t from 'tap'
import { Backlog } from '../../../../lib/server/edge/socket/backlog.ts'
import type { Receiver } from '../../../../lib/server/edge/socket/engineio.ts'
import { type Start, type UserData, type WebSocket, WebSocketTransport } from '../../../../lib/server/edge/socket/websocket.ts'
import { LargeFrame, pieceBytes } from '../../../../lib/server/hub/frames.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

type Deps = ConstructorParameters<typeof WebSocketTransport>[2]

t.test('a little data that the client does not read at once counts until it is read [B2]', async t => {
  const { transport, backlog, client } = open()
  t.equal(transport.write(['4hello']), true)
  t.equal(backlog.bytes, 0)
  client.isReading = false
  t.equal(transport.write(['4hello']), true)
  t.equal(backlog.bytes, '4hello'.length)
  client.read()
  t.equal(backlog.bytes, 0)
})

t.test('a little data is sent at once, and several packets are joined', async t => {
  const { transport, did, turns } = open()
  t.strictSame(transport.upgrades, [])
  t.equal(transport.readAt, undefined)
  transport.write(['one'])
  transport.write(['two', 'three'])
  t.strictSame(did, ['one', 'cork', 'two', 'three'])
  transport.write(['x'.repeat(pieceBytes)])
  t.equal(did.length, 5, 'as much as a piece')
  t.equal(turns.length, 0)
  transport.write(['x'.repeat(pieceBytes), 'y'])
  t.equal(did.length, 5, 'more waits for its turn')
  t.equal(turns.length, 1)
})

t.test('more data is sent in pieces, each in its turn, and what is large in parts of one message', async t => {
  const { transport, did, turns, backlog } = open()
  const frame = new LargeFrame('x'.repeat(2 * pieceBytes + 5))
  transport.write([frame])
  transport.write(['after it'])
  t.equal(backlog.bytes, 2 * pieceBytes + 5 + 8)
  t.equal(turns.length, 1, 'it is in line once')
  turns.shift()?.()
  t.strictSame(did, ['cork', `first ${pieceBytes}`])
  turns.shift()?.()
  t.strictSame(did.splice(0), ['cork', `first ${pieceBytes}`, 'cork', `part ${pieceBytes}`])
  turns.shift()?.()
  t.strictSame(did, ['cork', 'last 5', 'after it'], 'a piece is filled up')
  t.equal(turns.length, 0)
  t.equal(backlog.bytes, 0)
  t.equal(transport.readAt, 0, 'the client has read it')
})

t.test('a client that does not read gets no more pieces until it does', async t => {
  const { transport, did, turns, client, clock, backlog } = open()
  client.isReading = false
  const frame = new LargeFrame('x'.repeat(pieceBytes + 5))
  transport.write([frame])
  turns.shift()?.()
  t.equal(turns.length, 0)
  t.equal(backlog.bytes, pieceBytes + frame.length, 'what the library holds counts besides')
  transport.write(['little'])
  t.equal(did.at(-1), `first ${pieceBytes}`, 'and nothing overtakes')
  clock.advance(5)
  client.unread -= 10
  transport.drained()
  t.equal(transport.readAt, 5)
  t.equal(turns.length, 0, 'it has not read all of it')
  client.read()
  turns.shift()?.()
  t.strictSame(did.slice(-2), ['last 5', 'little'])
})

t.test('data that comes while the library holds some waits behind it', async t => {
  const { transport, did, turns, client, backlog } = open()
  client.isReading = false
  transport.write(['first'])
  transport.write(['second'])
  t.strictSame(did, ['first'])
  t.equal(turns.length, 0)
  t.equal(backlog.bytes, 11)
  client.read()
  turns.shift()?.()
  t.strictSame(did, ['first', 'cork', 'second'])
})

t.test('who leaves more unread than may wait is too far behind [B1]', async t => {
  const near = open()
  near.client.isReading = false
  near.transport.write(['x'.repeat(50)])
  near.transport.receiver = receiver({ mostUnreadBytes: 49 })
  t.equal(near.transport.write(['x'.repeat(50)]), false)
  t.equal(near.turns.length, 0, 'and gets no more')
  const stranger = open()
  stranger.client.isReading = false
  stranger.transport.write(['x'.repeat(pieceBytes)])
  t.equal(stranger.transport.write(['x']), true, 'before sign-in 64 KiB may wait')
  t.equal(stranger.transport.write(['x']), true)
  t.equal(stranger.transport.write(['x'.repeat(pieceBytes)]), true)
  t.equal(stranger.transport.write(['x']), false)
})

t.test('a ping of a client without a receiver, too fast or while it ends, closes it', async t => {
  const none = open()
  none.transport.pinged()
  t.strictSame(none.did, ['close'])
  const fast = open()
  fast.transport.receiver = receiver()
  for (let count = 0; count < 2_000; count += 1) fast.transport.pinged()
  t.strictSame(fast.did, [])
  fast.transport.pinged()
  t.strictSame(fast.did, ['close'])
  const ending = open()
  ending.transport.receiver = receiver()
  ending.client.isReading = false
  ending.transport.write(['unread'])
  ending.transport.end('bad-packet')
  ending.transport.pinged()
  t.equal(ending.did.at(-1), 'close')
})

t.test('answers to pings that are not read count, and too many of them close it [B1]', async t => {
  const { transport, backlog, client } = open()
  const closed: string[] = []
  transport.receiver = receiver({ mostUnreadBytes: 100, close: reason => closed.push(reason) })
  client.unread = pieceBytes + 100
  transport.pinged()
  t.equal(backlog.bytes, pieceBytes + 100)
  t.strictSame(closed, [])
  client.unread += 1
  transport.pinged()
  t.strictSame(closed, ['slow-consumer'])
})

t.test('an end tells its reason at once, or after what the client still reads', async t => {
  const quick = open()
  quick.transport.end('bad-packet')
  t.strictSame(quick.did, ['end 4400 bad-packet'])
  t.equal(quick.clock.pending, 0)

  const slow = open()
  slow.client.isReading = false
  slow.transport.write(['unread'])
  slow.transport.end('auth-revoked')
  t.strictSame(slow.did, ['unread'])
  slow.client.unread -= 1
  slow.transport.drained()
  t.strictSame(slow.did, ['unread'])
  slow.client.read()
  t.strictSame(slow.did, ['unread', 'end 4401 auth-revoked'])
  slow.transport.closed('')
  slow.clock.advance(5_000)
  t.equal(slow.did.length, 2, 'then nothing more')
})

t.test('a client that reads nothing more is closed after 5 s; at a shutdown, or for its place, at once', async t => {
  const behind = (reason: 'bad-packet' | 'crowded' | 'server-shutdown') => {
    const { transport, did, client, clock, backlog } = open()
    client.isReading = false
    transport.write(['unread'])
    transport.end(reason)
    return { did, clock, backlog, transport }
  }
  const lingering = behind('bad-packet')
  lingering.clock.advance(4_999)
  t.strictSame(lingering.did, ['unread'])
  lingering.clock.advance(1)
  t.strictSame(lingering.did, ['unread', 'close'])
  t.strictSame(behind('server-shutdown').did, ['unread', 'end 1012 server-shutdown'])
  t.strictSame(behind('crowded').did, ['unread', 'close'])
})

t.test('an end delivers the small packets before it, and drops the large ones', async t => {
  for (const [reason, sent] of [
    ['too-fast', ['cork', 'refused', 'x']],
    ['slow-consumer', []]
  ] as const) {
    const { transport, did, turns, backlog } = open()
    transport.write(['refused', 'x', new LargeFrame('y'.repeat(pieceBytes))])
    transport.end(reason)
    t.strictSame(did.slice(0, -1), sent)
    t.match(did.at(-1), /^end /)
    t.equal(backlog.bytes, 0)
    turns.shift()?.()
    t.equal(did.length, sent.length + 1)
  }
})

t.test('when it is closed, nothing is sent, counted or waited for, and its receiver knows', async t => {
  const { transport, did, turns, backlog, client, clock } = open()
  let gone = 0
  transport.receiver = receiver({ gone: () => (gone += 1) })
  transport.write(['x'.repeat(pieceBytes), 'more'])
  client.unread = 7
  transport.closed('')
  t.equal(gone, 1)
  t.equal(backlog.bytes, 0)
  client.unread = 0
  turns.shift()?.()
  transport.evict()
  t.strictSame(did, [])
  t.equal(clock.pending, 0)
})

t.test('who signs in may send the packets that its WebSocket was opened for, if there is a slot for these', async t => {
  const { transport, slots } = open('usual')
  t.equal(transport.signedIn('ann', 'net'), true)
  t.match(slots.taken, [{ account: 'ann', packetSize: 'usual', network: 'net' }])
  t.equal(transport.signedIn('ann', 'net'), true)
  t.equal(slots.taken.length, 1, 'one slot')
  t.equal(transport.signedOut(), 'usual')
  t.equal(slots.left, 1)
  t.equal(transport.signedIn('ann', 'net'), true)
  t.equal(slots.taken.length, 2)
  transport.closed('')
  t.equal(slots.left, 2)

  const small = open('small')
  t.equal(small.transport.signedIn('ann', 'net'), true)
  t.equal(small.slots.taken.length, 0, 'small packets need none')
  t.equal(small.transport.signedOut(), 'small')

  const full = open('large')
  full.slots.isFull = true
  t.equal(full.transport.signedIn('ann', 'net'), false)

  const needed = open('usual')
  needed.transport.signedIn('ann', 'net')
  needed.slots.taken[0]?.makeRoom()
  t.strictSame(needed.did, ['close'])
})

t.test('a slot is in use by packets that need it', async t => {
  for (const [size, most] of [
    ['usual', 64 * 1024],
    ['large', 1024 * 1024]
  ] as const) {
    const { transport, slots } = open(size)
    transport.took(most + 1)
    transport.signedIn('ann', 'net')
    transport.took(most)
    t.equal(slots.used, 0)
    transport.took(most + 1)
    t.equal(slots.used, 1)
  }
})

t.test('whose packet was too large may send larger ones when it comes back', async t => {
  const tooLarge = 'Received too big message'
  const wanted = (size: Start['packetSize'], why: string, { isSignedIn = true } = {}) => {
    const { transport, slots } = open(size)
    transport.receiver = receiver({ network: 'net' })
    if (isSignedIn) transport.signedIn('ann', 'net')
    transport.closed(why)
    return slots.wanted
  }
  t.strictSame(wanted('small', tooLarge), [['net', 'usual']])
  t.strictSame(wanted('usual', tooLarge), [['net', 'large']])
  t.strictSame(wanted('large', tooLarge), [])
  t.strictSame(wanted('usual', 'something else'), [])
  t.strictSame(wanted('usual', tooLarge, { isSignedIn: false }), [])
  const { transport, slots } = open('usual')
  transport.receiver = receiver()
  transport.signedIn('ann', 'net')
  transport.signedOut()
  transport.closed(tooLarge)
  t.strictSame(slots.wanted, [])
})

/** A transport over a WebSocket that notes what it is told. */
function open(packetSize: Start['packetSize'] = 'usual') {
  const did: string[] = []
  const turns: (() => void)[] = []
  const clock = manualClock()
  const backlog = new Backlog({ begin: () => () => {} })
  const client = {
    isReading: true,
    unread: 0,
    /** Reads everything. */
    read() {
      client.unread = 0
      transport.drained()
    }
  }
  const send = (note: string, bytes: number) => {
    did.push(note)
    if (!client.isReading) client.unread += bytes
  }
  const ws = {
    getBufferedAmount: () => client.unread,
    send: (packet: string) => send(packet, packet.length),
    sendFirstFragment: (part: Uint8Array) => send(`first ${part.length}`, part.length),
    sendFragment: (part: Uint8Array) => send(`part ${part.length}`, part.length),
    sendLastFragment: (part: Uint8Array) => send(`last ${part.length}`, part.length),
    cork(run: () => void) {
      const at = did.length
      run()
      if (did.length > at) did.splice(at, 0, 'cork')
    },
    close: () => void did.push('close'),
    end: (code: number, reason: string) => void did.push(`end ${code} ${reason}`)
  } as unknown as WebSocket<UserData>
  const slots = {
    isFull: false,
    taken: [] as { makeRoom(): void }[],
    wanted: [] as unknown[],
    left: 0,
    used: 0,
    take(asked: { makeRoom(): void }) {
      slots.taken.push(asked)
      return slots.isFull ? undefined : { leave: () => (slots.left += 1), use: () => (slots.used += 1) }
    },
    want: (...asked: unknown[]) => void slots.wanted.push(asked)
  }
  const deps = { clock, backlog, limits: 'default', turn: { piece: (write: () => void) => turns.push(write) }, largePacketSlots: slots }
  const transport = new WebSocketTransport(ws, { packetSize, polling: undefined, admitted: undefined }, deps as unknown as Deps)
  return { transport, did, turns, clock, backlog, client, slots }
}

function receiver(given: Partial<Receiver> = {}): Receiver {
  return { network: 'net', mostUnreadBytes: 1_000_000, close() {}, gone() {}, ...given } as Receiver
}
