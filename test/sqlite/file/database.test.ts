import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { CannotStart } from '../../../lib/exit.ts'
import { readMigrations } from '../../../lib/store/migrate.ts'
import { type Footing, flawIn, openDatabase } from '../../../sqlite/file/database.ts'

const migrations = readMigrations('sqlite/')
const clock = () => 1_000

t.test('a new database syncs every commit, also after it was written to [D5]', async t => {
  const { file, open } = newPlace(t)
  const { database, close } = await open()
  database.exec('UPDATE last_start SET at = 2')
  t.equal(database.pragma('synchronous', { simple: true }), 2)
  t.equal(database.pragma('journal_mode', { simple: true }), 'wal')
  t.equal(database.pragma('foreign_keys', { simple: true }), 1)
  t.ok(Number(database.pragma('busy_timeout', { simple: true })) <= 50)
  close()
  t.equal(existsSync(`${file}-wal`), false, 'the log is in the file after closing')

  const again = await open()
  again.database.exec('UPDATE last_start SET at = 3')
  t.equal(again.database.pragma('synchronous', { simple: true }), 2)
  again.close()

  // Why it is set and read back at all:
  const plain = new Database(file)
  plain.exec('UPDATE last_start SET at = 4')
  t.equal(plain.pragma('synchronous', { simple: true }), 1)
  plain.close()
})

t.test('an opened database has the mark of Afield, its settings, and the time of this start', async t => {
  const { open } = newPlace(t)
  const { database, close } = await open()
  const settings = ['application_id', 'page_size', 'temp_store', 'wal_autocheckpoint', 'journal_size_limit', 'user_version']
  t.same(
    settings.map(name => database.pragma(name, { simple: true })),
    [0x41666c64, 4096, 2, 4000, 64 * 1024 * 1024, migrations.length]
  )
  t.equal(database.prepare('SELECT at FROM last_start').pluck().get(), 1_000)
  close()
})

t.test('a schema upgrade is reported with its first and last number; a new or current database has none [L2]', async t => {
  const { directory, file } = newPlace(t)
  const told: { from: number; to: number }[] = []
  const openUpTo = async (steps: number) => {
    const deps = { dataDirectory: directory, migrations: migrations.slice(0, steps), clock, onMigrated: told.push.bind(told) }
    const { close } = await openDatabase(file, deps)
    close()
  }
  const newest = migrations.length
  await openUpTo(newest - 1)
  await openUpTo(newest - 1)
  t.same([told, existsSync(join(directory, `before-schema-${newest - 1}.db`))], [[], false])
  await openUpTo(newest)
  t.same([told, existsSync(join(directory, `before-schema-${newest - 1}.db`))], [[{ from: newest - 1, to: newest }], true])
  await openUpTo(newest)
  t.equal(told.length, 1)
})

t.test('neither the data directory nor the database may be on a network disk, and no database is created there [D5]', async t => {
  const { directory } = newPlace(t)
  const [data, other] = [join(directory, 'data'), join(directory, 'other')]
  for (const [networked, file] of [
    [data, join(data, 'afield.db')],
    [other, join(other, 'afield.db')]
  ] as const) {
    const fileSystemOf = (place: string) => (place === networked ? 0x6969 : 0xef53)
    await t.rejects(openDatabase(file, { dataDirectory: data, migrations, clock, fileSystemOf }), {
      name: 'CannotStart',
      message: `${networked} is on a network disk (NFS), which cannot keep a database safe; choose a directory on a local disk.`,
      exitCode: 78
    })
    t.notOk(existsSync(file))
    const { close } = await openDatabase(file, { dataDirectory: data, migrations, clock, fileSystemOf: () => 0xef53 })
    close()
  }
})

