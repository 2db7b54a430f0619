import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { describeFile, pack, unpack } from '../../lib/backup/archive.ts'
import { CannotStart } from '../../lib/exit.ts'

const chunk = 256 * 1024
const sizes = { none: 0, one: 1, whole: chunk, more: chunk + 1, last: 2 * chunk + 3 }

t.test('files of every size come back as they were, with their progress', async t => {
  const { backup, bytesOf, manifest } = await packedIn(t)
  const unpacking = await unpack(backup, () => Promise.reject(new Error('it is not encrypted')))
  t.strictSame(unpacking.manifest, manifest)
  const found = new Map<string, Buffer[]>()
  const told: number[] = []
  const total = Object.values(sizes).reduce((sum, size) => sum + size, 0)
  await unpacking.files(
    async (name, part) => void found.set(name, [...(found.get(name) ?? []), part]),
    progress => {
      t.equal(progress.total, total)
      told.push(progress.done)
    }
  )
  await unpacking.close()
  t.strictSame([...found.keys()], Object.keys(sizes))
  for (const [name, size] of Object.entries(sizes)) t.ok(Buffer.concat(found.get(name) ?? []).equals(bytesOf(size)), name)
  t.strictSame(told, [1, 1 + chunk, 1 + 2 * chunk, 2 + 2 * chunk, 2 + 3 * chunk, 2 + 4 * chunk, total])
})

t.test('a backup that is cut, or that goes on after its end, is damaged', async t => {
  const { backup } = await packedIn(t)
  const problem = async () => {
    const unpacking = await unpack(backup, async () => '')
    try {
      return await unpacking.files(async () => {}).catch((error: unknown) => error)
    } finally {
      await unpacking.close()
    }
  }
  appendFileSync(backup, 'a')
  const longer = await problem()
  t.type(longer, CannotStart)
  t.match(longer, { message: 'The backup is damaged: there is data after its end.' })
  truncateSync(backup, sizes.whole)
  t.type(await problem(), CannotStart)
})

const head = '{"sealing":null}'
const files = (...names: string[]) => names.map(name => ({ name, bytes: 0, sha256: '' }))
const manifestOf = (more: object = {}) =>
  JSON.stringify({ version: '1', madeAt: 1, holds: { accounts: 0, sessions: 0, messages: 0 }, files: [], ...more })

t.test('a file that is not a backup, or a forged one, is rejected before any of its content is used', async t => {
  const folder = t.testdir({ directory: {} })
  const file = join(folder, 'a.backup')
  const later = 'The backup is damaged, or was made by a later version of Afield.'
  const sealing = (more: object) =>
    JSON.stringify({ sealing: { cipher: 'argon2id+xchacha20poly1305', salt: 'c2FsdA==', passes: 1, memoryKiB: 8, ...more } })
  for (const [what, content, message] of [
    ['an empty file', '', `${file} is not an Afield backup.`],
    ['another file', 'hello\n', `${file} is not an Afield backup.`],
    ['a longer first line', `afield-backup-12\n${head}\n${manifestOf()}\n`, `${file} is not an Afield backup.`],
    ['a first line only', 'afield-backup-1\n', later],
    ['a head that is no JSON', 'afield-backup-1\n{\n', later],
    ['another head', `afield-backup-1\n{"sealing":null,"more":1}\n${manifestOf()}\n`, later],
    ['an endless head', `afield-backup-1\n${' '.repeat(1_025)}${head}\n${manifestOf()}\n`, later],
    ['another cipher', `afield-backup-1\n${sealing({ cipher: 'rot13' })}\n`, later],
    ['a salt that is none', `afield-backup-1\n${sealing({ salt: '?' })}\n`, later],
    ['no pass', `afield-backup-1\n${sealing({ passes: 0 })}\n`, later],
    ['endless passes', `afield-backup-1\n${sealing({ passes: 17 })}\n`, later],
    ['all of the memory', `afield-backup-1\n${sealing({ memoryKiB: 1024 * 1024 + 1 })}\n`, later],
    ['no manifest', `afield-backup-1\n${head}\n`, later],
    ['an endless manifest', `afield-backup-1\n${head}\n${' '.repeat(64 * 1024)}${manifestOf()}\n`, later],
    ['a file elsewhere', `afield-backup-1\n${head}\n${manifestOf({ files: files('../a') })}\n`, later],
    ['a hidden file', `afield-backup-1\n${head}\n${manifestOf({ files: files('.a') })}\n`, later],
    ['a long name', `afield-backup-1\n${head}\n${manifestOf({ files: files('a'.repeat(102)) })}\n`, later],
    ['less than no bytes', `afield-backup-1\n${head}\n${manifestOf({ files: [{ name: 'a', bytes: -1, sha256: '' }] })}\n`, later],
    ['too many files', `afield-backup-1\n${head}\n${manifestOf({ files: files(...Array(101).fill('a')) })}\n`, later],
    ['no counts', `afield-backup-1\n${head}\n${manifestOf({ holds: {} })}\n`, later]
  ] as const) {
    writeFileSync(file, content)
    await t.rejects(
      unpack(file, async () => 'words'),
      { name: 'CannotStart', message, exitCode: 78 },
      what
    )
  }
  const none = join(folder, 'none')
  await t.rejects(
    unpack(none, async () => ''),
    { message: `${none} does not exist.`, cause: { code: 'ENOENT' } }
  )
  const directory = join(folder, 'directory')
  await t.rejects(
    unpack(directory, async () => ''),
    { message: `${directory} is not a file.` }
  )
  await t.rejects(
    unpack(join(file, 'x'), async () => ''),
    { message: `${join(file, 'x')} cannot be read by this user (ENOTDIR).` }
  )

  const longest = manifestOf({ files: files('a'.repeat(101), ...Array(99).fill('_-.b')) })
  writeFileSync(file, `afield-backup-1\n${head}\n${longest}\n`)
  const fine = await unpack(file, async () => '')
  t.equal(fine.manifest.files.length, 100)
  await fine.close()
})

