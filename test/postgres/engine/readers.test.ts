import pg from 'pg'
import t from 'tap'
import { StoreBusy } from '../../../lib/store/store.ts'
import type { Connection } from '../../../postgres/engine/connection.ts'
import type { Queries } from '../../../postgres/engine/deps.ts'
import { ConnectionLost } from '../../../postgres/engine/failure.ts'
import { patienceMs } from '../../../postgres/engine/patience.ts'
import { Readers } from '../../../postgres/engine/readers.ts'
import { exchange } from '../../kit/exchange.ts'

/** Connections without a database: each records what was asked of it, and which are open. */
function place(most: number) {
  const connections: { asked: string[]; isLost: boolean; isClosed: boolean }[] = []
  let refuse: unknown
  let opening: Promise<void> = Promise.resolve()
  const readers = new Readers({
    most,
    async connect() {
      const connection = {
        ...{ asked: [] as string[], isLost: false, isClosed: false },
        async command(sql: string) {
          connection.asked.push(sql)
          return sql
        },
        async get(sql: string) {
          connection.asked.push(sql)
          return { connection: connections.indexOf(connection) }
        },
        drop() {
          connection.isLost = true
        },
        async close() {
          connection.isClosed = true
        }
      }
      await opening
      if (refuse !== undefined) throw refuse
      connections.push(connection)
      return connection as unknown as Connection
    }
  })
  return {
    ...{ readers, connections },
    failWith(error: unknown) {
      refuse = error
    },
    /** Connections that are opened from now on are there when the promise resolves. */
    openAfter(promise: Promise<void>) {
      opening = promise
    }
  }
}

const ask = async (queries: Queries) => (await queries.get<{ connection: number }>('SELECT', []))?.connection
const answer = (code: string) => Object.assign(new pg.DatabaseError('an answer', 1, 'error'), { code })
const lost = () => new ConnectionLost('lost')

t.test('a connection is reused by one read at a time, and no more than the limit are opened', async t => {
  const { readers, connections } = place(2)
  t.equal(await readers.read(ask), 0)
  t.equal(await readers.read(ask), 0)
  t.equal(connections.length, 1)
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const order: string[] = []
  const holding = held.map(({ promise }, index) =>
    readers.read(async queries => {
      order.push(`${index} on ${await ask(queries)}`)
      await promise
      return index
    })
  )
  const waiting = ['a', 'b'].map(name => readers.read(async queries => order.push(`${name} on ${await ask(queries)}`)))
  while (order.length < 2) await new Promise(resolve => setImmediate(resolve))
  t.same(order, ['0 on 0', '1 on 1'])
  held[1].resolve()
  await Promise.all(waiting)
  t.same(order.slice(2), ['a on 1', 'b on 1'], 'in the order they came')
  held[0].resolve()
  t.same(await Promise.all(holding), [0, 1])
  await readers.end()
  t.ok(connections.length === 2 && connections.every(({ isClosed }) => isClosed))
  t.notOk(process.getActiveResourcesInfo().includes('Timeout'), 'and no timer is left')
})

t.test('all statements of a snapshot are in one transaction, which ends with it', async t => {
  const { readers, connections } = place(1)
  const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
  t.equal(await readers.snapshot(ask), 0)
  t.same(connections[0]?.asked.splice(0), [begin, 'SELECT', 'COMMIT'])
  const failed = readers.snapshot(async () => {
    throw new Error('not now')
  })
  await t.rejects(failed, { message: 'not now' })
  t.same(connections[0]?.asked.splice(0), [begin, 'COMMIT'])
  let runs = 0
  await readers.snapshot(async () => {
    runs += 1
    if (runs > 1) return
    if (connections[0]) connections[0].isLost = true
    throw lost()
  })
  t.same(
    connections.map(({ asked }) => asked),
    [[begin], [begin, 'COMMIT']]
  )
})

