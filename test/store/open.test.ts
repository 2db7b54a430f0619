import fs, { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { readMigrations } from '../../lib/store/migrate.ts'
import {
  existingDatabase,
  inspectStore,
  isPostgres,
  openForRestore,
  openHappyDatabase,
  openImportTarget,
  openMoveTarget,
  openStore,
  openTransfer,
  readEndedTokens,
  readNeededSchema,
  sinceMigration
} from '../../lib/store/open.ts'
import { exchange } from '../kit/exchange.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
import { newAccount, signInAs, tokenDraft, tokenId } from './contract/kit.ts'

const onBroken = (reason: Error) => t.fail(reason.message)

t.test('an unknown store is rejected without repeating its password', async t => {
  for (const url of ['mysql://user:secret@host/db', 'afield.db', 'sqlite:', '']) {
    const refusal = await openStore(url, { dataDirectory: t.testdirName, onBroken }).then(
      () => undefined,
      error => error
    )
    t.match(refusal, { name: 'CannotStart', exitCode: 78, message: /use sqlite:<file> or postgres:/ }, url)
    t.notMatch(refusal?.message, /secret/)
  }
})

t.test('a relative file is in the data directory, an absolute one is used as is', async t => {
  const dataDirectory = join(t.testdir(), 'data')
  const elsewhere = join(dataDirectory, '..', 'elsewhere', 'other.db')
  for (const url of ['sqlite:afield.db', `sqlite:${elsewhere}`]) {
    const store = await openStore(url, { dataDirectory, onBroken })
    t.equal(await store.hasAccounts(), false)
    await store.close()
  }
})

const newest = readMigrations('sqlite/').length
// Nobody listens there.
const nowhere = 'postgres://127.0.0.1:1/afield'

t.test('a URL is one of PostgreSQL by its whole scheme', async t => {
  for (const url of ['postgres://host/db', 'postgresql://host/db']) t.ok(isPostgres(url), url)
  for (const url of ['sqlite:postgres://x', 'postgres:x', 'mysql://host/db', '']) t.notOk(isPostgres(url), url)
})

t.test('a data directory is private, locked by one server, and unlocked again when its database cannot be reached', async t => {
  const dataDirectory = join(memoryFolder(t), 'new', 'data')
  await t.rejects(openStore(nowhere, { dataDirectory, onBroken }), { name: 'CannotStart' })
  t.equal(statSync(dataDirectory).mode & 0o777, 0o700)
  const store = await openStore('sqlite:afield.db', { dataDirectory, onBroken })
  await t.rejects(openStore(nowhere, { dataDirectory, onBroken }), { name: 'CannotStart', message: /Another Afield server is using/ })
  await store.close()
})

t.test('a store calls its listeners, and takes its time from the given clock', async t => {
  const dataDirectory = memoryFolder(t)
  const commits: number[] = []
  const store = await openStore('sqlite:afield.db', {
    ...{ dataDirectory, onBroken, clock: () => 77 },
    onCommit: ({ members }) => commits.push(members),
    onMigrated: () => t.fail('it is new')
  })
  t.equal(await store.time(), 77)
  await newAccount(store, 'ann')
  t.same(commits, [1])
  await store.close()
})

t.test('asking about a database that does not exist does not create it', async t => {
  const data = memoryFolder(t)
  const says = `There is no server data in ${data} yet: ${join(data, 'afield.db')} is created when the server starts for the first time.`
  const none = { name: 'CannotStart', message: says, exitCode: 78, cause: { code: 'ENOENT' } }
  t.throws(() => existingDatabase('sqlite:afield.db', data), none)
  await t.rejects(openTransfer('sqlite:afield.db', data), none)
  t.equal(await openImportTarget('sqlite:afield.db', data, { mayCreate: false }), undefined)
  t.equal(await inspectStore('sqlite:afield.db', data), undefined)
  t.equal(await readNeededSchema('sqlite:afield.db', data), undefined)
  t.equal(await sinceMigration('sqlite:afield.db', data, 3), undefined)
  t.same(await readEndedTokens(data), [])
  t.same(readdirSync(data), [])
  const created = await openImportTarget('sqlite:afield.db', data, { mayCreate: true })
  t.match(await created?.lastKeys(), { account: 0 })
  await created?.close()
  const known = await openImportTarget('sqlite:afield.db', data, { mayCreate: false })
  t.ok(known)
  await known?.close()
  t.equal(existingDatabase('sqlite:afield.db', data), join(data, 'afield.db'))
})

t.test('a database that belongs to another user is reported as that', async t => {
  const data = memoryFolder(t)
  const end = exchange(t, fs, 'statSync', () => {
    throw Object.assign(new Error('not yours'), { code: 'EACCES' })
  })
  t.throws(() => existingDatabase('sqlite:afield.db', data), {
    name: 'CannotStart',
    message: `${join(data, 'afield.db')} belongs to another user; run this command as that user.`,
    cause: { code: 'EACCES' }
  })
  end()
})

t.test('a database that an interrupted restore has moved away counts as there', async t => {
  const data = memoryFolder(t)
  writeFileSync(join(data, 'afield.db.restoring'), '{}')
  t.equal(existingDatabase('sqlite:afield.db', data), join(data, 'afield.db'))
})

t.test('what only the other kind of store can do is rejected with one sentence', async t => {
  const data = memoryFolder(t)
  const cannot = (message: string) => ({ name: 'CannotStart', message, exitCode: 78 })
  await t.rejects(openMoveTarget('sqlite:x.db'), cannot('A store can only be moved into postgres://<user>@<host>/<database>.'))
  await t.rejects(openHappyDatabase('sqlite:x.db'), cannot('Give the database of the Happy server as postgres://<user>@<host>/<database>.'))
  await t.rejects(
    openForRestore(nowhere, data),
    cannot('A backup can only be restored into a sqlite store; restore a PostgreSQL database with pg_restore.')
  )
  t.throws(() => existingDatabase(nowhere, data), cannot('Only a sqlite store has a file.'))
  t.equal(await sinceMigration(nowhere, data, 3), undefined)
  const unreachable: (() => Promise<unknown>)[] = [
    () => openTransfer(nowhere, data),
    () => openImportTarget(nowhere, data, { mayCreate: true }),
    () => openHappyDatabase(nowhere),
    () => inspectStore(nowhere, data),
    () => readNeededSchema(nowhere, data)
  ]
  for (const open of unreachable) await t.rejects(open(), /127\.0\.0\.1/)
})

t.test('a database is inspected, and the rows stored since its last migration are counted', async t => {
  const data = memoryFolder(t)
  const url = 'sqlite:afield.db'
  const store = await openStore(url, { dataDirectory: data, onBroken })
  await store.signIn(signInAs('ann', { token: () => tokenDraft('named', 'ended') }))
  await store.close()
  t.same(await inspectStore(url, data), { schema: newest, neededSchema: newest, newestSchema: newest, flaw: undefined })
  t.equal(await readNeededSchema(url, data), newest)
  const database = new Database(join(data, 'afield.db'))
  database.prepare('VACUUM INTO ?').run(join(data, 'before-schema-3.db'))
  database.close()
  t.same(await sinceMigration(url, data, 3), { copy: join(data, 'before-schema-3.db'), stored: [] })
  t.equal(await sinceMigration(url, data, 4), undefined)

  const again = await openStore(url, { dataDirectory: data, onBroken })
  const ann = signInAs('ann').newAccount
  await again.revokeToken(ann, tokenId('ended'))
  await newAccount(again, 'bob')
  await again.close()
  const later = new Database(join(data, 'afield.db'))
  later.exec('CREATE TABLE later (x); INSERT INTO later VALUES (1), (2), (3)')
  later.close()
  const since = await sinceMigration(url, data, 3)
  t.match(
    since?.stored.find(({ table }) => table === 'later'),
    { rows: 3 }
  )
  t.match(
    since?.stored.find(({ table }) => table === 'account'),
    { rows: 2 }
  )
  t.same(await readEndedTokens(data), ['ended'])
})

t.test('a place for a restore is locked, says whether it has accounts, and unpacks next to the database', async t => {
  const data = join(memoryFolder(t), 'data')
  mkdirSync(data)
  const place = await openForRestore('sqlite:afield.db', data)
  t.same([place.database, place.hasAccounts()], [join(data, 'afield.db'), false])
  await t.rejects(openStore('sqlite:afield.db', { dataDirectory: data, onBroken }), { message: /Another Afield server is using/ })
  place.free()
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken })
  await store.close()
  const empty = await openForRestore('sqlite:afield.db', data)
  t.equal(empty.hasAccounts(), false)
  empty.free()
  const used = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken })
  await newAccount(used, 'ann')
  await used.close()
  const full = await openForRestore('sqlite:afield.db', data)
  t.equal(full.hasAccounts(), true)
  const fresh = full.makeFresh()
  t.equal(fresh.database, fresh.data)
  full.free()
})
