import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { readMigrations } from '../../lib/store/migrate.ts'
import { openStore } from '../../lib/store/open.ts'
import { keepBeforeMigration } from '../../sqlite/file/copy-before-migration.ts'
import { openDatabase } from '../../sqlite/file/database.ts'
import { straceProblem } from '../crash/fault-points.ts'
import { countWrites, dieAtWrite } from '../kit/write-and-die.ts'
import { newAccount } from '../store/contract/kit.ts'

const migrations = readMigrations('sqlite/')
const traced = { skip: process.platform === 'linux' ? (straceProblem() ?? false) : 'strace is of Linux' }
/** How many of all points are tried; AFIELD_FAULT_POINTS=100000 tries every one. */
const sampled = 5

t.test('before a schema upgrade the database is copied privately, and only the last copy stays [L2]', async t => {
  const data = privateData(t)
  await filledAt(data, 2)
  await filledAt(data, 3)
  t.same(keptIn(data), ['before-schema-2.db'])
  t.equal(statSync(join(data, 'before-schema-2.db')).mode & 0o777, 0o600)
  ;(await openAt(data, migrations.length)).close()
  t.same(keptIn(data), ['before-schema-3.db'])
  const copy = new Database(join(data, 'before-schema-3.db'))
  t.equal(copy.pragma('user_version', { simple: true }), 3)
  t.equal(copy.pragma('integrity_check', { simple: true }), 'ok')
  t.equal(copy.prepare('SELECT count(*) FROM account').pluck().get(), 1)
  copy.close()
  ;(await openAt(data, migrations.length)).close()
  t.same(keptIn(data), ['before-schema-3.db'], 'a start that changes nothing copies nothing')
})

