import pg from 'pg'
import t from 'tap'
import { readMigrations } from '../../../lib/store/migrate.ts'
import { connect, flawIn, placeOf, prepareDatabase } from '../../../postgres/engine/database.ts'
import { schemaOf } from '../../../postgres/engine/schema.ts'
import { openPostgresStore } from '../../../postgres/store.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'
import { newAccount } from '../../store/contract/kit.ts'

const migrations = readMigrations('postgres/')
const nameOf = (url: string) => url.split('/').at(-1) ?? ''

t.test('a database of PostgreSQL', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const refusalOf = (url: string) =>
    prepareDatabase(url, { migrations }).then(
      () => undefined,
      (error: Error) => error
    )

  await t.test('gets its schema once, however many instances start at once', async t => {
    const url = await postgres.makeDatabase()
    const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore(url, {})))
    t.teardown(() => Promise.all(stores.map(store => store.close())))
    t.same(await postgres.query('SELECT number FROM migration', nameOf(url)), [{ number: '1' }])
  })

  await t.test('is upgraded once, in the order of the steps, and says so to one of them', async t => {
    const url = await postgres.makeDatabase()
    await prepareDatabase(url, { migrations })
    const next = { number: migrations.length + 1, name: 'next', sql: 'ALTER TABLE account ADD COLUMN mood text' }
    const told: unknown[] = []
    const upgrade = () => prepareDatabase(url, { migrations: [...migrations, next], onMigrated: steps => told.push(steps) })
    await Promise.all([upgrade(), upgrade(), upgrade()])
    t.same(told, [{ from: migrations.length, to: next.number }])
  })

  await t.test('is left as it was by a step that fails', async t => {
    const url = await postgres.makeDatabase()
    await prepareDatabase(url, { migrations })
    const broken = { number: 2, name: 'broken', sql: 'ALTER TABLE account ADD COLUMN mood text; SELECT 1 / 0' }
    await t.rejects(prepareDatabase(url, { migrations: [...migrations, broken] }), { message: /division by zero/ })
    t.same(await postgres.query('SELECT max(number) AS number FROM migration', nameOf(url)), [{ number: '1' }])
    await t.rejects(postgres.query('SELECT mood FROM account', nameOf(url)))
  })

  await t.test('is changed between the transactions of others, who do not wait for one that is long [L4]', async t => {
    const url = await postgres.makeDatabase()
    const store = await openPostgresStore(url, {})
    t.teardown(() => store.close())
    await newAccount(store, 'ann')
    const reader = new pg.Client({ connectionString: url })
    await reader.connect()
    t.teardown(() => reader.end())
    await reader.query('BEGIN; SELECT FROM account')
    const less = { number: migrations.length + 1, name: 'less', sql: 'ALTER TABLE account ALTER role SET DEFAULT NULL' }
    let isChanged = false
    const changed = prepareDatabase(url, { migrations: [...migrations, less] }).then(() => {
      isChanged = true
    })
    const waits = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'account'::regclass`
    for (let round = 0; round < 2; round += 1) {
      while ((await postgres.query(waits, nameOf(url))).length === 0);
      t.match(await newAccount(store, `ben ${round}`), /./, 'who comes behind it is served')
      t.equal((await store.listAccounts()).length, round + 2)
    }
    t.notOk(isChanged)
    await reader.query('ROLLBACK')
    await changed
    t.same(await postgres.query('SELECT max(number)::int AS number FROM migration', nameOf(url)), [{ number: less.number }])
  })

  await t.test('is not changed while a transaction of another program does not end, which is said in one sentence [L4]', async t => {
    const url = await postgres.makeDatabase()
    await prepareDatabase(url, { migrations })
    const reader = new pg.Client({ connectionString: url })
    await reader.connect()
    t.teardown(() => reader.end())
    await reader.query('BEGIN; SELECT FROM account')
    const connection = await connect(url, migrations.length)
    t.teardown(() => connection.close())
    const less = { number: migrations.length + 1, name: 'less', sql: 'CREATE TABLE mood (id bigint); ALTER TABLE account DROP COLUMN role' }
    const schema = schemaOf(connection, placeOf(url), { withinMs: 0 })
    await t.rejects(async () => schema.apply([less]), {
      name: 'CannotStart',
      exitCode: 75,
      message: /^The schema of the database test_\w+ at \S+ cannot be changed \(2 less\) while another program holds its tables; end long/
    })
    t.same(await postgres.query(`SELECT to_regclass('mood') AS mood`, nameOf(url)), [{ mood: null }])
    await reader.query('ROLLBACK')
    await schema.apply([less])
  })

  await t.test('of another program is not touched', async t => {
    const url = await postgres.makeDatabase()
    await postgres.query('CREATE TABLE migration (done boolean)', nameOf(url))
    t.match(await refusalOf(url), { name: 'CannotStart', exitCode: 78, message: /is not one of Afield; choose an empty one/ })
    t.same(await postgres.query('SELECT * FROM pg_tables WHERE schemaname = current_schema()', nameOf(url)).then(rows => rows.length), 1)
  })

  await t.test('that cannot be used is named in one sentence, without the password', async t => {
    const url = await postgres.makeDatabase()
    await postgres.query('CREATE ROLE stranger LOGIN')
    const elsewhere = `postgres://stranger:secret@127.0.0.1:1/${nameOf(url)}`
    t.match(await refusalOf(elsewhere), { name: 'CannotStart', exitCode: 75, message: /cannot be reached \(ECONNREFUSED\)/ })
    const missing = url.replace('afield@', 'afield:secret@').replace(nameOf(url), 'nowhere')
    t.match(await refusalOf(missing), { name: 'CannotStart', exitCode: 78, message: /There is no database nowhere at 127\.0\.0\.1/ })
    const unknown = url.replace('afield@', 'nobody:secret@')
    t.match(await refusalOf(unknown), { name: 'CannotStart', exitCode: 78, message: /does not accept this user and password/ })
    const powerless = url.replace('afield@', 'stranger:secret@')
    t.match(await refusalOf(powerless), { name: 'CannotStart', exitCode: 78, message: /make it the owner of the database/ })
    const malformed = 'postgres://afield:secret@[::1/x'
    t.match(await refusalOf(malformed), { name: 'CannotStart', exitCode: 78, message: /The URL of the database is not valid/ })
    for (const url of [elsewhere, missing, unknown, powerless, malformed]) t.notMatch(String(await refusalOf(url)), /secret/)
    const latin = 'latin'
    await postgres.query(`CREATE DATABASE ${latin} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
    t.match(await refusalOf(postgres.urlOf(latin)), { name: 'CannotStart', message: /its encoding is LATIN1 instead of UTF8/ })
  })

  await t.test('is served only by connections with the settings that all depends on, whatever its user is set to [D1] [M6]', async t => {
    const url = await postgres.makeDatabase()
    await prepareDatabase(url, { migrations })
    const needed = {
      synchronous_commit: 'on',
      default_transaction_isolation: 'read committed',
      lock_timeout: '1500ms',
      statement_timeout: '25s',
      idle_in_transaction_session_timeout: '20s'
    }
    const others = { synchronous_commit: 'off', default_transaction_isolation: 'serializable' }
    for (const name of Object.keys(needed)) {
      const other = Object.hasOwn(others, name) ? Reflect.get(others, name) : '0'
      await postgres.query(`ALTER ROLE afield SET ${name} = '${other}'`)
    }
    const connection = await connect(url, migrations.length)
    t.teardown(() => connection.close())
    for (const [name, value] of Object.entries(needed)) t.same(await connection.get(`SHOW ${name}`, []), { [name]: value })
    await postgres.query('ALTER ROLE afield RESET ALL')
  })
})

t.test('a server that does not sync what it stores is refused at start [D1]', { skip: lacksPostgres }, async t => {
  for (const [setting, says] of [
    ['fsync', /fsync is off/],
    ['full_page_writes', /full_page_writes is off/]
  ] as const) {
    const postgres = await startPostgres(t, { [setting]: 'off' })
    await t.rejects(openPostgresStore(await postgres.makeDatabase(), {}), { name: 'CannotStart', exitCode: 78, message: says })
  }
})

t.test('a server that stops syncing while the store is open serves no more writes [D1]', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const store = await openPostgresStore(await postgres.makeDatabase(), {})
  t.teardown(() => store.close())
  await newAccount(store, 'ann')
  await postgres.query('ALTER SYSTEM SET fsync = off')
  await postgres.crash()
  await t.rejects(newAccount(store, 'ben'), { name: 'StoreBusy' })
})

t.test('each violated condition is named', async t => {
  const good = { version: 15, encoding: 'UTF8', synchronousCommit: 'on', fsync: 'on', fullPageWrites: 'on', readOnly: 'off' }
  t.equal(flawIn(good), undefined)
  t.equal(flawIn({ ...good, synchronousCommit: 'remote_apply' }), undefined, 'more is asked of replicas')
  t.match(flawIn({ ...good, version: 12 }), /PostgreSQL 12, and 13 or newer is needed/)
  t.match(flawIn({ ...good, readOnly: 'on' }), /read-only/)
  for (const value of ['off', 'local', 'remote_write']) t.match(flawIn({ ...good, synchronousCommit: value }), new RegExp(value))
})

t.test('a database is named without its user and password', async t => {
  t.equal(placeOf('postgres://ann:p%40ss@db.example:5432/afield?sslmode=require'), 'afield at db.example:5432')
  t.equal(placeOf('postgresql:///afield'), 'afield')
  t.equal(placeOf('postgres://ann:secret@host'), 'postgres at host')
})
