import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import Database from 'better-sqlite3'
import t from 'tap'
import { examineDatabase } from '../../lib/doctor/store.ts'
import { openStore, openTransfer } from '../../lib/store/open.ts'
import { transferTables } from '../../lib/store/transfer.ts'
import { type MoveProgress, moveStore } from '../../lib/transfer/move.ts'
import { openPostgresStore } from '../../postgres/store.ts'
import { afield } from '../bin/kit/afield.ts'
import { signUp } from '../kit/person.ts'
import { lacksPostgres, type Postgres, startPostgres } from '../kit/postgres.ts'
import { programFile } from '../kit/program.ts'
import { startServer } from '../kit/server.ts'
import { newAccount, newSession } from '../store/contract/kit.ts'
import { fill, openThen } from './filled-store.ts'

t.test('moving a store into PostgreSQL', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)

  t.test('every table and column of a store is copied, except what a driver notes for itself', async t => {
    const data = t.testdir()
    await (await openStore(store, { dataDirectory: data, onBroken() {} })).close()
    const url = await postgres.makeDatabase()
    await (await openPostgresStore(url, {})).close()

    const own = ['state_bytes', 'crc', 'only', 'only_row', 'key', 'timeline']
    const expected = transferTables.flatMap(({ name, columns }) => Object.keys(columns).map(column => `${name}.${column}`))
    const isShared = (column: string) => !own.includes(column.split('.')[1] ?? '') && !/^(migration|last_start|work)\./.test(column)
    const shared = expected.filter(isShared).toSorted()
    t.same(columnsOfSqlite(data).filter(isShared).toSorted(), shared)
    const inPostgres = await postgres.query<{ column: string }>(
      "SELECT table_name || '.' || column_name AS column FROM information_schema.columns WHERE table_schema = 'public'",
      new URL(url).pathname.slice(1)
    )
    t.same(
      inPostgres
        .map(({ column }) => column)
        .filter(isShared)
        .toSorted(),
      shared
    )
  })

  t.test('a client that was signed in goes on where it was, with everything it had', async t => {
    const data = t.testdir()
    const before = await startServer(t, { data })
    const ann = await signUp(t, before)
    const session = await ann.openSession('tag')
    await ann.send(session, { localId: 'one', content: 'b25l' }, { localId: 'two\u0000\u0001', content: 'dHdv' })
    const { body: seen } = await ann.call('GET', '/v1/changes?since=0')
    const vapid = (await ann.call('GET', '/v1/push-key')).body
    await before.close()

    const url = await postgres.makeDatabase()
    await move(data, url)
    const after = await startServer(t, { data, store: url, port: Number(new URL(before.url).port) })
    const { body: changes } = await ann.call('GET', `/v1/changes?since=${seen.clock}&epoch=${seen.epoch}`)
    t.match(changes, { complete: true, clock: seen.clock, sessions: [] })
    t.match((await ann.call('GET', '/v1/changes?since=0')).body, { epoch: seen.epoch, sessions: [{ id: session }] })
    t.same((await ann.call('GET', '/v1/push-key')).body, vapid)
    const { body: sent } = await ann.send(session, { localId: 'three' })
    t.match(sent.messages, [{ seq: 3 }])
    const { body: read } = await ann.call('GET', `/v3/sessions/${session}/messages?after_seq=0`)
    t.match(read.messages, [
      { seq: 1, localId: 'one', content: { c: 'b25l' } },
      { seq: 2, localId: 'two\u0000\u0001', content: { c: 'dHdv' } },
      { seq: 3, localId: 'three' }
    ])
    const bob = await signUp(t, after)
    t.not(await bob.openSession(), session)
    t.equal((await ann.call('GET', '/v1/account/storage')).status, 200)
  })

  t.test('every row of every table is there afterwards, and new rows get new keys', async t => {
    const data = t.testdir()
    const url = await postgres.makeDatabase()
    await fill(data)
    const told: MoveProgress[] = []
    const moved = await move(data, url, { tell: progress => told.push(progress) })

    const [one, other] = [await openTransfer(store, data), await openTransfer(url, data)]
    t.teardown(() => Promise.all([one.close(), other.close()]))
    let rows = 0
    for (const table of transferTables) {
      const [from, to] = [await one.read(table, undefined), await other.read(table, undefined)]
      t.ok(from.length > 0, `${table.name} has rows`)
      t.same(to, from, table.name)
      rows += from.length
    }
    t.equal(moved.rows, rows)
    t.match(told.at(-1), { step: 'comparing', rows, total: rows })
    const [before, after] = [await one.lastKeys(), await other.lastKeys()]
    t.same(after, before)
    const counted = await postgres.query<{ state_bytes: number }>('SELECT state_bytes FROM account ORDER BY key', nameOf(url))
    const reference = new Database(join(data, 'afield.db'), { readonly: true })
    t.teardown(() => reference.close())
    // A U+0000 and a U+0001 take a byte more in PostgreSQL, where each is two characters.
    const inSqlite = reference.prepare<[], { state_bytes: number }>('SELECT state_bytes FROM account ORDER BY key').all()
    t.ok(counted.every(({ state_bytes }, index) => Number(state_bytes) >= (inSqlite[index]?.state_bytes ?? Number.POSITIVE_INFINITY)))
  })

  t.test('a killed move goes on where it was, and no server starts in the middle', async t => {
    const data = t.testdir()
    const url = await postgres.makeDatabase()
    await fill(data, 5_000)
    const args = ['migrate-store', store, url, '--data', data]
    t.match(await signalled(args, 'SIGKILL', 'session_cells'), { code: null, signal: 'SIGKILL' })
    await freed(postgres, url)
    await t.rejects(openPostgresStore(url, {}), { name: 'CannotStart', message: /only a part of the store.*migrate-store again/ })

    t.match(await signalled(args, 'SIGINT', 'epoch'), { code: 130, stderr: /^Stopped\. Run the same command again/ })
    const { status, stdout, stderr } = await afield(args)
    t.equal(status, 0, stderr)
    t.match(stdout, /message: 5001 rows compared\n.*each was read from both stores/s)
    await (await openPostgresStore(url, {})).close()
    await t.rejects(move(data, url), { message: /already has everything of this store/ })
  })

  t.test('a store that was used after the move began is not mixed with the copy', async t => {
    const data = t.testdir()
    const url = await postgres.makeDatabase()
    await fill(data)
    await interrupt(data, url)
    await openThen(data, async opened => void (await newSession(opened, await newAccount(opened, 'ann'))))
    const told: MoveProgress[] = []
    await t.rejects(move(data, url, { tell: progress => told.push(progress) }), { message: /not the same: .*used after the move began/ })
    t.notOk(
      told.some(({ step }) => step === 'comparing'),
      'which shows before everything is copied'
    )

    const other = await postgres.makeDatabase()
    await interrupt(data, other, 'leftover')
    change(data, "UPDATE device SET name = 'changed'")
    await t.rejects(move(data, other), { message: /not the same: device 1 differs/ })
    change(data, 'UPDATE device SET name = (SELECT label FROM token WHERE device = device.key)')
    change(data, 'DELETE FROM used_challenge WHERE hash = (SELECT max(hash) FROM used_challenge)')
    await t.rejects(move(data, other), { message: /not the same: used_challenge [0-9a-f]{64} was removed/ })
    await t.rejects(openPostgresStore(other, {}), { name: 'CannotStart' })
  })

  t.test('the wrong source or target is rejected in a sentence, and stays as it was', async t => {
    const root = t.testdir({ data: {}, another: {} })
    const data = join(root, 'data')
    await fill(data)
    const used = await postgres.makeDatabase()
    const opened = await openPostgresStore(used, {})
    await newAccount(opened, 'ann')
    await t.rejects(move(data, used), { message: /An Afield server is using the database test_\w+ at [^@]*; stop every instance first/ })
    await opened.close()
    await freed(postgres, used)
    await t.rejects(move(data, used), { message: /already has accounts; choose an empty one/ })

    const begun = await postgres.makeDatabase()
    await interrupt(data, begun)
    t.match(await examineDatabase({ data, store: begun }), {
      state: 'fail',
      says: /only a part of the store/,
      advice: `migrate-store sqlite:afield.db ${begun} --data ${data}`
    })
    const another = join(root, 'another')
    await fill(another)
    await t.rejects(move(another, begun), { message: /Another store is being moved/ })

    const foreign = await postgres.makeDatabase()
    await postgres.query('CREATE TABLE theirs (id int)', nameOf(foreign))
    await t.rejects(move(data, foreign), { message: /is not one of Afield/ })
    await t.rejects(move(data, 'sqlite:other.db'), { message: /can only be moved into postgres/ })
    await t.rejects(moveStore({ from: begun, to: used, data, tell() {}, signal: never }), { message: /Only a store in one file/ })
    await t.rejects(moveStore({ from: 'sqlite:none.db', to: used, data, tell() {}, signal: never }), { message: /no server data/ })
  })

  t.test('a store that a server uses is not moved', async t => {
    const server = await startServer(t)
    await t.rejects(move(server.data, await postgres.makeDatabase()), { message: /Another Afield server is using/ })
  })

  t.test('a damaged row ends the move and is named', async t => {
    const data = t.testdir()
    await fill(data)
    change(data, "UPDATE session_cells SET metadata = 'changed'")
    await t.rejects(move(data, await postgres.makeDatabase()), {
      name: 'CannotStart',
      exitCode: 75,
      message: /session_cells 1 is not what was stored: restore a backup/
    })
  })
})

