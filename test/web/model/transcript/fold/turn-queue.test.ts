import t from 'tap'
import { emptyQueue, queueUp, startWith, startWithNext } from '../../../../../web/model/transcript/fold/turn-queue.ts'
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
  t.same(other.waiting, ['a'])
  t.same(
    places(items),
    [
      ['a', 1, 10],
      ['b', 5, 50]
    ],
    'it started with the other instead, and the first is back in its place'
  )
  t.equal(startWith(other, items, 'nobody'), other)
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
