import t from 'tap'
import { Backlog } from '../../../../lib/server/edge/socket/backlog.ts'
import { SendQueue } from '../../../../lib/server/edge/socket/send-queue.ts'
import { LargeFrame, pieceBytes } from '../../../../lib/server/hub/frames.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const mib = 1024 * 1024

/** A queue whose bytes are counted by a real backlog. */
function open() {
  const clock = manualClock()
  const backlog = new Backlog({ begin: () => () => {} })
  const queue = new SendQueue({ evict() {} }, { clock, backlog })
  const push = (bytes: number, { most = 100, isBlocked = true } = {}) => queue.push(['x'.repeat(bytes)], { most, isBlocked })
  return { clock, backlog, queue, push }
}

const large = (text: string) => new LargeFrame(text)
const textOf = (piece: ReturnType<SendQueue['take']>) =>
  piece === undefined || typeof piece === 'string'
    ? piece
    : `${Buffer.from(piece.bytes)}${piece.isFirst ? ' first' : ''}${piece.isLast ? ' last' : ''}`

const any = { most: Number.POSITIVE_INFINITY, isBlocked: false }

t.test('frames leave in order, small ones whole and large ones in pieces', t => {
  const { queue, backlog } = open()
  t.ok(queue.isEmpty)
  const frame = large('abcdefgh')
  t.ok(queue.push(['é', frame, 'last'], any))
  t.notOk(queue.isEmpty)
  t.equal(backlog.bytes, 2 + 8 + 4)
  t.equal(textOf(queue.take(1)), 'é', 'whatever the room')
  t.same([textOf(queue.take(3)), textOf(queue.take(3)), textOf(queue.take(3))], ['abc first', 'def', 'gh last'])
  t.equal(frame.waitingFor, 0)
  t.equal(textOf(queue.take(3)), 'last')
  t.equal(textOf(queue.take(3)), undefined)
  t.ok(queue.isEmpty)
  queue.push([large('ab')], any)
  t.equal(textOf(queue.take(2)), 'ab first last')
  queue.hold(0)
  t.equal(backlog.bytes, 0)
  t.end()
})

t.test('a large frame is held once for all, and a text longer than a piece becomes one', t => {
  const { queue, backlog } = open()
  const other = new SendQueue({ evict() {} }, { clock: manualClock(), backlog })
  const frame = large('abc')
  queue.push([frame], any)
  other.push([frame], any)
  t.equal(backlog.bytes, 3)
  t.equal(frame.waitingFor, 2)
  queue.clear()
  other.take(9)
  t.equal(frame.waitingFor, 0)
  queue.push(['x'.repeat(pieceBytes + 1)], any)
  const piece = queue.take(10)
  const own = typeof piece === 'object' ? piece.of : undefined
  t.equal(own?.bytes.length, pieceBytes + 1)
  own?.sent()
  t.equal(own?.bytes.length, 0, 'whose memory nobody else needs')
  t.end()
})

t.test('a ping overtakes what has not begun, and there is one', t => {
  const { queue, backlog } = open()
  queue.push(['a', '2', 'b', '2'], any)
  t.equal(backlog.bytes, 3)
  t.same([queue.take(9), queue.take(9), queue.take(9), queue.take(9)], ['2', 'a', 'b', undefined])
  const frame = large('abcd')
  queue.push([frame, 'c'], any)
  t.equal(textOf(queue.take(2)), 'ab first')
  queue.push(['2'], any)
  queue.push(['2'], any)
  t.same([textOf(queue.take(9)), queue.take(9), queue.take(9), queue.take(9)], ['cd last', '2', 'c', undefined])
  t.end()
})

t.test('another transport gets everything that waits, whole', t => {
  const { queue, backlog } = open()
  const frame = large('abc')
  queue.push(['a', 'b', frame], any)
  queue.take(9)
  t.same(queue.takeAll(), ['b', frame])
  t.ok(queue.isEmpty)
  t.equal(backlog.bytes, 0)
  t.equal(frame.waitingFor, 0)
  t.end()
})

t.test('small frames are taken up to the next large one, and not from behind one that has begun', t => {
  const { queue } = open()
  queue.push(['a', 'b', large('abcd'), 'c'], any)
  t.same(queue.takeSmall(), ['a', 'b'])
  t.same(queue.takeSmall(), [])
  queue.take(2)
  t.same(queue.takeSmall(), [])
  queue.take(2)
  t.same(queue.takeSmall(), ['c'])
  t.end()
})

