import fs, { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeBackup } from '../../lib/backup/make.ts'
import { restoreBackup } from '../../lib/backup/restore.ts'
import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { openStore } from '../../lib/store/open.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
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

/** From the given rename on all fail, as none happen any more after the power has failed; `times` of them, or all. */
function failRenames(from: number, times = Number.POSITIVE_INFINITY): { count: () => number; end: () => void } {
  const { renameSync } = fs
  let count = 0
  fs.renameSync = (...paths) => {
    count += 1
    if (count > from && count <= from + times) throw Object.assign(new Error('EIO: i/o error, rename'), { code: 'EIO' })
    renameSync(...paths)
  }
  syncBuiltinESMExports()
  const end = () => {
    fs.renameSync = renameSync
    syncBuiltinESMExports()
  }
  return { count: () => count, end }
}

const leftBehind = (directory: string) => readdirSync(directory).filter(name => /restor/.test(name))

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
      const power = failRenames(at)
      await t.rejects(restore(), { name: 'CannotStart' })
      power.end()
      const words = await said()
      const key = readFileSync(join(data, 'key.pem'), 'utf8')
      if (key === 'after') t.same(words, ['before', 'after'], `cut off at rename ${at}`)
      else t.same([words, key], [['before'], 'before'], `cut off at rename ${at}`)
      seen.add(key)
      t.same([...leftBehind(data), ...leftBehind(join(database, '..'))], [], 'nothing unfinished is left')
      if (renames === Number.POSITIVE_INFINITY) {
        const counted = failRenames(Number.POSITIVE_INFINITY)
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
    const once = failRenames(at, 1)
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

t.test('the next start removes files unpacked by a killed restore', async t => {
  const { data, said } = await changedSince(t)
  mkdirSync(join(data, 'afield-restore-abcdef'))
  mkdirSync(join(data, 'restore-mine'))
  writeFileSync(join(data, 'afield-restore-abcdef', 'afield.db'), 'half of it')
  await said()
  t.same(leftBehind(data), ['restore-mine'], 'and nothing of anybody else')
})
