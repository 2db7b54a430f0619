import t from 'tap'
import {
  emptyQueue,
  inOrder,
  moveMine,
  noteRead,
  ownOf,
  queueUp,
  replaceWords,
  standApart,
  startWith,
  startWithNext
} from '../../../../../web/model/transcript/fold/turn-queue.ts'
import type { Item, Mine } from '../../../../../web/model/transcript/items.ts'

const mine = (localId: string | null, seq: number, given: Partial<Mine> = {}): Mine =>
  ({ type: 'mine', key: `mine.${localId}`, localId, seq, at: seq * 10, from: 'app', text: `${localId}`, ...given }) as Mine
const places = (items: readonly Item[]) => items.map(item => [item.type === 'mine' && item.localId, item.seq, item.at])

t.test('only messages that a device sent, and that are still to be read, wait for a turn', t => {
  const waiting = (item: Mine, isInTurn = true) => queueUp(emptyQueue, [item], item, isInTurn).waiting
  t.same(waiting(mine('a', 1)), ['a'])
  t.same(waiting(mine('a', 1, { from: 'terminal' as Mine['from'] })), [])
  t.same(waiting(mine('a', 1, { isSteer: true })), [])
  t.same(waiting(mine('a', 1, { isWithdrawn: true })), [])
  t.same(waiting(mine(null, 1)), [], 'one without an id cannot be found again')
  t.same(waiting(mine('a', 1), false), [], 'while idle it starts the turn')
  t.end()
})

t.test('a turn starts with the first that waits, which moves to its beginning', t => {
  const items: Item[] = [mine('a', 1), mine('b', 2)]
  const queue = items.reduce((queue, item) => queueUp(queue, items, item as Mine, true), emptyQueue)
  const started = startWithNext(queue, items, { seq: 5, at: 50 })
  t.same(started, { waiting: ['b'], started: { localId: 'a', seq: 5, at: 50 }, isTaken: false, hasMoved: true })
  t.same(places(items), [
    ['a', 5, 50],
    ['b', 2, 20]
  ])
  const other = startWith(started, items, 'b')
  t.same(other, { waiting: ['a'], started: { localId: 'b', seq: 5, at: 50 }, isTaken: false, hasMoved: true })
  t.same(
    places(items),
    [
      ['a', 1, 10],
      ['b', 5, 50]
    ],
    'it started with the other instead, and the first is back in its place'
  )
  t.equal(startWith(other, items, 'nobody'), other)
  const sent = queueUp(other, items, mine('c', 6), true)
  t.same(sent, { ...other, waiting: ['a', 'c'] }, 'one sent meanwhile waits behind it')
  t.equal(startWith(emptyQueue, items, 'a'), emptyQueue)
  t.end()
})

t.test('what was sent while idle starts the next turn, and everything older was read in the last one', t => {
  const items: Item[] = [mine('a', 1)]
  const busy = startWithNext(queueUp(emptyQueue, items, items[0] as Mine, true), [], { seq: 3, at: 30 })
  items.push(mine('b', 6))
  const idle = queueUp(busy, items, items[1] as Mine, false)
  t.same([idle.waiting, idle.isTaken, idle.hasMoved], [[], true, true])
  t.same(places(items), [
    ['a', 3, 30],
    ['b', 6, 60]
  ])
  const next = startWithNext(idle, items, { seq: 7, at: 70 })
  t.same(next, { ...idle, started: { localId: undefined, seq: 7, at: 70 }, isTaken: false })
  t.equal(queueUp(emptyQueue, items, items[1] as Mine, false).hasMoved, false)
  t.end()
})

const prose = (seq: number): Item => ({ type: 'prose', key: `${seq}.0`, seq, at: seq * 10, text: 'prose' })
const plain = (localId: string, seq: number, given: Partial<Mine> = {}): Mine =>
  mine(localId, seq, { files: [], isSteer: false, isWithdrawn: false, ...given })
const file = { ref: 'r', name: 'a.png', size: 1 }
const version = (localId: string, seq: number, text: string) => ({ localId, seq, at: seq * 10, text, files: [file], isSteer: true })