const store = 'sqlite:afield.db'
const never = new AbortController().signal

function move(
  data: string,
  to: string,
  { tell = () => {}, signal = never }: { tell?: (told: MoveProgress) => void; signal?: AbortSignal } = {}
) {
  return moveStore({ from: store, to, data, tell, signal })
}

/** Runs a command and sends it a signal when it says that a table is done. */
async function signalled(args: readonly string[], signal: NodeJS.Signals, table: string) {
  const child = spawn(process.execPath, [programFile(), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [ended, stderr] = [once(child, 'exit'), text(child.stderr)]
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith(`${table}:`)) child.kill(signal)
  const [code, by] = await ended
  return { code, signal: by, stderr: await stderr }
}

/** Stops after a table, or in the next. */
async function interrupt(data: string, to: string, table = 'account'): Promise<void> {
  const controller = new AbortController()
  const tell = ({ finished }: MoveProgress) => finished?.table === table && controller.abort()
  await move(data, to, { signal: controller.signal, tell }).catch(() => {})
}

function change(data: string, sql: string): void {
  const database = new Database(join(data, 'afield.db'))
  database.exec(sql)
  database.close()
}

function columnsOfSqlite(data: string): string[] {
  const database = new Database(join(data, 'afield.db'), { readonly: true })
  try {
    return database
      .prepare<[], string>(
        `SELECT schema.name || '.' || info.name FROM sqlite_schema AS schema, pragma_table_info(schema.name) AS info
         WHERE schema.type = 'table' AND schema.name NOT LIKE 'sqlite_%'`
      )
      .pluck()
      .all()
  } finally {
    database.close()
  }
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** PostgreSQL notices a moment later that a client is gone. */
async function freed(postgres: Postgres, url: string): Promise<void> {
  for (;;) {
    const users = await postgres.query(`SELECT 1 FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`)
    if (users.length === 0) return
    await new Promise(resolve => setImmediate(resolve))
  }
}
