import { basename } from 'node:path'
import t from 'tap'
import type { AccountId, SessionId } from '../../../lib/protocol/wire/ids.ts'
import type { Store } from '../../../lib/store/store.ts'
import { openPostgresStore } from '../../../postgres/store.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'
import { draft, found, newAccount, newSession } from '../../store/contract/kit.ts'

const batches = 60
const perBatch = 3

t.test('two instances append to one session', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const url = await postgres.makeDatabase()
  const stores = [await openPostgresStore(url, {}), await openPostgresStore(url, {})] as const
  t.teardown(() => Promise.all(stores.map(store => store.close())))
  const ann = await newAccount(stores[0], 'ann')
  const session = await newSession(stores[0], ann)

  await t.test('and no reader ever finds anything below what it has read [O1]', async t => {
    const writers = Promise.all(stores.map((store, index) => appendAll(store, ann, session, `writer ${index}`)))
    const read: string[] = []
    let isOver = false
    writers.then(() => (isOver = true))
    for (let more = true; more || !isOver; ) {
      const page = found(await stores[read.length % 2 === 0 ? 0 : 1].readMessages(ann, session, { after: read.length, limit: 7 }))
      for (const { seq, localId } of page.messages) {
        if (seq !== read.length + 1) t.fail(`${seq} came after ${read.length}`)
        read.push(localId ?? '')
      }
      more = page.more
    }
    await writers
    const rest = found(await stores[0].readMessages(ann, session, { after: read.length, limit: 1_000 }))
    read.push(...rest.messages.map(({ localId }) => localId ?? ''))
    t.equal(read.length, 2 * batches * perBatch)
    t.equal(new Set(read).size, read.length)
  })

  await t.test('and a message sent through both has one row and one number [X1] [X2]', async t => {
    for (let round = 0; round < 20; round++) {
      const drafts = [draft('once', `shared ${round}`), draft('twice', `shared too ${round}`)]
      const [here, there] = await Promise.all(stores.map(store => store.appendMessages(ann, session, drafts, 1)))
      const [one, other] = [found(here ?? 'missing'), found(there ?? 'missing')]
      t.same(one.messages, other.messages)
      t.equal(one.added.length + other.added.length, 2)
    }
  })

  await t.test('and the counters of the account are those of its rows', async t => {
    const [row] = await postgres.query(
      `SELECT clock >= messages AND messages = (SELECT count(*) FROM message) AND bytes = (SELECT sum(octet_length(sealed)) FROM message)
         AND messages = (SELECT sum(last_seq) FROM session) AS same FROM account`,
      url.split('/').at(-1)
    )
    t.same(row, { same: true })
  })
})

t.test('an append reads no more of a long session before the database has statistics', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t, { autovacuum: 'off' })
  const url = await postgres.makeDatabase()
  const store = await openPostgresStore(url, {})
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  for (let number = 0; number < 50; number++) {
    const drafts = Array.from({ length: 20 }, (_, index) => draft('text', `${number}: ${index}`))
    await store.appendMessages(ann, session, drafts, 1)
  }
  // A connection that ends leaves its statistics.
  await store.close()
  const [read] = await postgres.query<{ rows: number }>(
    `SELECT (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'message')::integer
       + seq_tup_read::integer AS rows FROM pg_stat_user_tables WHERE relname = 'message'`,
    basename(url)
  )
  t.ok(read && read.rows > 0, 'they are counted')
  // At most the next row for each draft; the whole session for each would be half a million.
  t.ok((read?.rows ?? 0) <= 2 * 1_000, `${read?.rows} rows`)
})

/** As fast as it can: many batches wait while one is stored, so that they share turns. */
async function appendAll(store: Store, account: AccountId, session: SessionId, writer: string): Promise<void> {
  const appends = Array.from({ length: batches }, (_, batch) => {
    const drafts = Array.from({ length: perBatch }, (_, place) => draft('text', `${writer}, ${batch}, ${place}`))
    return async () => found(await store.appendMessages(account, session, drafts, 1))
  })
  const workers = Array.from({ length: 6 }, async () => {
    for (let next = appends.pop(); next; next = appends.pop()) await next()
  })
  await Promise.all(workers)
}
