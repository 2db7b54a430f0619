import { basename } from 'node:path'
import t from 'tap'
import { openPostgresStore } from '../../../postgres/store.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'
import { draft, newAccount, newSession } from '../../store/contract/kit.ts'

t.test('an append reads no more of a long session before the database has statistics', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t, { autovacuum: 'off' })
  const url = await postgres.makeDatabase()
  const store = await openPostgresStore(url, {})
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  const [batches, batch] = [50, 20]
  for (let number = 0; number < batches; number++) {
    const drafts = Array.from({ length: batch }, (_, index) => draft('text', `${number}: ${index}`))
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
  t.ok((read?.rows ?? 0) <= 2 * batches * batch, `${read?.rows} rows`)
})
