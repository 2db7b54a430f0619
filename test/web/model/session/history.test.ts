import 'fake-indexeddb/auto'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import type { MessageRecord } from '../../../../lib/protocol/wire/records.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { openHistory } from '../../../../web/model/session/history.ts'
import { messageAt } from '../../../client/link/fake-link.ts'

const records = (first: number, last: number, size = 4) =>
  Array.from({ length: last - first + 1 }, (_, index): MessageRecord => {
    const record = messageAt(first + index)
    return { ...record, content: { t: 'encrypted', c: 'x'.repeat(size) as MessageRecord['content']['c'] } }
  })

async function device(t: Test) {
  const db = await deviceDb()
  await db.erase()
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const history = openHistory('s1')
  const kept = async () => {
    await new Promise(resolve => setImmediate(resolve))
    return ((await db.read('history.s1')) as MessageRecord[] | undefined)?.map(({ seq }) => seq)
  }
  return { db, history, kept }
}

t.test('messages are stored a moment after the first of them, as they are by then', async t => {
  const { history, kept } = await device(t)
  history.keep(records(1, 1))
  mock.timers.tick(1_000)
  history.keep(records(1, 3))
  mock.timers.tick(499)
  t.equal(await kept(), undefined)
  mock.timers.tick(1)
  t.same(await kept(), [1, 2, 3])
  history.keep(records(1, 4))
  mock.timers.tick(1_500)
  t.same(await kept(), [1, 2, 3, 4])
  t.match(await history.read(), [{ seq: 1 }, {}, {}, { seq: 4 }])
})

t.test('what waits is stored at once when the session is closed, and then no more', async t => {
  const { history, kept, db } = await device(t)
  history.keep(records(1, 2))
  await history.flush()
  t.same(await kept(), [1, 2])
  await db.remove('history.s1')
  await history.flush()
  mock.timers.tick(5_000)
  t.equal(await kept(), undefined)
})

t.test('the history of a session that is gone is erased, with what waits', async t => {
  const { history, kept } = await device(t)
  history.keep(records(1, 2))
  await history.flush()
  history.keep(records(1, 3))
  await history.forget()
  t.equal(await kept(), undefined)
  mock.timers.tick(5_000)
  await history.flush()
  t.equal(await kept(), undefined)
  history.keep(records(5, 6))
  mock.timers.tick(1_500)
  t.same(await kept(), [5, 6], 'and a new one begins')
})

t.test('the newest two hundred are kept, and of long ones as many as fit', async t => {
  const { history, kept } = await device(t)
  const keep = async (all: readonly MessageRecord[]) => {
    history.keep(all)
    await history.flush()
    const seqs = (await kept()) ?? []
    return [seqs[0], seqs.at(-1), seqs.length]
  }
  t.same(await keep(records(1, 250)), [51, 250, 200])
  t.same(await keep(records(1, 5, 1_000_000)), [2, 5, 4])
  t.same(await keep(records(1, 5, 1_000_001)), [3, 5, 3])
  t.same(await keep([...records(1, 1, 4_000_001), ...records(2, 2)]), [2, 2, 1])
})

t.test('messages before a gap, and damaged ones, are not read', async t => {
  const { history, db } = await device(t)
  const read = async (kept: unknown) => {
    await db.write('history.s1', kept)
    return (await history.read()).map(({ seq }) => seq)
  }
  t.same(await read([...records(1, 2), ...records(5, 6), ...records(9, 11)]), [9, 10, 11])
  t.same(await read(records(5, 7)), [5, 6, 7])
  t.same(await read([...records(1, 1), ...records(3, 3)]), [3])
  t.same(await read([...records(1, 2), ...records(2, 3)]), [2, 3], 'nor before a repeated one')
  t.same(await read([...records(1, 2), { seq: 3 }, null]), [1, 2])
  t.same(await read('text'), [])
  await db.remove('history.s1')
  t.same(await history.read(), [])
})
