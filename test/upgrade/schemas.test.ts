import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createServer } from '../../lib/server/create.ts'
import { readMigrations } from '../../lib/store/migrate.ts'
import { openStore, readNeededSchema, sinceMigration } from '../../lib/store/open.ts'
import { safekeepingOf } from '../../lib/store/safekeeping.ts'
import { openDatabase } from '../../sqlite/file/database.ts'
import { draft, newSession, readAll, signInAs } from '../store/contract/kit.ts'

const migrations = readMigrations('sqlite/')
const url = 'sqlite:afield.db'

for (const { number } of migrations.slice(0, -1)) {
  t.test(`a server starts with the data of schema ${number}, and nothing counts as stored since [V4]`, async t => {
    const data = privateData(t)
    await filledAt(data, number)
    t.equal(await readNeededSchema(url, data), number)
    const server = await createServer({ data, port: 0, logLevel: 'silent', expoUrl: 'off' })
    await server.close()
    t.equal(await readNeededSchema(url, data), migrations.length)
    t.same((await sinceMigration(url, data, number))?.stored, [], 'a start by itself acknowledges nothing')
    t.equal(await sinceMigration(url, data, number - 1), undefined)

    const store = await openStore(url, { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
    t.same(await safekeepingOf(store).inspect(), { accounts: 1, sessions: 1, messages: 3, flaws: [] })
    const { account, session } = idsIn(data)
    t.same(
      (await readAll(store, account, session)).map(({ sealed }) => sealed),
      ['one', 'two', 'three']
    )
    await store.close()
  })
}

t.test('whatever was stored, changed or removed since a migration is counted [V4]', async t => {
  const data = privateData(t)
  const from = migrations.length - 1
  await filledAt(data, from)
  const { account, session } = idsIn(data)
  const seen = async () => (await sinceMigration(url, data, from))?.stored
  const use = async (change: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>) => {
    const store = await openStore(url, { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
    await change(store)
    await store.close()
  }
  await use(async () => {})
  t.same(await seen(), [])
  await use(store => store.appendMessages(account, session, [draft('four'), draft('five')], 1))
  t.same(await seen(), [
    { table: 'account', rows: 1 },
    { table: 'message', rows: 2 },
    { table: 'session', rows: 1 }
  ])
  await use(async store => {
    await newSession(store, account)
    await store.signIn(signInAs('bob'))
  })
  t.match(
    (await seen())?.filter(({ table }) => table === 'session' || table === 'account' || table === 'token'),
    [
      { table: 'account', rows: 2 },
      { table: 'session', rows: 2 },
      { table: 'token', rows: 1 }
    ]
  )
  edit(data, 'DELETE FROM message WHERE seq = 1')
  t.match(
    (await seen())?.find(({ table }) => table === 'message'),
    { rows: 2 },
    'one removed, two added'
  )
  edit(data, 'CREATE TABLE later (account INTEGER)', 'INSERT INTO later VALUES (1)')
  t.match(
    (await seen())?.find(({ table }) => table === 'later'),
    { rows: 1 },
    'in a table that the copy lacks'
  )
})

/** A database as an earlier version left it. */
async function filledAt(data: string, version: number): Promise<void> {
  const deps = { dataDirectory: data, migrations: migrations.slice(0, version), clock: () => 1 }
  const { database, close } = await openDatabase(join(data, 'afield.db'), deps)
  database.exec(`
    INSERT INTO account (id, public_key, created_at) VALUES ('aaaaaaaaaaaaaaaaaaaaaaaa', 'a key', 1);
    INSERT INTO account_cells (account, settings, settings_version) VALUES (1, 'settings', 4);
    INSERT INTO token (account, id, hash, kind, label, created_at, last_used_at) VALUES (1, 'tttttttttttttttttttttttt', 'hash', 'account', 'a phone', 1, 1);
    INSERT INTO session (account, id, tag, last_seq, active, active_at, created_at, updated_at) VALUES (1, 'ssssssssssssssssssssssss', 'a tag', 3, 1, 1, 1, 1);
    INSERT INTO session_cells (session, account, metadata, metadata_version, agent_state_version) VALUES (1, 1, 'metadata', 1, 0);
    INSERT INTO message (account, session, seq, local_id, created_at, sealed) VALUES (1, 1, 1, 'l1', 1, 'one'), (1, 1, 2, 'l2', 1, 'two'), (1, 1, 3, 'l3', 1, 'three');
    INSERT INTO machine (account, id, metadata, metadata_version, daemon_state_version, active, active_at, created_at, updated_at) VALUES (1, 'a machine', 'metadata', 1, 0, 1, 1, 1, 1);
    INSERT INTO push_token (account, token, id, created_at, updated_at) VALUES (1, 'ExponentPushToken[x]', 'pppppppppppppppppppppppp', 1, 1);
  `)
  if (version >= 2) {
    database.exec(`
      INSERT INTO kv (account, name, version, updated_at, value) VALUES (1, 'a name', 1, 1, 'a value');
      INSERT INTO artifact (account, id, created_at, updated_at, data_key, header_version, body_version, header, body) VALUES (1, 'an artifact', 1, 1, 'key', 1, 1, 'header', 'body');
    `)
  }
  close()
}

function idsIn(data: string) {
  const database = new Database(join(data, 'afield.db'), { readonly: true })
  const account = database.prepare('SELECT id FROM account').pluck().get() as never
  const session = database.prepare('SELECT id FROM session').pluck().get() as never
  database.close()
  return { account, session }
}

function edit(data: string, ...statements: string[]): void {
  const database = new Database(join(data, 'afield.db'))
  for (const sql of statements) database.exec(sql)
  database.close()
}

function privateData(t: Test): string {
  const data = join(t.testdir(), 'data')
  mkdirSync(data, { mode: 0o700 })
  return data
}
