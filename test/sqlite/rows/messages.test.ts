import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { openDamage } from '../../../lib/store/damage.ts'
import { readMigrations } from '../../../lib/store/migrate.ts'
import { openStore } from '../../../lib/store/open.ts'
import type { StoreBroken } from '../../../lib/store/store.ts'
import { accounts } from '../../../sqlite/access/accounts.ts'
import { CommitQueue } from '../../../sqlite/engine/commit-queue.ts'
import { openDatabase } from '../../../sqlite/file/database.ts'
import { messages } from '../../../sqlite/rows/messages.ts'
import { sessions } from '../../../sqlite/rows/sessions.ts'
import { draft, found, newAccount, newSession } from '../../store/contract/kit.ts'
import { messageContract } from '../../store/contract/messages.ts'
import { proveParts } from '../contract.ts'

const lastPossible = 2 ** 31 - 2

proveParts(t, messageContract)

t.test('the numbers of a session end below 2^31 - 1 with a clear answer, and repeats are still answered [O5]', async t => {
  const dataDirectory = join(t.testdir(), 'data')
  const open = () => openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.fail(reason.message) })
  const store = await open()
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  await store.close()
  const database = new Database(join(dataDirectory, 'afield.db'))
  database.prepare('UPDATE session SET last_seq = ?').run(lastPossible - 2)
  database.close()

  const again = await open()
  t.teardown(() => again.close())
  const append = (...names: (string | null)[]) =>
    again.appendMessages(
      ann,
      session,
      names.map(name => draft('text', name)),
      5
    )
  t.equal(await append('a', 'b', 'c'), 'full')
  t.equal(await append(null, null, null), 'full')
  t.equal(found(await again.findSession(ann, session)).lastSeq, lastPossible - 2, 'nothing of it is kept')
  t.match(await append('a', 'a', 'a', 'b'), { added: [{ seq: lastPossible - 1 }, { seq: lastPossible }] })
  t.match(await append('b', 'a'), { messages: [{ seq: lastPossible - 1 }, { seq: lastPossible }], added: [] })
  t.equal(await append('c'), 'full')
  t.equal(await append('a', 'c'), 'full')
})

t.test('numbers assigned in a turn that failed on a full disk are assigned again [F1] [X1]', async t => {
  const file = join(t.testdir(), 'data', 'afield.db')
  const { database, close } = await openDatabase(file, {
    dataDirectory: dirname(file),
    migrations: readMigrations('sqlite/'),
    clock: () => 1
  })
  t.teardown(close)
  const queue = new CommitQueue({ database, onBroken: reason => t.fail(reason.message) })
  const deps = { database, queue, damage: openDamage() }
  const store = { ...accounts(deps), ...sessions(deps), ...messages(deps) }
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  const append = (text: string) => store.appendMessages(ann, session, [draft(text)], 1)
  t.match(await append('one'), { added: [{ seq: 1 }], clock: 2 })

  database.pragma(`max_page_count = ${database.pragma('page_count', { simple: true })}`)
  const outcomes = await Promise.allSettled([append('two'), append('x'.repeat(100_000)), append('three')])
  for (const outcome of outcomes) t.match(outcome, { status: 'rejected', reason: { name: 'StoreFull' } })
  database.pragma('max_page_count = 100000')
  t.match(await append('two'), { added: [{ seq: 2 }], clock: 3 })
})

t.test('a corrupt page ends the store instead of answering from it [F5]', async t => {
  const dataDirectory = join(t.testdir(), 'data')
  const told: StoreBroken[] = []
  const open = () => openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => told.push(reason) })
  const store = await open()
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  for (let i = 0; i < 20; i++) await store.appendMessages(ann, session, [draft('x'.repeat(3000))], 1)
  await store.close()
  const database = new Database(join(dataDirectory, 'afield.db'))
  const root = Number(database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'message'").pluck().get())
  database.unsafeMode()
  database.pragma('writable_schema = ON')
  database.prepare("UPDATE sqlite_schema SET rootpage = ? WHERE name = 'message_by_local_id'").run(root)
  database.close()

  const broken = await open()
  t.teardown(() => broken.close())
  await t.rejects(broken.appendMessages(ann, session, [draft('y')], 1), { name: 'StoreBroken' })
  await t.rejects(broken.readMessages(ann, session, { after: 0, limit: 10 }), { name: 'StoreBroken' })
  t.equal(told.length, 1)
})