t.test('a start removes what an interrupted restore had unpacked [K2]', async t => {
  const { file, directory, open } = newPlace(t)
  mkdirSync(join(directory, 'afield-restore-1'))
  writeFileSync(join(directory, 'afield-restore-1', 'afield.db'), 'half of it')
  ;(await open()).close()
  t.notOk(existsSync(join(directory, 'afield-restore-1')))
  t.ok(existsSync(file))
})

t.test('each violated connection setting is named [D5]', async t => {
  const sound: Footing = { sqliteVersion: '3.54.1', journalMode: 'wal', synchronous: 2, foreignKeys: 1, pageSize: 4096 }
  t.equal(flawIn(sound), undefined)
  t.equal(flawIn({ ...sound, sqliteVersion: '3.51.3' }), undefined)
  t.equal(flawIn({ ...sound, sqliteVersion: '3.100.0' }), undefined)
  const flaws: [Partial<Footing>, RegExp][] = [
    [{ sqliteVersion: '3.51.2' }, /SQLite 3\.51\.2/],
    [{ sqliteVersion: '3.9.0' }, /SQLite 3\.9\.0/],
    [{ sqliteVersion: '2.99.9' }, /SQLite 2\.99\.9 can corrupt its log; 3\.51\.3 or newer is needed/],
    [{ sqliteVersion: '3.51' }, /SQLite 3\.51 /],
    [{ journalMode: 'delete' }, /write-ahead log/],
    [{ synchronous: 1 }, /sync every commit/],
    [{ foreignKeys: 0 }, /foreign keys/],
    [{ pageSize: 512 }, /page size is 512/]
  ]
  for (const [flaw, sentence] of flaws) t.match(flawIn({ ...sound, ...flaw }), sentence)
})

t.test('a database with another page size is rejected [D5]', async t => {
  const { file, open } = newPlace(t)
  const other = new Database(file)
  other.pragma('page_size = 1024')
  other.pragma('journal_mode = WAL')
  other.close()
  await t.rejects(open(), { message: /page size is 1024/, exitCode: 78 })
})

t.test('files are for this user only', async t => {
  const { file, directory, open } = newPlace(t)
  const { close } = await open()
  const modeOf = (path: string) => statSync(path).mode & 0o777
  t.same([directory, file, `${file}-wal`, join(directory, 'afield.lock')].map(modeOf), [0o700, 0o600, 0o600, 0o600])
  close()
})

t.test('a database of a newer version is rejected and left byte for byte unchanged [L3]', async t => {
  const { file, open } = newPlace(t)
  const { database, close } = await open()
  database.pragma(`user_version = ${migrations.length + 1}`)
  close()
  const before = readFileSync(file)
  await t.rejects(open(), {
    message: new RegExp(`written by a newer Afield \\(schema ${migrations.length + 1}, this one knows ${migrations.length}\\)`),
    exitCode: 78
  })
  t.ok(readFileSync(file).equals(before))
})

t.test('so is one whose newer version is still in its WAL [L3]', async t => {
  const { file, directory, open } = newPlace(t)
  const { database, close } = await open()
  database.pragma(`user_version = ${migrations.length + 1}`)
  const copies = join(directory, 'killed')
  mkdirSync(copies)
  const killed = join(copies, 'afield.db')
  for (const end of ['', '-wal']) copyFileSync(file + end, killed + end)
  close()
  const before = [readFileSync(killed), readFileSync(`${killed}-wal`)]
  t.not(before[0]?.readUInt32BE(60), migrations.length + 1, 'the file alone does not tell')
  await t.rejects(openDatabase(killed, { dataDirectory: copies, migrations, clock }), { message: /newer Afield/, exitCode: 78 })
  t.same([readFileSync(killed), readFileSync(`${killed}-wal`)], before)
})

t.test('a file that is not a database is rejected and left unchanged [F5]', async t => {
  for (const content of ['not a database', 'x'.repeat(5000), '\0'.repeat(4096)]) {
    const { file, open } = newPlace(t)
    writeFileSync(file, content)
    await t.rejects(open(), { message: `${file} is damaged or not a database; restore it from a backup or choose another.`, exitCode: 78 })
    t.equal(readFileSync(file, 'latin1'), content)
  }
})

