import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { revocationTopic } from '../../lib/bus/bus.ts'
import { createServer } from '../../lib/index.ts'
import { Closers } from '../../lib/server/closers.ts'
import { openStore } from '../../lib/store/open.ts'
import { failingBus } from '../bus/failing-bus.ts'
import { manualClock } from '../kit/manual-clock.ts'
import { signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { openAccepted } from './raw-websocket.ts'

t.test('all are closed in reverse order even if some fail, and the failure is reported at the end', async t => {
  const closed: string[] = []
  const closers = new Closers(manualClock())
  const failing = new Error('failing')
  closers.add(() => void closed.push('first'))
  closers.add(() => {
    throw failing
  })
  closers.add(async () => void closed.push('last'))
  await t.rejects(closers.close(), failing)
  t.same(closed, ['last', 'first'])
  await closers.close()
  t.same(closed, ['last', 'first'], 'each once')

  for (const each of [1, 2]) closers.add(() => Promise.reject(each))
  await t.rejects(closers.close(), { name: 'AggregateError', errors: [2, 1] })
})

t.test('one that never answers is skipped after a while, unless it must be waited for', async t => {
  const clock = manualClock()
  const closers = new Closers(clock)
  const { promise, resolve } = Promise.withResolvers<void>()
  const closed: string[] = []
  closers.addWithoutDeadline(async () => {
    await promise
    closed.push('patient')
  })
  closers.add(() => new Promise(() => {}))
  const closing = closers.close()
  clock.advance(10_000)
  await new Promise(setImmediate)
  clock.advance(60_000)
  await new Promise(setImmediate)
  t.same(closed, [])
  resolve()
  await t.rejects(closing, { name: 'DeadlineExceeded' })
  t.same(closed, ['patient'])
  t.equal(clock.pending, 0)
})

t.test('a bus that does not close holds neither the directory nor the port, and clients are told [L1]', async t => {
  const bus = failingBus()
  const end = bus.open({ onError: error => t.error(error) })
  const data = t.testdir()
  const own = { signup: 'open', limits: 'off', logLevel: 'silent', expoUrl: 'off' } as const
  const server = await createServer({ ...own, data, port: 0, bus: end })
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  bus.leavingFails = true
  await t.rejects(server.close(), { name: 'AggregateError', errors: [{ message: 'The bus lets nobody go.' }] })
  t.equal(await web.ended(), 1012)
  await t.rejects(fetch(`${server.url}/health`))
  const again = await startServer(t, { data })
  t.ok(again.url)
})

t.test('a start that fails late leaves no listener behind', async t => {
  const bus = failingBus()
  const end = bus.open({ onError: error => t.error(error) })
  await t.rejects(startServer(t, { bus: end, pushAllow: 'nonsense' }), { name: 'CannotStart' })
  t.equal(bus.listeners(revocationTopic), 0)
})

t.test('a database that turns out unusable after opening is closed', async t => {
  const dataDirectory = t.testdir()
  const open = () => openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.fail(reason.message) })
  await (await open()).close()
  const file = new Database(join(dataDirectory, 'afield.db'))
  file.exec('PRAGMA foreign_keys = OFF; DROP TABLE token')
  file.close()
  for (let time = 0; time < 2; time += 1) await t.rejects(open(), { message: /no such table: (main\.)?token/ })
})