t.test('a file that was changed in a backup is named, and a missing last byte is noticed', async t => {
  const { backup } = await packedIn(t)
  const whole = readFileSync(backup)
  const problem = async (bytes: Buffer) => {
    writeFileSync(backup, bytes)
    const unpacking = await unpack(backup, async () => '')
    try {
      return await unpacking.files(async () => {}).catch((error: unknown) => error)
    } finally {
      await unpacking.close()
    }
  }
  const changed = Buffer.from(whole)
  changed.writeUInt8(whole.readUInt8(whole.length - 1) ^ 1, whole.length - 1)
  t.match(await problem(changed), { name: 'CannotStart', message: 'The backup is damaged: last in it was changed.' })
  t.match(await problem(whole.subarray(0, -1)), { name: 'CannotStart', message: 'The backup is truncated: its end is missing.' })
  t.equal(await problem(whole), undefined)
})

t.test('of a file that grows while a backup is made, the backup has what its manifest says [K1]', async t => {
  const { folder, backup, manifest } = await packedIn(t)
  const before = readFileSync(backup)
  for (const name of ['one', 'last']) appendFileSync(join(folder, name), 'more')
  await writeFile(
    backup,
    pack(manifest, name => join(folder, name), undefined)
  )
  t.ok(readFileSync(backup).equals(before))
})

t.test('an encrypted backup asks for its passphrase once, and opens with that one only [K2]', async t => {
  const { folder, manifest } = await packedIn(t)
  const file = join(folder, 'b.backup')
  await writeFile(
    file,
    pack(manifest, name => join(folder, name), 'right words')
  )
  t.notMatch(readFileSync(file, 'latin1'), /afield-backup|afield afield/)
  let asked = 0
  const backup = await unpack(file, async () => {
    asked += 1
    return 'right words'
  })
  t.strictSame(backup.manifest, manifest)
  const sizesFound: Record<string, number> = {}
  await backup.files(async (name, part) => {
    sizesFound[name] = (sizesFound[name] ?? 0) + part.length
  })
  await backup.close()
  t.same(sizesFound, sizes)
  t.equal(asked, 1)
  await t.rejects(
    unpack(file, async () => 'wrong'),
    { name: 'CannotStart', message: 'Wrong passphrase for this backup.' }
  )
})

async function packedIn(t: Test) {
  const folder = t.testdir({})
  const bytesOf = (size: number) => Buffer.alloc(size, 'afield ')
  for (const [name, size] of Object.entries(sizes)) writeFileSync(join(folder, name), bytesOf(size))
  const files = await Promise.all(Object.keys(sizes).map(name => describeFile(folder, name)))
  const manifest = { version: '1.0.0', madeAt: 1, holds: { accounts: 1, sessions: 2, messages: 3 }, files }
  const backup = join(folder, 'a.backup')
  await writeFile(
    backup,
    pack(manifest, name => join(folder, name), undefined)
  )
  return { folder, backup, bytesOf, manifest }
}
