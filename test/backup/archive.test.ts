import { appendFileSync, truncateSync, writeFileSync } from 'node:fs'
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
  return { backup, bytesOf, manifest }
}
