import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import t from 'tap'
import type { AccountId, SessionId } from '../../../lib/protocol/wire/ids.ts'
import { type Store, StoreBusy } from '../../../lib/store/store.ts'
import { openPostgresStore } from '../../../postgres/store.ts'
import { lacksPostgres, type Postgres, startPostgres } from '../../kit/postgres.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'
import { draft, found, newAccount, newSession, readAll } from '../../store/contract/kit.ts'

t.test('a store whose database fails', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const url = await postgres.makeDatabase()
  const store = await openPostgresStore(url, {})
  t.teardown(() => store.close())
  const ann = await newAccount(store, 'ann')

  const failures: Record<string, (postgres: Postgres) => Promise<unknown>> = {
    'has what it said it stored, and goes on, when connections are cut [D1]': () =>
      postgres.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'afield'`),
    'has what it said it stored, and goes on, when the database crashes and restarts [D1]': () => postgres.crash()
  }
  for (const [title, fail] of Object.entries(failures)) {
    await t.test(title, async t => {
      const session = await newSession(store, ann)
      const answered = await appendThrough(store, ann, session, () => fail(postgres))
      const names = (await readAll(store, ann, session)).map(({ localId }) => localId)
      t.equal(new Set(names).size, names.length, 'each once [X1]')
      t.same(
        answered.filter(name => !names.some(stored => stored === name)),
        []
      )
      t.ok(answered.length >= 3 * enough, String(answered.length))
    })
  }

  await t.test('says that it is busy while the database is away, and goes on without a restart of its own', async t => {
    const session = await newSession(store, ann)
    await postgres.stop()
    await t.rejects(store.appendMessages(ann, session, [draft('one', 'a')], 1), { name: 'StoreBusy' })
    await t.rejects(store.findSession(ann, session), { name: 'StoreBusy' })
    await postgres.start()
    t.match(await store.appendMessages(ann, session, [draft('one', 'a')], 1), { added: [{ seq: 1 }] })
  })

  await t.test('stores what came shortly before it is back, also when those who waited longer have been told that it is busy', async t => {
    const proxy = await openTcpProxy(t, url)
    const store = await openPostgresStore(url.replace(/127\.0\.0\.1:\d+/, new URL(proxy.url).host), {})
    t.teardown(() => store.close())
    const session = await newSession(store, ann)
    await proxy.closePort()
    const append = () => store.appendMessages(ann, session, [draft('text', randomUUID())], 1)
    let last = Promise.allSettled([append()])
    const first = last
    const coming = setInterval(() => {
      last = Promise.allSettled([append()])
    }, 100)
    t.match(await first, [{ status: 'rejected', reason: { name: 'StoreBusy' } }])
    clearInterval(coming)
    await proxy.openPort()
    t.match(await last, [{ status: 'fulfilled' }])
  })
})

t.test('a store whose database fails over to its replica [M5]', { skip: lacksPostgres }, async t => {
  const primary = await startPostgres(t)
  const name = basename(await primary.makeDatabase())
  const proxy = await openTcpProxy(t, primary.urlOf(name))
  const store = await openPostgresStore(`postgres://afield@127.0.0.1:${new URL(proxy.url).port}/${name}`, {})
  t.teardown(() => store.close())
  const link = await openTcpProxy(t, primary.urlOf(name))
  const standby = await primary.addStandby(link.url)
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  const changes = (epoch: string | undefined, since: number) => store.changesSince(ann, { epoch, since, began: undefined, limit: 10 })
  const before = await changes(undefined, 0)
  t.match(await changes(before.epoch, before.clock), { complete: true })

  const answered = await appendThrough(store, ann, session, async () => {
    // Something is written that the replica never gets.
    link.stall()
    const [at] = await primary.query<{ lsn: string }>('SELECT pg_current_wal_flush_lsn() AS lsn')
    while ((await primary.query(`SELECT WHERE pg_current_wal_flush_lsn() > '${at?.lsn}'`)).length === 0);
    await primary.stop('immediate')
    await standby.promote()
    proxy.moveTo(standby.urlOf(name))
  })
  const messages = await readAll(store, ann, session)
  const stored = new Set(messages.map(({ localId }) => localId as string | null))
  t.same(
    answered.filter(name => !stored.has(name)),
    []
  )
  t.equal(stored.size, messages.length, 'each once [X1]')
  t.same(
    messages.map(({ seq }) => seq),
    messages.map((_, index) => index + 1)
  )
  t.match(await changes(before.epoch, before.clock), { complete: false }, 'clients read everything again')

  const after = await changes(undefined, 0)
  t.not(after.epoch, before.epoch)
  const again = await openPostgresStore(standby.urlOf(name), {})
  t.teardown(() => again.close())
  t.equal((await again.changesSince(ann, { epoch: undefined, since: 0, began: undefined, limit: 10 })).epoch, after.epoch, 'once')
})

const enough = 100

/** Appends until so many were answered before, and again after, the failure; returns those that were. A refused one is repeated. */
async function appendThrough(store: Store, account: AccountId, session: SessionId, fail: () => Promise<unknown>): Promise<string[]> {
  const answered: string[] = []
  let failed: Promise<unknown> | undefined
  let end = Number.POSITIVE_INFINITY
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let turn = 0; answered.length < end; turn++) {
      const name = `${writer}: ${turn}`
      await untilAnswered(() => store.appendMessages(account, session, [draft('text', name)], 1))
      answered.push(name)
      if (answered.length >= enough) failed ??= fail().then(() => (end = answered.length + 2 * enough))
    }
  })
  await Promise.all(writers)
  await failed
  return answered
}

async function untilAnswered<T>(append: () => Promise<T>): Promise<void> {
  for (;;) {
    try {
      found((await append()) as 'missing')
      return
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error
    }
  }
}
