import fc from 'fast-check'
import t from 'tap'
import { BoundedQueue } from '../../lib/async/queue.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

async function drain<Item>(queue: BoundedQueue<Item>): Promise<Item[]> {
  return Array.fromAsync(queue)
}

t.test('the consumer gets every item in order, then the end', async t => {
  const queue = new BoundedQueue<number | undefined>(3)
  t.same([queue.offer(1), queue.offer(undefined), queue.offer(3)], [true, true, true])
  queue.close()
  t.same(await drain(queue), [1, undefined, 3])
})

t.test('a full queue rejects an offer and accepts one again when it has space', async t => {
  const queue = new BoundedQueue<string>(1)
  t.equal(queue.offer('a'), true)
  t.equal(queue.offer('b'), false)
  t.equal(queue.length, 1)
  const reader = queue[Symbol.asyncIterator]()
  t.same(await reader.next(), { done: false, value: 'a' })
  t.equal(queue.offer('c'), true)
  t.same(await reader.next(), { done: false, value: 'c' })
})

t.test('a put waits for space, in call order, and no offer overtakes it', async t => {
  const queue = new BoundedQueue<string>(1)
  const puts = [queue.put('a'), queue.put('b'), queue.put('c')]
  t.equal(queue.offer('x'), false)
  const reader = queue[Symbol.asyncIterator]()
  const read: unknown[] = []
  for (let count = 0; count < 3; count++) {
    read.push((await reader.next()).value)
    t.equal(queue.offer('x'), count === 2, 'the room belongs to those who wait')
  }
  t.same(read, ['a', 'b', 'c'])
  t.same(await Promise.all(puts), [true, true, true])
})

t.test('a consumer that came first is woken by an item and by the end', async t => {
  const queue = new BoundedQueue<string>(2)
  const read = drain(queue)
  await turn()
  queue.offer('a')
  await turn()
  queue.close()
  t.same(await read, ['a'])
})

t.test('closing rejects waiting producers and new ones', async t => {
  const queue = new BoundedQueue<string>(1)
  await queue.put('a')
  const waiting = queue.put('b')
  queue.close()
  t.equal(await waiting, false)
  t.equal(await queue.put('c'), false)
  t.equal(queue.offer('d'), false)
  t.same(await drain(queue), ['a'])
})

t.test('a failure reaches the consumer after the queued items; the first end wins', async t => {
  const queue = new BoundedQueue<string>(2)
  queue.offer('a')
  queue.fail(new Error('the agent died'))
  queue.close()
  const read: string[] = []
  await t.rejects(
    async () => {
      for await (const item of queue) read.push(item)
    },
    { message: 'the agent died' }
  )
  t.same(read, ['a'])

  const closed = new BoundedQueue<string>(2)
  closed.close()
  closed.fail(new Error('echo'))
  t.same(await drain(closed), [])
})

t.test('a consumer that stops closes the queue, so that producers stop', async t => {
  const queue = new BoundedQueue<string>(1)
  queue.offer('a')
  const waiting = queue.put('b')
  const blocked = queue.put('c')
  for await (const item of queue) {
    t.equal(item, 'a')
    break
  }
  t.equal(await waiting, true, 'there was room for it before the consumer left')
  t.equal(await blocked, false)
  t.equal(queue.length, 0)
  t.equal(queue.offer('d'), false)
})

t.test('there is one consumer, and space for at least one item', async t => {
  const queue = new BoundedQueue<string>(1)
  queue.close()
  await drain(queue)
  await t.rejects(drain(queue), TypeError)
  for (const limit of [0, -1, Number.NaN]) t.throws(() => new BoundedQueue(limit), RangeError)
})

t.test('at any limit and pace, nothing is lost, duplicated or reordered, and the bound holds', async () => {
  const pace = fc.array(fc.nat(2), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), pace, pace, async (limit, producing, consuming) => {
      const queue = new BoundedQueue<number>(limit)
      const puts = producing.map(async (turns, item) => {
        for (let count = 0; count < turns; count++) await Promise.resolve()
        return (await queue.put(item)) ? item : undefined
      })
      const order: number[] = []
      const reading = (async () => {
        for await (const item of queue) {
          if (queue.length > limit) throw new Error('over the bound')
          order.push(item)
          for (let count = 0; count < (consuming[order.length] ?? 0); count++) await Promise.resolve()
        }
      })()
      await Promise.all(puts)
      queue.close()
      await reading
      const expected = [0, 1, 2].flatMap(turns => producing.flatMap((each, item) => (each === turns ? [item] : [])))
      return JSON.stringify(order) === JSON.stringify(expected)
    }),
    { numRuns: 200 }
  )
})
