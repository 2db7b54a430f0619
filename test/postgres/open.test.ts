import { join } from 'node:path'
import t from 'tap'
import { examineDatabase } from '../../lib/doctor/store.ts'
import { askServer } from '../../lib/server/control/ask.ts'
import { openForRestore, openStore, readNeededSchema, sinceMigration } from '../../lib/store/open.ts'
import { signUp } from '../kit/person.ts'
import { lacksPostgres, startPostgres } from '../kit/postgres.ts'
import { startServer } from '../kit/server.ts'
import { draft, found, newAccount, newSession, sealed } from '../store/contract/kit.ts'

t.test('a store named by the URL of a PostgreSQL database', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const store = await postgres.makeDatabase()
  const data = join(t.testdir(), 'data')
  const onBroken = (reason: Error) => t.fail(reason.message)

  await t.test('is opened by either name, once per data directory', async t => {
    const first = await openStore(store, { dataDirectory: data, onBroken })
    t.equal(await first.hasAccounts(), false)
    await t.rejects(openStore(store, { dataDirectory: data, onBroken }), { name: 'CannotStart', message: /Another Afield server is using/ })
    const second = await openStore(store.replace('postgres:', 'postgresql:'), { dataDirectory: `${data}-2`, onBroken })
    t.equal(await second.keepSecret('name', Buffer.from('one')).then(String), 'one')
    t.equal(await first.keepSecret('name', Buffer.from('two')).then(String), 'one', 'instances share one database')
    await Promise.all([first.close(), second.close()])
    const again = await openStore(store, { dataDirectory: data, onBroken })
    await again.close()
  })

  await t.test('frees the data directory if it cannot be opened', async t => {
    const missing = postgres.urlOf('nowhere')
    for (let attempt = 0; attempt < 2; attempt++) {
      await t.rejects(openStore(missing, { dataDirectory: data, onBroken }), {
        name: 'CannotStart',
        message: /There is no database nowhere/
      })
    }
  })

  await t.test('serves people, and commands with and without a running server', async t => {
    const server = await startServer(t, { store, data })
    const ada = await signUp(t, server)
    t.equal((await ada.call('GET', '/v1/account/profile')).status, 200)
    await t.rejects(askServer({ data, store }, 'copyStore', {}), {
      message: /cannot be copied into a file; back it up with the tools of its database/
    })
    t.match(await askServer({ data, store }, 'listUsers', {}), { users: [{ role: 'owner' }] })
    await server.close()
    t.match(await askServer({ data, store }, 'listUsers', {}), { users: [{ role: 'owner' }] })
  })

  await t.test('is never copied to or from files by commands, which say so', async t => {
    await t.rejects(openForRestore(store, data), { name: 'CannotStart', message: /restore a PostgreSQL database with pg_restore/ })
    t.equal(await readNeededSchema(store, data), 1)
    t.equal(await sinceMigration(store, data, 1), undefined)
    await t.rejects(startServer(t, { store, data, backupEvery: 1 }), { name: 'CannotStart', message: /tools of its database/ })
  })

  await t.test('is examined by doctor', async t => {
    t.match(await examineDatabase({ data, store }), { state: 'ok' })
    t.match(await examineDatabase({ data, store: await postgres.makeDatabase() }), { says: 'there is none yet' })
    const away = await examineDatabase({ data, store: 'postgres://ann:secret@127.0.0.1:1/afield' })
    t.match(away, { says: /cannot be reached \(ECONNREFUSED\)/, advice: /URL of --store/ })
    t.notMatch(JSON.stringify(away), 'secret')
  })
})

t.test('after a dump was restored, no number or version is given out twice [O6]', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const url = await postgres.makeDatabase()
  const open = () => openStore(url, { dataDirectory: t.testdir(), onBroken: reason => t.fail(reason.message) })
  const store = await open()
  t.teardown(() => store.close())
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  await store.appendMessages(ann, session, [draft('one', 'a')], 1)
  const before = await store.changesSince(ann, { epoch: undefined, since: 0, began: undefined, limit: 10 })

  await postgres.query('SELECT become_restored()', url.split('/').at(-1))
  t.match(await store.changesSince(ann, { epoch: before.epoch, since: before.clock, began: undefined, limit: 10 }), { complete: false })
  const { messages } = found(await store.appendMessages(ann, session, [draft('one', 'a'), draft('two')], 2))
  t.equal(messages[0]?.seq, 1, 'what is there already keeps its number [X1]')
  t.ok((messages[1]?.seq ?? 0) > 1_000_000, String(messages[1]?.seq))
  const ref = { of: 'session', id: session, name: 'metadata' } as const
  t.match(await store.writeCell(ann, ref, 0, sealed('late'), 3), { written: false })
  t.ok((found(await store.findSession(ann, session)).metadata.version ?? 0) > 1_000_000)
})
