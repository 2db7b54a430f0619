import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import type { AccountId } from '../../../../lib/protocol/wire/ids.ts'
import { EventQueue } from '../../../../lib/server/edge/socket/event-queue.ts'

const [ada, ben] = ['ada', 'ben'] as AccountId[] as [AccountId, AccountId]

/** A queue with events that are over when the test says so. */
function track() {
  const queue = new EventQueue()
  const begun: string[] = []
  const open: (() => void)[] = []
  const take = (account: AccountId, name: string) =>
    queue.take(account, () => {
      begun.push(name)
      return new Promise<void>(resolve => open.push(resolve))
    })
  const finish = async (count: number) => {
    for (const resolve of open.splice(0, count)) resolve()
    await turnEnds()
    await turnEnds()
  }
  return { begun, take, finish, finishAll: () => finish(Number.POSITIVE_INFINITY) }
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
