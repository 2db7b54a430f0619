import t from 'tap'
import { type ChangedRows, ChangeReader } from '../../../lib/client/feed/change-reader.ts'
import { Refused, type Rest } from '../../../lib/client/index.ts'
import type { Retrier } from '../../../lib/client/link/retry.ts'

/** A reader over a server that gives these answers in turn, and everything that happened. */
function reading(...answers: (object | Error)[]) {
  const happened: unknown[] = []
  const { signal } = new AbortController()
  const call = async (name: string, { query }: { query: object }, options: { signal?: AbortSignal }) => {
    t.equal(name, 'readChanges')
    t.equal(options.signal, signal)
    happened.push(query)
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  }
  const retrier = { attempt: (work: (signal: AbortSignal) => unknown) => work(signal) } as unknown as Retrier
  const reader = new ChangeReader({ call } as unknown as Pick<Rest, 'call'>, retrier)
  const sink = {
    take: ({ clock }: ChangedRows) => void happened.push(`took ${clock}`),
    startOver: () => void happened.push('start over'),
    readAll: async () => {
      await undefined
      happened.push('read all')
    }
  }
  const read = async () => {
    await reader.read(sink)
    return happened.splice(0)
  }
  return { reader, read, answers }
}

const page = (clock: number, more: object = {}) => ({ complete: true, epoch: 'e', clock, began: clock, more: false, ...more })

t.test('everything is read the first time, then each page of changes, from where it stands', async t => {
  const { read, answers } = reading(page(9, { began: 5 }))
  t.same(await read(), [{ since: 0, limit: 1 }, 'read all'])
  answers.push(page(7, { more: true }), page(8))
  t.same(await read(), [{ since: 5, began: 5, epoch: 'e', limit: 500 }, 'took 7', { since: 7, began: 5, epoch: 'e', limit: 500 }, 'took 8'])
  answers.push(page(8))
  t.same(await read(), [{ since: 8, began: 8, epoch: 'e', limit: 500 }, 'took 8'])
})

t.test('a read that fails between pages goes on after the last page that was taken', async t => {
  const { read, answers } = reading(page(5))
  await read()
  answers.push(page(7, { more: true }), new Refused(401, 'x'))
  await t.rejects(read(), new Refused(401, 'x'))
  answers.push(page(8))
  const [, , , next] = await read()
  t.same(next, { since: 7, began: 7, epoch: 'e', limit: 500 })
})

t.test('after a restore everything is read again, as the first time', async t => {
  const { read, answers } = reading(page(5))
  await read()
  answers.push({ complete: false }, page(3, { epoch: 'other' }))
  t.same(await read(), [{ since: 5, began: 5, epoch: 'e', limit: 500 }, 'start over', { since: 0, limit: 1 }, 'read all'])
  answers.push(page(4))
  t.same(await read(), [{ since: 3, began: 3, epoch: 'other', limit: 500 }, 'took 4'])
})

t.test('a server that does not list changes is read completely each time, and asked again only after a reconnect', async t => {
  const { reader, read, answers } = reading(new Refused(404, 'x'))
  t.same(await read(), [{ since: 0, limit: 1 }, 'read all'])
  t.same(await read(), ['read all'])
  reader.reconnected()
  answers.push(page(5))
  t.same(await read(), [{ since: 0, limit: 1 }, 'read all'])
  answers.push(new Refused(404, 'x'))
  t.same(await read(), [{ since: 5, began: 5, epoch: 'e', limit: 500 }, 'read all'], 'another server, which never had an epoch')
  t.same(await read(), ['read all'])
})

t.test('a first answer that is not complete gives no place to read on from', async t => {
  const { read, answers } = reading({ complete: false })
  t.same(await read(), [{ since: 0, limit: 1 }, 'read all'])
  answers.push(page(5))
  t.same(await read(), [{ since: 0, limit: 1 }, 'read all'])
})

t.test('everything is read again if that failed, as nothing is known then', async t => {
  const { reader, read, answers } = reading(page(5), page(6))
  const failing = { take: () => t.fail(), startOver: () => t.fail(), readAll: () => Promise.reject(new Refused(401, 'x')) }
  await t.rejects(reader.read(failing), new Refused(401, 'x'))
  t.same((await read()).slice(1), [{ since: 0, limit: 1 }, 'read all'])
  answers.push(page(7))
  t.same(await read(), [{ since: 6, began: 6, epoch: 'e', limit: 500 }, 'took 7'])
})
