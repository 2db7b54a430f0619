import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { describeFile, type Manifest, pack } from '../../lib/backup/archive.ts'
import { makeBackup } from '../../lib/backup/make.ts'
import { restoreBackup } from '../../lib/backup/restore.ts'
import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { openStore } from '../../lib/store/open.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
import { failRenames, openFilesIn, watchFiles } from '../kit/watch-files.ts'
import { draft, newAccount, newSession, readAll } from '../store/contract/kit.ts'

const now = Date.UTC(2030, 0, 2)

interface World {
  data: string
  database: string
  file: string
  restore(): ReturnType<typeof restoreBackup>
  /** What the session says in the database that is there now. */
  said(): Promise<(string | null)[] | 'no session'>
}

/** A data directory whose backup says `before`, while its database and its key say `after`. */
async function changedSince(t: Test, place = (data: string) => data): Promise<World> {
  const root = t.testdir({ data: {}, out: {} })
  const data = join(root, 'data')
  const database = join(place(data), 'afield.db')
  const options = { data, store: `sqlite:${database}` }
  const open = () => openStore(options.store, { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  let ann: AccountId | undefined
  let session: SessionId | undefined
  const say = async (words: string) => {
    const store = await open()
    ann ??= await newAccount(store, 'ann')
    session ??= await newSession(store, ann)
    await store.appendMessages(ann, session, [draft(words)], 1)
    await store.close()
    writeFileSync(join(data, 'key.pem'), words)
  }
  await say('before')
  const { file } = await makeBackup({ options, target: join(root, 'out'), passphrase: undefined, now, tell() {} })
  await say('after')
  return {
    data,
    database,
    file,
    restore: () => restoreBackup({ options, file, passphrase: async () => '', force: true, now, tell() {} }),
    async said() {
      const store = await open()
      try {
        return ann && session && (await store.hasAccounts())
          ? (await readAll(store, ann, session)).map(({ sealed }) => sealed)
          : 'no session'
      } finally {
        await store.close()
      }
    }
  }
}

const leftBehind = (directory: string) => readdirSync(directory).filter(name => /restor/.test(name))

/** A backup whose files and counts are forged by the test, and a data directory with a key. */
async function forged(t: Test, forge: { holds?: object; sql?: string; names?: string[]; words?: string } = {}) {
  const root = memoryFolder(t)
  const [data, unpacked] = [join(root, 'data'), join(root, 'unpacked')]
  for (const directory of [data, unpacked]) mkdirSync(directory)
  writeFileSync(join(data, 'key.pem'), 'mine')
  const store = await openStore('sqlite:afield.db', { dataDirectory: unpacked, onBroken: reason => t.fail(reason.message) })
  const session = await newSession(store, await newAccount(store, 'ann'))
  await store.close()
  const database = new Database(join(unpacked, 'afield.db'))
  if (forge.sql) database.exec(forge.sql)
  database.close()
  const names = forge.names ?? ['key.pem']
  for (const name of names) writeFileSync(join(unpacked, name), `${name} of the backup`)
  const files = await Promise.all(['afield.db', ...names].map(name => describeFile(unpacked, name)))
  const manifest: Manifest = { version: '1.2.3', madeAt: 5, holds: { accounts: 1, sessions: 1, messages: 0, ...forge.holds }, files }
  const file = join(root, 'a.backup')
  await writeFile(
    file,
    pack(manifest, name => join(unpacked, name), forge.words)
  )
  const told: unknown[] = []
  const options = { data, store: 'sqlite:afield.db' }
  const tell: Parameters<typeof restoreBackup>[0]['tell'] = (step, progress) => told.push(progress ? { step, ...progress } : step)
  const restore = (from = file) =>
    restoreBackup({ options, file: from, passphrase: async () => forge.words ?? '', force: false, now, tell })
  return { data, unpacked, manifest, told, session, restore, total: files.reduce((sum, { bytes }) => sum + bytes, 0) }
}

t.test(
  'a restore tells its progress and what was in the backup, keeps the keys private, and holds older sign-ins for a day [K2]',
  async t => {
    const { data, manifest, told, total, restore } = await forged(t)
    t.same(await restore(), { manifest, putAside: [join(data, 'before-2030-01-02T000000')], endedTokens: 0 })
    t.same([told[0], told.at(-2), told.at(-1)], ['unpacking', { step: 'unpacking', done: total, total }, 'checking'])
    t.equal(readFileSync(join(data, 'key.pem'), 'utf8'), 'key.pem of the backup')
    t.equal(statSync(join(data, 'key.pem')).mode & 0o777, 0o600)
    const database = new Database(join(data, 'afield.db'), { readonly: true })
    t.equal(database.prepare('SELECT until FROM legacy_hold').pluck().get(), now + 24 * 60 * 60 * 1000)
    database.close()
  }
)

t.test('an encrypted backup is restored with its passphrase [K2]', async t => {
  const { data, manifest, restore } = await forged(t, { words: 'right words' })
  t.same((await restore()).manifest, manifest)
  t.equal(readFileSync(join(data, 'key.pem'), 'utf8'), 'key.pem of the backup')
})

t.test('a copy of a database is restored as it is, with its progress [K2]', async t => {
  const { data, unpacked, told, restore } = await forged(t)
  const file = join(unpacked, 'afield.db')
  const { size: total, mtimeMs } = statSync(file)
  const synced: string[] = []
  const end = watchFiles(t, (what, path) => {
    if (what === 'sync') synced.push(basename(path))
  })
  const { manifest } = await restore(file)
  end()
  t.ok(synced.includes('afield.db'), 'it is synced')
  t.match(manifest, { version: 'unknown', madeAt: Math.round(mtimeMs), holds: { accounts: 1, sessions: 1, messages: 0 } })
  t.same(told.slice(-2), [{ step: 'unpacking', done: total, total }, 'checking'])
  t.equal(readFileSync(join(data, 'key.pem'), 'utf8'), 'mine', 'no key is in it')
  t.same(leftBehind(data), [])
})

t.test('a backup whose database differs from its manifest or its checksums is rejected, and nothing changes [K2]', async t => {
  for (const [message, forge] of [
    ['The database in the backup does not match its manifest.', { holds: { messages: 1 } }],
    ['The database in the backup does not match its manifest.', { holds: { accounts: 2 } }],
    [
      'The database in the backup is damaged: session_cells 1 is not what was stored.',
      { sql: "UPDATE session_cells SET metadata = 'changed'" }
    ]
  ] as const) {
    const { data, restore } = await forged(t, forge)
    await t.rejects(restore(), { name: 'CannotStart', message, exitCode: 78 })
    t.same(
      readdirSync(data).filter(name => name !== 'afield.lock'),
      ['key.pem']
    )
    t.equal(readFileSync(join(data, 'key.pem'), 'utf8'), 'mine')
  }
})

t.test('files that a server makes for its own directory are not restored, even if a backup has them', async t => {
  const names = ['ended-tokens', 'x-wal', 'x-shm', 'x-journal', 'x.restoring', 'x.restoring.part', 'other.pem']
  const { data, restore } = await forged(t, { names })
  await restore()
  t.same(
    readdirSync(data)
      .filter(name => names.includes(name))
      .toSorted(),
    ['other.pem']
  )
})

t.test('a restore onto a full disk says so, another failure is reported as it is, and neither leaves anything behind [F1]', async t => {
  for (const [code, error] of [
    [
      'ENOSPC',
      {
        name: 'CannotStart',
        message: /^There is not enough space for the backup in \S+data\. Nothing was changed; free some and try again\.$/,
        exitCode: 75
      }
    ],
    ['EDQUOT', { name: 'CannotStart', message: /not enough space/, exitCode: 75 }],
    ['EIO', { message: 'it failed' }]
  ] as const) {
    const { data, restore } = await forged(t)
    const end = watchFiles(t, (what, path) => {
      if (what === 'sync' && path.endsWith('key.pem')) throw Object.assign(new Error('it failed'), { code })
    })
    await t.rejects(restore(), error)
    end()
    t.same(openFilesIn(join(data, '..')), [], 'no file is left open')
    t.same(
      readdirSync(data).filter(name => name !== 'afield.lock'),
      ['key.pem']
    )
    await restore()
  }
})

t.test('a database outside the data directory is restored in place, and the old files are moved aside next to it [K2]', async t => {
  const { data, database, restore, said } = await changedSince(t, () => memoryFolder(t))
  const beside = join(database, '..')
  const { putAside } = await restore()
  t.same(putAside.toSorted(), [join(data, 'before-2030-01-02T000000'), join(beside, 'before-2030-01-02T000000')].toSorted())
  t.same(await said(), ['before'])
  t.equal(readFileSync(join(data, 'key.pem'), 'utf8'), 'before')
  t.equal(readFileSync(join(data, 'before-2030-01-02T000000', 'key.pem'), 'utf8'), 'after')
  t.ok(existsSync(join(beside, 'before-2030-01-02T000000', 'afield.db')))
  t.same([...leftBehind(data), ...leftBehind(beside)], [])

  const again = await restore()
  t.not(again.putAside[0], putAside[0], 'a second one in the same second has a place of its own')
})

t.test('a server with another data directory on the same database blocks a restore [F6]', async t => {
  const { database, restore } = await changedSince(t, data => {
    mkdirSync(join(data, 'inner'))
    return join(data, 'inner')
  })
  const elsewhere = t.testdir({ other: {} })
  const store = await openStore(`sqlite:${database}`, {
    dataDirectory: join(elsewhere, 'other'),
    onBroken: reason => t.fail(reason.message)
  })
  await t.rejects(restore(), { message: /Another Afield server is using/ })
  await store.close()
})

t.test('if power fails at any point of a restore, the next start has all of the old or all of the restored data [K2]', async t => {
  for (const place of [(data: string) => data, () => memoryFolder(t)]) {
    let renames = Number.POSITIVE_INFINITY
    const seen = new Set<string>()
    for (let at = 0; at < renames; at += 1) {
      const { data, database, restore, said } = await changedSince(t, place)
      const power = failRenames(t, at)
      await t.rejects(restore(), { name: 'CannotStart' })
      power.end()
      const words = await said()
      const key = readFileSync(join(data, 'key.pem'), 'utf8')
      if (key === 'after') t.same(words, ['before', 'after'], `cut off at rename ${at}`)
      else t.same([words, key], [['before'], 'before'], `cut off at rename ${at}`)
      seen.add(key)
      t.same([...leftBehind(data), ...leftBehind(join(database, '..'))], [], 'nothing unfinished is left')
      if (renames === Number.POSITIVE_INFINITY) {
        const counted = failRenames(t, Number.POSITIVE_INFINITY)
        await restore()
        counted.end()
        renames = counted.count()
        t.ok(renames >= 5, `${renames} renames`)
      }
    }
    t.same(seen, new Set(['before', 'after']))
  }
})

t.test('a restore that fails midway puts the old data back, and says so', async t => {
  for (const at of [0, 1, 2, 3, 4]) {
    const { data, restore, said } = await changedSince(t)
    const once = failRenames(t, at, 1)
    await t.rejects(restore(), { message: 'The backup could not be put in place (EIO); the previous data is where it was.', exitCode: 75 })
    once.end()
    t.same(
      readdirSync(data).filter(name => /restor|^before/.test(name)),
      []
    )
    t.same(await said(), ['before', 'after'])
    t.equal(readFileSync(join(data, 'key.pem'), 'utf8'), 'after')
  }
})
