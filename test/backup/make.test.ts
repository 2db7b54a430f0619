import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { version } from '../../lib/assets.ts'
import { unpack } from '../../lib/backup/archive.ts'
import { makeBackup } from '../../lib/backup/make.ts'
import { openStore } from '../../lib/store/open.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
import { watchFiles } from '../kit/watch-files.ts'
import { newAccount, newSession } from '../store/contract/kit.ts'

const now = Date.UTC(2030, 0, 2, 3, 4, 5)

/** A data directory with an account, and a place for backups. */
async function filled(t: Test, databaseName = 'afield.db') {
  const root = memoryFolder(t)
  const [data, out] = [join(root, 'data'), join(root, 'out')]
  for (const directory of [data, out]) mkdirSync(directory)
  const store = await openStore(`sqlite:${databaseName}`, { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  await newSession(store, await newAccount(store, 'ann'))
  await store.close()
  const tell: Parameters<typeof makeBackup>[0]['tell'] = () => {}
  const backup = (target = out, more: { tell?: typeof tell; passphrase?: string } = {}) =>
    makeBackup({ options: { data, store: `sqlite:${databaseName}` }, target, now, tell, passphrase: undefined, ...more })
  return { data, out, backup }
}

async function manifestOf(file: string) {
  const backup = await unpack(file, async () => '')
  await backup.close()
  return backup.manifest
}

const copiesIn = (data: string) => readdirSync(data).filter(name => name.startsWith('copy-'))

t.test('a backup in a directory is named after its time, and says what it has', async t => {
  const { data, out, backup } = await filled(t)
  writeFileSync(join(data, 'push-key.pem'), 'a key')
  const made = await backup(relative(process.cwd(), out))
  const file = join(out, 'afield-2030-01-02T030405.backup')
  const holds = { accounts: 1, sessions: 1, messages: 0 }
  t.same(made, { file, bytes: statSync(file).size, holds, keys: ['push-key.pem'], sealed: false })
  t.match(await manifestOf(file), {
    version: version(),
    madeAt: now,
    holds,
    files: [{ name: 'afield.db' }, { name: 'push-key.pem', bytes: 5 }]
  })
  t.same(copiesIn(data), [])
})

t.test('a target that exists or cannot be created is rejected before anything is copied', async t => {
  const { data, out, backup } = await filled(t)
  const file = join(out, 'a')
  writeFileSync(file, 'mine')
  const told: string[] = []
  for (const [target, message] of [
    [file, `${file} already exists; choose another file, or a directory.`],
    [join(out, 'none', 'a'), `The directory ${join(out, 'none')} does not exist.`],
    [join(file, 'b'), `The directory ${file} does not exist.`],
    [`${file}${'a'.repeat(300)}`, /^\S+ cannot be used by this user \(ENAMETOOLONG\); choose another place for the backup\.$/]
  ] as const)
    await t.rejects(backup(target, { tell: step => told.push(step) }), { name: 'CannotStart', message, exitCode: 78 })
  t.same([told, readdirSync(out), copiesIn(data)], [[], ['a'], []])
  t.equal(readFileSync(file, 'utf8'), 'mine')
})

t.test('a damaged database is not backed up, and the damage is named [K1]', async t => {
  const { data, out, backup } = await filled(t)
  const database = new Database(join(data, 'afield.db'))
  database.exec("UPDATE session_cells SET metadata = 'changed'")
  database.close()
  await t.rejects(backup(), {
    name: 'CannotStart',
    message: /^No backup was made, because the database is damaged: session_cells 1 is not what was stored\. Keep your older backups\.$/,
    exitCode: 75
  })
  t.same([readdirSync(out), copiesIn(data)], [[], []])
})

t.test(
  'a backup has the keys, but no files that a server creates again or that grant access, and no other databases [K2] [K3]',
  async t => {
    const { data, backup } = await filled(t, 'mine.sqlite')
    const mebibyte = 1024 * 1024
    const kept = ['a', 'push-key.pem', '_x.y-z', 'my-setup-code', 'reserve.pem', 'x'.repeat(101)]
    const left = [
      ...['setup-code', 'reserve', 'ended-tokens', 'control.sock', 'control-1', 'copy-1', 'restore-1'],
      ...['other-wal', 'other-shm', 'other-journal', 'other.restoring', 'other.restoring.part'],
      ...['other.db', 'other.db.old', 'old.backup', '.hidden', 'two words', 'x'.repeat(102)]
    ]
    for (const name of [...kept, ...left]) writeFileSync(join(data, name), name)
    mkdirSync(join(data, 'a-directory'))
    writeFileSync(join(data, 'largest'), Buffer.alloc(mebibyte))
    writeFileSync(join(data, 'too-large'), Buffer.alloc(mebibyte + 1))
    const { file, keys } = await backup()
    t.same(keys, [...kept, 'largest'].toSorted())
    t.same(
      (await manifestOf(file)).files.map(({ name }) => name),
      ['afield.db', ...keys]
    )
  }
)

t.test('a backup tells its progress, step by step', async t => {
  const { data, backup } = await filled(t)
  writeFileSync(join(data, 'largest'), Buffer.alloc(1024 * 1024))
  const told: { step: string; done?: number; total?: number }[] = []
  const { file, bytes } = await backup(undefined, { tell: (step, progress) => told.push({ step, ...progress }) })
  t.same([...new Set(told.map(({ step }) => step))], ['copying', 'checking', 'packing', 'reading back'])
  const total = (await manifestOf(file)).files.reduce((sum, one) => sum + one.bytes, 0)
  const last = (which: string) => told.findLast(({ step }) => step === which)
  t.same(last('packing'), { step: 'packing', done: bytes, total })
  t.same(last('reading back'), { step: 'reading back', done: total, total })
  t.match(last('copying'), { done: Number, total: Number })
  t.ok(told.filter(({ step }) => step === 'packing').length > 10, 'chunk by chunk')
})

t.test('a backup gets its name only when it is on disk and was read back, and the name is on disk too [K1]', async t => {
  const { out, backup } = await filled(t)
  const log: string[] = []
  watchFiles(t, (what, path) => {
    if (path.startsWith(out)) log.push(`${what} ${relative(out, path).replace(/\.\w{8}\.part$/, '.part')}`)
  })
  await backup(join(out, 'x'))
  const kept = log.filter((line, at) => line !== log[at - 1])
  t.same(kept, [
    ...['open x.part', 'appendFile x.part', 'sync x.part', 'close x.part'],
    ...['open x.part', 'close x.part', 'rename x.part', 'open ', 'sync ', 'close ']
  ])
})

t.test('a backup that cannot be written leaves nothing, and says why [K1]', async t => {
  for (const failing of ['open', 'appendFile', 'sync', 'rename']) {
    const { data, out, backup } = await filled(t)
    const end = watchFiles(t, (what, path) => {
      if (what === failing && path.startsWith(out)) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    })
    const file = join(out, 'x')
    const message = `${file} could not be written (ENOSPC).`
    await t.rejects(backup(file), { name: 'CannotStart', message, exitCode: 75, cause: { code: 'ENOSPC' } }, failing)
    end()
    t.same([readdirSync(out), copiesIn(data)], [[], []])
  }
})

t.test('a backup that is not read back as it was written is removed [K1]', async t => {
  const { data, out, backup } = await filled(t)
  await t.rejects(
    backup(undefined, {
      tell(step) {
        if (step !== 'reading back') return
        const [part = ''] = readdirSync(out)
        writeFileSync(join(out, part), 'x', { flag: 'a' })
      }
    }),
    { name: 'CannotStart', message: 'The backup is damaged: there is data after its end.' }
  )
  t.same([readdirSync(out), copiesIn(data)], [[], []])
})