t.test('the copy is on disk before the schema changes, and the rest of an interrupted one is removed [V2]', traced, async t => {
  const data = privateData(t)
  await filledAt(data, 2)
  const log = join(data, '..', 'log')
  const args = ['-f', '-qq', '-y', '-o', log, '-e', 'trace=fsync,fdatasync,rename', process.execPath, 'test/kit/migrate-all.ts', data]
  t.equal(spawnSync('strace', args).status, 0)
  const calls = readFileSync(log, 'utf8').split('\n')
  const named = calls.findIndex(call => call.includes('rename(') && call.includes('before-schema-2.db.part'))
  t.ok(named > 0)
  t.ok(
    calls.slice(0, named).some(call => /sync\(.*before-schema-2\.db\.part>/.test(call)),
    'the copy before it gets its name'
  )
  const migrated = calls.slice(named).findIndex(call => /sync\(.*afield\.db(-wal)?>/.test(call))
  t.ok(
    calls.slice(named, named + migrated).some(call => /sync\(.*\/data>/.test(call)),
    'and the name before the database changes'
  )

  writeFileSync(join(data, 'before-schema-2.db.part'), 'a killed start left this')
  ;(await openAt(data, migrations.length)).close()
  t.same(keptIn(data), ['before-schema-2.db'])
})

t.test("a schema upgrade is reported once, and a new database's schema is not", async t => {
  const data = privateData(t)
  const told: unknown[] = []
  const open = async (steps: number) => {
    const onMigrated = (steps: object) => void told.push(steps)
    const deps = { dataDirectory: data, migrations: migrations.slice(0, steps), clock: Date.now, onMigrated }
    ;(await openDatabase(join(data, 'afield.db'), deps)).close()
  }
  await open(2)
  await open(4)
  await open(4)
  t.strictSame(told, [{ from: 2, to: 4 }])
})

t.test('a start killed during a schema upgrade is completed by the next [L2]', traced, async t => {
  const place = t.testdir()
  const make = async (name: string) => {
    const data = join(place, name)
    mkdirSync(data, { mode: 0o700 })
    await filledAt(data, 1)
    return data
  }
  const total = countWrites('migrate-all.ts', await make('counted'), join(place, 'log'))
  t.ok(total > 20, `${total} writes`)
  for (const k of sampleOf(total)) {
    const data = await make(`killed-${k}`)
    dieAtWrite('migrate-all.ts', data, join(place, 'log'), k)
    const { database, close } = await openAt(data, migrations.length)
    t.equal(database.pragma('integrity_check', { simple: true }), 'ok', `killed at write ${k}`)
    t.same(
      database.prepare('SELECT number FROM migration ORDER BY number').pluck().all(),
      migrations.map(({ number }) => number)
    )
    t.equal(database.prepare('SELECT count(*) FROM account').pluck().get(), 1)
    close()
  }
})

t.test('a new database killed during creation is empty or complete, and the next start completes it [L2]', traced, async t => {
  const place = t.testdir()
  const make = (name: string) => {
    const data = join(place, name)
    mkdirSync(data, { mode: 0o700 })
    return data
  }
  const total = countWrites('migrate-all.ts', make('counted'), join(place, 'log'))
  t.ok(total > 20, `${total} writes`)
  for (const k of sampleOf(total)) {
    const data = make(`killed-${k}`)
    dieAtWrite('migrate-all.ts', data, join(place, 'log'), k)
    t.ok([0, migrations.length].includes(schemaIn(join(data, 'afield.db'))), `killed at write ${k}`)
    const { database, close } = await openAt(data, migrations.length)
    t.equal(database.pragma('integrity_check', { simple: true }), 'ok', `killed at write ${k}`)
    t.equal(database.pragma('user_version', { simple: true }), migrations.length)
    close()
  }
})

t.test('a write of many keys killed midway is stored completely or not at all [X5]', traced, async t => {
  const place = t.testdir()
  const make = async (name: string) => {
    const data = join(place, name)
    mkdirSync(data, { mode: 0o700 })
    const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
    await newAccount(store, 'ann')
    await store.close()
    return data
  }
  const total = countWrites('mutate-keys.ts', await make('counted'), join(place, 'log'))
  const seen = new Set<unknown>()
  for (const k of sampleOf(total)) {
    const data = await make(`killed-${k}`)
    dieAtWrite('mutate-keys.ts', data, join(place, 'log'), k)
    const { database, close } = await openAt(data, migrations.length)
    const versions = database.prepare('SELECT DISTINCT version FROM kv').pluck().all()
    const count = database.prepare('SELECT count(*) FROM kv').pluck().get()
    t.ok(versions.length <= 1, `killed at write ${k}: versions ${versions}`)
    t.ok(count === 0 || count === 40, `killed at write ${k}: ${count} keys`)
    seen.add(versions[0])
    close()
  }
  t.ok(seen.size > 1, `killed between ${[...seen].map(String).join(', ')}`)
})

t.test('if there is no space for the copy, the start fails and database and directory stay unchanged [L2] [F1]', async t => {
  const data = privateData(t)
  await filledAt(data, 2)
  const { database, close } = await openAt(data, 2)
  const full = Object.assign(Object.create(database), {
    prepare() {
      throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL')
    }
  })
  t.throws(() => keepBeforeMigration(full, join(data, 'afield.db'), 3), { code: 'SQLITE_FULL' })
  close()
  t.same(
    readdirSync(data).filter(name => name.includes('before')),
    []
  )
})

t.test('a directory on a network disk is rejected by name, before anything is created in it [D5]', async t => {
  const data = privateData(t)
  for (const [kind, name] of [
    [0x6969, 'NFS'],
    [0x01021997, '9p'],
    [0xfe534d42, 'SMB']
  ] as const) {
    await t.rejects(openAt(data, 1, kind), {
      message: `${data} is on a network disk (${name}), which cannot keep a database safe; choose a directory on a local disk.`,
      exitCode: 78
    })
  }
  t.equal(existsSync(join(data, 'afield.db')), false)
  ;(await openAt(data, 1, 0xef53)).close()
})

function openAt(data: string, version: number, kind?: number) {
  const steps = migrations.slice(0, version)
  return openDatabase(join(data, 'afield.db'), {
    dataDirectory: data,
    migrations: steps,
    clock: () => 1,
    ...(kind !== undefined && { fileSystemOf: () => kind })
  })
}

/** The number of the last step that a database has, as whoever opens it finds it. */
function schemaIn(file: string): number {
  if (!existsSync(file)) return 0
  const copy = mkdtempSync(join(dirname(file), 'seen-'))
  for (const end of ['', '-wal', '-journal']) if (existsSync(file + end)) copyFileSync(file + end, join(copy, `afield.db${end}`))
  const database = new Database(join(copy, 'afield.db'))
  const version = Number(database.pragma('user_version', { simple: true }))
  database.close()
  return version
}

/** A database of an earlier version, with an account. */
async function filledAt(data: string, version: number): Promise<void> {
  const { database, close } = await openAt(data, version)
  database.exec("INSERT OR IGNORE INTO account (id, public_key, created_at) VALUES ('ann', 'key', 1)")
  close()
}

function keptIn(data: string): string[] {
  return readdirSync(data).filter(name => name.startsWith('before-'))
}

function privateData(t: Test): string {
  const data = join(t.testdir(), 'data')
  mkdirSync(data, { mode: 0o700 })
  return data
}

// Spread over all of them.
function sampleOf(total: number): number[] {
  const step = Math.max(1, Math.floor(total / Number(process.env['AFIELD_FAULT_POINTS'] ?? sampled)))
  return Array.from({ length: Math.ceil(total / step) }, (_, index) => index * step + 1).filter(k => k <= total)
}