t.test('an edit replaces the text of a message in its place, and every version is known', t => {
  const items: Item[] = [plain('a', 1), plain('b', 2), prose(3)]
  t.equal(replaceWords(items, 'a', version('x', 4, 'A')), true)
  const first = { localId: 'a', seq: 1, at: 10, text: 'a', files: [], isSteer: false }
  t.strictSame(items[0], { ...plain('a', 1), text: 'A', files: [file], isSteer: true, versions: [first, version('x', 4, 'A')] })
  t.equal(replaceWords(items, 'a', version('y', 5, 'AA')), true)
  t.match(items[0], { text: 'AA', versions: [first, { text: 'A' }, { text: 'AA' }] })
  t.strictSame(items.slice(1), [plain('b', 2), prose(3)])
  const withdrawn: Item[] = [plain('a', 1, { isWithdrawn: true })]
  t.equal(replaceWords(withdrawn, 'a', version('x', 4, 'A')), false)
  t.equal(replaceWords(items, 'z', version('x', 4, 'A')), false)
  t.strictSame(withdrawn, [plain('a', 1, { isWithdrawn: true })])
  t.end()
})

t.test('an edit that came too late stands apart as a message of its own', t => {
  const items: Item[] = [plain('a', 1), plain('b', 2, { isRead: true }), prose(3)]
  for (const [localId, seq] of [
    ['x', 4],
    ['y', 5]
  ] as const)
    replaceWords(items, 'b', version(localId, seq, localId))
  const before = items.slice()
  standApart(items, 'b', { seq: 9, at: 90 })
  standApart(items, 'z', { seq: 9, at: 90 })
  standApart(items, 'a', { seq: 9, at: 90 })
  t.strictSame(items, before, 'the message itself is no edit')
  standApart(items, 'x', { seq: 9, at: 90 })
  t.match(items[1], { localId: 'b', text: 'y', versions: [{ localId: 'b' }, { localId: 'y' }] })
  t.strictSame(items.slice(2), [
    prose(3),
    {
      ...{ ...plain('x', 9), own: version('x', 4, 'x'), text: 'x', files: [file], isSteer: true },
      ...{ versions: undefined, isRead: false }
    }
  ])
  standApart(items, 'y', { seq: 10, at: 100 })
  t.match(items[1], { localId: 'b', text: 'b', isSteer: false, versions: [{ localId: 'b' }] })
  t.end()
})

t.test('a moved message takes the place of the other, and those between move back by one', t => {
  const items: Item[] = [plain('a', 1), plain('b', 2), prose(3), plain('s', 4, { isSteer: true }), plain('c', 5), plain('d', 6)]
  const unmoved = items.slice()
  for (const [localId, before] of [
    ['a', 'b'],
    ['b', 'b'],
    ['z', 'a'],
    ['b', 'z'],
    ['s', 'a']
  ] as const) {
    moveMine(items, localId, before)
    t.strictSame(items, unmoved, `${localId} before ${before}`)
  }
  moveMine(items, 'c', 'a')
  t.strictSame(items, [
    plain('c', 1, { at: 10, own: { seq: 5, at: 50 }, key: 'mine.c' }),
    plain('a', 2, { at: 20, own: { seq: 1, at: 10 } }),
    prose(3),
    plain('s', 4, { isSteer: true }),
    plain('b', 5, { at: 50, own: { seq: 2, at: 20 } }),
    plain('d', 6)
  ])
  moveMine(items, 'b', 'a')
  t.match(items[1], { localId: 'b', seq: 2, own: { seq: 2, at: 20 } })
  t.match(items[4], { localId: 'a', seq: 5, own: { seq: 1, at: 10 } }, 'its own place is where it was stored')
  t.end()
})

t.test('what the agent has is read, also if it was withdrawn', t => {
  const items: Item[] = [plain('a', 1, { isWithdrawn: true }), plain('b', 2)]
  noteRead(items, 'a')
  noteRead(items, 'z')
  t.strictSame(items, [plain('a', 1, { isRead: true, isWithdrawn: false }), plain('b', 2)])
  t.end()
})

t.test('items are sorted by their places only once one has moved', t => {
  const items = [plain('b', 2), plain('a', 1)]
  t.equal(inOrder(items, emptyQueue), items)
  t.same(places(inOrder(items, { ...emptyQueue, hasMoved: true })), [
    ['a', 1, 10],
    ['b', 2, 20]
  ])
  t.same(ownOf(plain('a', 1)), { seq: 1, at: 10 })
  t.same(ownOf(plain('a', 1, { own: { seq: 7, at: 70 } })), { seq: 7, at: 70 })
  t.end()
})

t.test('a message that is known to have started a turn only now is not shown above its own place', t => {
  const items: Item[] = [mine('a', 8)]
  const running = { waiting: ['a'], started: { localId: undefined, seq: 5, at: 50 }, isTaken: true, hasMoved: false }
  t.same(startWith(running, items, 'a'), { waiting: [], started: { localId: 'a', seq: 5, at: 50 }, isTaken: true, hasMoved: true })
  t.same(places(items), [['a', 8, 80]])
  t.end()
})
