import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../lib/store/open.ts'
import { draft, newAccount, newSession } from '../store/contract/kit.ts'

const mib = 1024 * 1024

t.test('the log of the database stays far smaller than what was written through it [F7]', async t => {
  const dataDirectory = t.testdir()
  const store = await openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.fail(reason.message) })
  t.teardown(() => store.close())
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  const large = 'x'.repeat(mib)
  let most = 0
  for (let written = 0; written < 120; written += 1) {
    await store.appendMessages(ann, session, [draft(large)], 1)
    most = Math.max(most, statSync(join(dataDirectory, 'afield.db-wal')).size)
  }
  t.ok(statSync(join(dataDirectory, 'afield.db')).size > 60 * mib)
  t.ok(most < 32 * mib, `${Math.round(most / mib)} MiB at most`)
})
