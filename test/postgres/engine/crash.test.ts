import t from 'tap'
import type { AccountId, SessionId } from '../../../lib/protocol/wire/ids.ts'
import { type Store, StoreBusy } from '../../../lib/store/store.ts'
import { openPostgresStore } from '../../../postgres/store.ts'
import { lacksPostgres, type Postgres, startPostgres } from '../../kit/postgres.ts'
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