t.test('whole frames are taken as many as fit, but at least one', t => {
  const { queue, backlog } = open()
  const frame = large('abcd')
  queue.push(['aa', frame, 'b', 'c'], any)
  t.same(queue.takeWhole(1), ['aa'])
  t.equal(backlog.bytes, 6)
  t.same(queue.takeWhole(5), [frame, 'b'])
  t.equal(backlog.bytes, 1)
  t.same(queue.takeWhole(5), ['c'])
  t.same(queue.takeWhole(5), [])
  t.end()
})

t.test('thousands of frames leave in order, each once', t => {
  const { queue } = open()
  const frames = Array.from({ length: 3_000 }, (_, index) => `f${index}`)
  queue.push(frames, any)
  for (const frame of frames.slice(0, 2_500)) t.equal(queue.take(9), frame)
  queue.push(['2', 'end'], any)
  t.same(queue.takeAll(), ['2', ...frames.slice(2_500), 'end'])
  t.end()
})

t.test('one turn may bring any amount, and more only to a client that reads [B1]', t => {
  const { queue, push } = open()
  t.ok(push(10_000), 'nothing waited')
  t.ok(push(100))
  t.ok(push(1), 'as much as may wait came since')
  t.notOk(push(1))
  queue.read()
  t.ok(push(1), 'it has read')
  const other = open()
  t.ok(other.push(100))
  t.ok(other.push(1_000), 'no more waited than may')
  t.ok(other.push(100))
  t.ok(other.push(1))
  t.notOk(other.push(1))
  t.end()
})

t.test('a client whose line takes more is not behind [B1]', t => {
  const { push } = open()
  push(10_000)
  for (let turn = 0; turn < 5; turn += 1) t.ok(push(1_000, { isBlocked: false }))
  t.end()
})

t.test('a client that just read may have a burst of 16 times as much [B1]', t => {
  const { queue, clock, push } = open()
  push(10_000)
  queue.read()
  clock.advance(4_999)
  t.ok(push(1_600))
  t.ok(push(1))
  t.notOk(push(1))
  const slow = open()
  slow.push(10_000)
  slow.queue.read()
  slow.clock.advance(5_000)
  t.ok(slow.push(101))
  t.notOk(slow.push(1))
  t.end()
})

t.test('nobody may be further behind than the largest packet since they fell behind [B1]', t => {
  const { queue, push } = open()
  push(200)
  for (let megabyte = 0; megabyte < 24; megabyte += 1) {
    queue.read()
    t.ok(push(mib))
  }
  queue.read()
  t.ok(push(1))
  queue.read()
  t.notOk(push(1))
  t.end()
})

t.test('what the transport holds counts as waiting, and as read when it is gone [B1, B2]', t => {
  const { queue, backlog, push, clock } = open()
  t.equal(queue.readAt, Number.NEGATIVE_INFINITY)
  queue.hold(50, 50)
  t.equal(backlog.bytes, 50, 'shared frames are counted where they are held')
  t.ok(push(1))
  queue.hold(0)
  t.equal(backlog.bytes, 1)
  clock.advance(7)
  queue.read()
  t.equal(queue.readAt, 7)
  const held = open()
  held.queue.hold(50, 51)
  t.notOk(held.push(1), 'more than may wait waited before')
  t.end()
})

t.test('the part of a large frame that was sent does not count as waiting [B1]', t => {
  for (const [bytes, isNear] of [
    [200, true],
    [201, false]
  ] as const) {
    const { queue, push } = open()
    queue.push([large('x'.repeat(bytes))], any)
    queue.take(100)
    t.ok(push(500))
    t.equal(push(1), isNear)
  }
  t.end()
})

t.test('what was sent or dropped does not count as waiting [B1]', t => {
  const leave: ((queue: SendQueue) => unknown)[] = [queue => queue.take(300), queue => queue.clear()]
  for (const end of leave) {
    const { queue, push } = open()
    queue.push([large('x'.repeat(300))], any)
    end(queue)
    t.ok(push(100))
    t.ok(push(1_000))
    t.ok(push(101))
    t.notOk(push(1))
  }
  t.end()
})

t.test('who is furthest behind is closed when all together have too much waiting [B2]', t => {
  const backlog = new Backlog({ begin: () => () => {} }, 100)
  const closed: string[] = []
  const open = (name: string) => new SendQueue({ evict: () => closed.push(name) }, { clock: manualClock(), backlog })
  const [one, other] = [open('one'), open('other')]
  one.push(['x'.repeat(40)], any)
  other.push(['x'.repeat(60)], any)
  t.same(closed, [])
  one.push(['x'], any)
  t.same(closed, ['other'])
  t.end()
})
