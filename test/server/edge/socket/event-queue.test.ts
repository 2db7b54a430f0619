import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import type { AccountId } from '../../../../lib/protocol/wire/ids.ts'
import { EventQueue } from '../../../../lib/server/edge/socket/event-queue.ts'

const [ada, ben, cleo, dora] = ['ada', 'ben', 'cleo', 'dora'] as AccountId[] as [AccountId, AccountId, AccountId, AccountId]

/** A queue with events that are over when the test says so. */
function track(most?: number) {
  const queue = new EventQueue(most)
  const begun: string[] = []
  const open: (() => void)[] = []
  const ends = new Map<string, () => void>()
  const take = (account: AccountId, name: string, answerBytes = 0) =>
    queue.take(account, answerBytes, () => {
      begun.push(name)
      return new Promise<void>(resolve => {
        open.push(resolve)
        ends.set(name, resolve)
      })
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await turnEnds()
    await turnEnds()
  }
  const finish = async (count: number) => {
    for (const resolve of open.splice(0, count)) resolve()
    await turnEnds()
    await turnEnds()
  }
  return { begun, take, end, finish, finishAll: () => finish(Number.POSITIVE_INFINITY) }
}

t.test('events of one account begin in order, 128 at a time, and another account does not wait for them [B3]', async t => {
  const { begun, take, finish, finishAll } = track()
  const names = Array.from({ length: 300 }, (_, index) => `a${index}`)
  for (const name of names) take(ada, name)
  take(ben, 'b')
  t.same(begun, [...names.slice(0, 128), 'b'])
  await finish(1)
  take(ada, 'a late one')
  t.equal(begun.length, 129, 'a new one does not overtake those that wait')
  await finishAll()
  t.same(begun.slice(129), names.slice(128, 256))
  await finishAll()
  t.same(begun.slice(257), [...names.slice(256), 'a late one'])
})

t.test('an event ends with its handling, and an empty queue starts at once again', async t => {
  const { begun, take, finishAll } = track()
  let isOver = false
  take(ada, 'one')?.then(() => {
    isOver = true
  })
  await turnEnds()
  t.equal(isOver, false)
  await finishAll()
  t.equal(isOver, true)
  take(ada, 'two')
  t.same(begun, ['one', 'two'])
})

t.test('a full queue accepts no more [B5]', async t => {
  const { take } = track()
  const taken = Array.from({ length: 128 + 32_768 }, (_, index) => take(ada, String(index)))
  t.ok(taken.every(each => each !== undefined))
  t.equal(take(ada, 'one more'), undefined)
  t.ok(take(ben, 'of another'))
})

t.test('answers of an account get at most half of the memory, and another has its turn at once [B2, B3]', async t => {
  const { begun, take, end } = track(100)
  for (const name of ['a1', 'a2', 'a3']) take(ada, name, 25)
  take(ben, 'b1', 25)
  t.same(begun, ['a1', 'a2', 'b1'])
  for (const name of ['a2', 'a1']) await end(name)
  t.same(begun, ['a1', 'a2', 'b1', 'a3'])
})

t.test('no event overtakes an earlier one of its account that waits for memory [O1]', async t => {
  const { begun, take, end } = track(100)
  for (const name of ['a1', 'a2']) take(ada, name, 50)
  take(ada, 'a3')
  t.same(begun, ['a1'])
  await end('a1')
  t.same(begun, ['a1', 'a2', 'a3'])
})

t.test('accounts take turns, and no answer passes a large one that waits for memory [B3]', async t => {
  const { begun, take, end } = track(100)
  for (const name of ['a1', 'a2', 'a3']) take(ada, name, 200)
  take(ben, 'b1', 25)
  take(cleo, 'c1', 50)
  take(dora, 'd1', 25)
  t.same(begun, ['a1', 'b1'], 'what may be larger than the half counts as the half')
  await end('b1')
  t.same(begun, ['a1', 'b1', 'c1'])
  await end('a1')
  t.same(begun, ['a1', 'b1', 'c1', 'd1'], 'before the next of the first account')
  await end('c1')
  t.same(begun, ['a1', 'b1', 'c1', 'd1', 'a2'])
  await end('a2')
  t.same(begun.at(-1), 'a3')
})