t.test('a foreign database is rejected and left unchanged', async t => {
  const { file, open } = newPlace(t)
  const other = new Database(file)
  other.exec('CREATE TABLE theirs (x)')
  other.close()
  const before = readFileSync(file)
  await t.rejects(open(), { message: /is not an Afield database/, exitCode: 78 })
  t.ok(readFileSync(file).equals(before))
})

t.test('a start cut off before the schema was created counts as a new database for the next', async t => {
  const { file, open } = newPlace(t)
  const cut = new Database(file)
  cut.pragma('page_size = 4096')
  cut.pragma('journal_mode = WAL')
  cut.close()
  const { database, close } = await open()
  t.same(
    database.prepare('SELECT * FROM migration').all(),
    migrations.map(({ number, name }) => ({ number, name, applied_at: 1_000 }))
  )
  close()
})

t.test('a failing step leaves the schema unchanged [L2]', async t => {
  const { open, openWith } = newPlace(t)
  ;(await open()).close()
  const number = migrations.length + 1
  const bad = { number, name: 'bad', sql: 'CREATE TABLE half (x); CREATE TABLE half (x);' }
  await t.rejects(openWith([...migrations, bad]), /already exists/)
  const good = { number, name: 'good', sql: 'CREATE TABLE half (x)' }
  const { database, close } = await openWith([...migrations, good])
  t.equal(database.pragma('user_version', { simple: true }), number)
  t.equal(database.prepare('SELECT name FROM migration').pluck().all().at(-1), 'good')
  close()
})

t.test('a directory that cannot be created or written is named in one sentence [F4]', async t => {
  const { directory } = newPlace(t)
  writeFileSync(`${directory}-file`, '')
  const below = join(`${directory}-file`, 'data')
  await t.rejects(openIn(below), { message: /afield\.db cannot be created, because \S+-file is a file and not a directory/, exitCode: 78 })
  await t.rejects(openIn(`${directory}-file`), { message: /-file is a file and not a directory/, exitCode: 78 })

  mkdirSync(join(directory, 'afield.db'), { recursive: true })
  await t.rejects(openIn(directory), { message: /is not a file/, exitCode: 78 })

  if (process.getuid?.() === 0) return t.comment('root may write anywhere')
  chmodSync(directory, 0o500)
  await t.rejects(openIn(directory), { message: /cannot be written by this user \(uid \d+\)/, exitCode: 78 })
  chmodSync(directory, 0o700)
})

t.test('opening the directory twice is rejected by name, and possible after the first has closed [F6]', async t => {
  const { directory, open } = newPlace(t)
  const first = await open()
  const refusal = await open().then(
    () => undefined,
    error => error
  )
  t.type(refusal, CannotStart)
  t.match(refusal, {
    message: `Another Afield server is using ${directory}; stop it, or give this one a directory of its own with --data.`,
    exitCode: 78
  })
  first.close()
  ;(await open()).close()
})

t.test('one file is not served from two data directories [F6]', async t => {
  const { file, directory, open } = newPlace(t)
  const first = await open()
  const elsewhere = join(directory, 'elsewhere')
  await t.rejects(openDatabase(file, { dataDirectory: elsewhere, migrations, clock }), { message: /Another Afield server is using/ })
  first.close()
})

function newPlace(t: Test) {
  const directory = join(t.testdir(), 'data')
  mkdirSync(directory, { mode: 0o700 })
  const file = join(directory, 'afield.db')
  const openWith = (steps: typeof migrations) => openDatabase(file, { dataDirectory: directory, migrations: steps, clock })
  return { file, directory, openWith, open: () => openWith(migrations) }
}

function openIn(directory: string) {
  return openDatabase(join(directory, 'afield.db'), { dataDirectory: directory, migrations, clock })
}
