import { basename } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { openPostgresStore } from '../../../postgres/store.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'
import { newAccount, sessionId } from '../../store/contract/kit.ts'
import { noticeContract } from '../../store/contract/notices.ts'
import { proveParts } from '../contract.ts'

proveParts(t, noticeContract)

// Their removal moves counters of their accounts, which every write locks before anything else.
t.test('old notices are not locked while the removal waits for a write of their account', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const url = await postgres.makeDatabase()
  const store = await openPostgresStore(url, {})
  t.teardown(() => store.close())
  for (const name of ['ann', 'bob']) {
    const account = await newAccount(store, name)
    const draft = { kind: 'permission', session: sessionId('s'), title: '', body: '', preview: null, expiresAt: 1000 } as const
    for (const [id, now] of Object.entries({ old: 1, young: 9 })) await store.addNotice(account, { ...draft, id, now, deliveries: [] })
  }
  const writer = new pg.Client({ connectionString: url })
  await writer.connect()
  t.teardown(() => writer.end())
  await writer.query("BEGIN; SELECT FROM account WHERE id = 'account-ann' FOR NO KEY UPDATE")
  const removed = store.forgetNotices(9, 10)
  const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
  while ((await postgres.query(waits, basename(url))).length === 0);
  const { rowCount } = await writer.query("SELECT FROM notice WHERE id = 'old' FOR UPDATE NOWAIT")
  t.equal(rowCount, 2)
  await writer.query('COMMIT')
  t.equal(await removed, 2)
})
