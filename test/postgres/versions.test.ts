import t, { type Test } from 'tap'
import { examineDatabase } from '../../lib/doctor/store.ts'
import { createServer } from '../../lib/server/create.ts'
import { type Migration, readMigrations } from '../../lib/store/migrate.ts'
import { readNeededSchema } from '../../lib/store/open.ts'
import { openPostgresStore } from '../../postgres/store.ts'
import { openPostgresTransfer } from '../../postgres/transfer.ts'
import { signUp } from '../kit/person.ts'
import { lacksPostgres, type Postgres, startPostgres } from '../kit/postgres.ts'
import { startServer } from '../kit/server.ts'
import { draft, found, newAccount, newSession } from '../store/contract/kit.ts'

const known = readMigrations('postgres/')
/** What the next version adds, with columns in tables that this one writes all the time. */
const expanding: Migration = {
  number: known.length + 1,
  name: 'more',
  sql: `CREATE TABLE mood (account bigint PRIMARY KEY, said text NOT NULL);
    ALTER TABLE message ADD COLUMN mood text;
    ALTER TABLE session ADD COLUMN mood text NOT NULL DEFAULT 'fine';
    ALTER TABLE account ADD COLUMN mood bigint NOT NULL DEFAULT 7`
}
/** And what the one after it removes, which this one still uses. */
const contracting: Migration = {
  number: known.length + 2,
  name: 'less',
  sql: 'ALTER TABLE session DROP COLUMN gaps',
  needs: known.length + 1
}
const newest = contracting.number
const newer = `written by a newer Afield (schema ${newest}, this one knows ${known.length}); install that version or a later one.`
const saysNewer = { message: new RegExp(newer.replace(/[()]/g, String.raw`\$&`)) }

t.test('two versions of the program with one PostgreSQL database', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)

  await t.test('serve together after the newer one added to the schema, also when the older one starts again [L4]', async t => {
    const url = await postgres.makeDatabase()
    const old = await opened(t, url, known)
    const ann = await newAccount(old, 'ann')
    const session = await newSession(old, ann)
    const append = async (store: typeof old, text: string) =>
      found(await store.appendMessages(ann, session, [draft(text, text)], 1)).messages.map(({ seq }) => seq)
    const read = async (store: typeof old) =>
      found(await store.readMessages(ann, session, { after: 0, limit: 10 })).messages.map(({ seq }) => seq)
    t.same(await append(old, 'before'), [1])
    const next = await opened(t, url, [...known, expanding])
    t.same([await append(old, 'by the old one'), await append(next, 'by the new one')], [[2], [3]])
    const restarted = await opened(t, url, known)
    t.same(await append(restarted, 'after a restart'), [4])
    for (const store of [old, next, restarted]) t.same(await read(store), [1, 2, 3, 4])
    t.match(await newAccount(old, 'ben'), /./)

    const data = t.testdir()
    t.equal(await readNeededSchema(url, data), 1, 'so that a rollback restores nothing')
    t.match(await examineDatabase({ data, store: url }), {
      state: 'ok',
      says: `intact; schema ${expanding.number} is newer, and this program can use it`
    })
    const server = await startServer(t, { store: url })
    const cleo = await signUp(t, server)
    t.equal((await cleo.call('GET', '/v1/account/profile')).status, 200)
  })

  await t.test('one that cannot use the schema any more ends, saying so, and does not start again [L3] [L4]', async t => {
    const url = await postgres.makeDatabase()
    const server = await startServer(t, { store: url })
    await (await openPostgresStore(url, { migrations: [...known, expanding] })).close()
    const last = await opened(t, url, [...known, expanding])
    const ann = await newAccount(last, 'ann')

    // Nobody asks the old one for anything; it finds out by itself.
    await (await openPostgresStore(url, { migrations: [...known, expanding, contracting] })).close()
    t.match(await server.broken, { name: 'StoreBroken', ...saysNewer })
    await newSession(last, ann)

    const before = await rowsOf(postgres, url)
    await t.rejects(createServer({ store: url, data: t.testdir(), port: 0, logLevel: 'silent' }), { name: 'CannotStart', ...saysNewer })
    t.match(await examineDatabase({ data: t.testdir(), store: url }), {
      state: 'fail',
      says: `schema ${newest} is newer than this program (${known.length})`
    })
    t.equal(await readNeededSchema(url, t.testdir()), expanding.number)
    t.same(await rowsOf(postgres, url), before)
  })

  await t.test('rows are moved by the newer one only, which knows all columns', async t => {
    const url = await postgres.makeDatabase()
    await (await openPostgresStore(url, { migrations: [...known, expanding] })).close()
    await t.rejects(openPostgresTransfer(url), { name: 'CannotStart', message: /written by a newer Afield/ })
  })
})

async function opened(t: Test, url: string, migrations: readonly Migration[]) {
  const store = await openPostgresStore(url, { migrations, onBroken: reason => t.fail(reason.message) })
  t.teardown(() => store.close())
  return store
}

function rowsOf(postgres: Postgres, url: string): Promise<unknown[]> {
  return postgres.query('SELECT epoch.*, migration.number FROM epoch, migration ORDER BY number', url.split('/').at(-1))
}