t.test('a read that loses its connection runs again on another, and the lost one is not used again', async t => {
  const { readers, connections } = place(1)
  let runs = 0
  const read = readers.read(async queries => {
    runs += 1
    if (runs === 1) throw answer('57P01')
    return ask(queries)
  })
  const next = readers.read(ask)
  t.same(await Promise.all([read, next]), [1, 1])
  t.same(
    connections.map(({ isLost }) => isLost),
    [true, false]
  )
  await readers.end()
  t.same(
    connections.map(({ isClosed }) => isClosed),
    [false, true]
  )
})

t.test('an error of the database rejects the read, a conflict repeats it, and the connection stays in use', async t => {
  const { readers, connections } = place(1)
  const failing = (error: unknown) =>
    readers.read(async () => {
      throw error
    })
  const refused = answer('22P02')
  await t.rejects(failing(refused), refused)
  await t.rejects(failing(answer('57014')), { name: 'StoreBusy', message: 'The database took too long.' })
  let runs = 0
  t.equal(
    await readers.read(async () => {
      runs += 1
      if (runs === 1) throw answer('40001')
      return 'again'
    }),
    'again'
  )
  t.equal(await readers.read(ask), 0)
  t.equal(connections.length, 1)
})

t.test('a database that comes back soon fails no read, and one that stays away rejects them', async t => {
  const { readers, failWith } = place(1)
  failWith(lost())
  const early = [readers.read(ask), readers.read(ask)]
  await new Promise(resolve => setImmediate(resolve))
  failWith(undefined)
  t.same(await Promise.all(early), [0, 0])
  await readers.end()

  const away = place(2)
  away.failWith(lost())
  await t.rejects(away.readers.read(ask), { name: 'StoreBusy', message: 'The database cannot be reached.' })
  away.failWith(undefined)
  t.same(await Promise.all([1, 2, 3].map(() => away.readers.read(async q => (await ask(q)) !== undefined))), [true, true, true])
  t.equal(away.connections.length, 2, 'and failed attempts take no room')
  await away.readers.end()
})

t.test('a read that waits too long for a connection is rejected, and its place is free [M6]', async t => {
  const { readers } = place(1)
  const held = Promise.withResolvers<void>()
  const holding = readers.read(() => held.promise)
  await t.rejects(readers.read(ask), { name: 'StoreBusy', message: 'All connections to the database are busy.' })
  const next = readers.read(ask)
  held.resolve()
  await holding
  t.equal(await next, 0, 'and its turn does not go to the rejected one')
  await readers.end()

  const late = place(1)
  const there = Promise.withResolvers<void>()
  late.openAfter(there.promise)
  await t.rejects(late.readers.read(ask), StoreBusy)
  there.resolve()
  t.equal(await late.readers.read(ask), 0, 'one that is opened late is used by the next')
  t.equal(late.connections.length, 1)
  await late.readers.end()
})

t.test('a read that waits longer than that behind others that end is not rejected [M6]', async t => {
  const { readers } = place(1)
  let now = 0
  exchange(t, performance, 'now', () => now)
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const [first, second] = held.map(({ promise }) => readers.read(() => promise))
  const last = readers.read(ask)
  now = patienceMs - 1
  held[0].resolve()
  await first
  now = patienceMs + 1
  // The timer of the read that still waits began before this one, and is due first.
  await new Promise(resolve => setTimeout(resolve, patienceMs))
  held[1].resolve()
  await second
  t.equal(await last, 0)
  await readers.end()
})

t.test('closing waits for running reads, and no other begins', async t => {
  const { readers, connections } = place(2)
  const held = Promise.withResolvers<void>()
  const reading = readers.read(() => held.promise)
  await readers.read(ask)
  let isEnded = false
  const ended = readers.end().then(() => {
    isEnded = true
  })
  await t.rejects(readers.read(ask), { name: 'StoreBroken', message: 'The store is closed.' })
  t.notOk(isEnded)
  held.resolve()
  await Promise.all([reading, ended])
  t.ok(connections.length === 2 && connections.every(({ isClosed }) => isClosed))
})
