import fs, { readFileSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { openJournalFile } from '../../../lib/wrapper/home/journal-file.ts'
import { draft, testJournal } from '../../client/outbox/journal-contract.ts'

testJournal(t, t => {
  const file = join(t.testdir(), 'outbox', 'journal')
  const open = () => {
    const journal = openJournalFile(file)
    t.teardown(() => journal.close())
    return journal
  }
  return { journal: open(), reopen: async () => open() }
})

t.test('a write torn at any byte is truncated, and earlier records are intact [W4]', async t => {
  const { file, whole, before } = await written(t)
  for (let length = before; length < whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length))
    const journal = openJournalFile(file)
    t.strictSame(names(await journal.load()), ['a', 'b'], `torn after ${length} of ${whole.length} bytes`)
    t.equal(statSync(file).size, before)
    await journal.append([draft('d')])
    await journal.close()
    t.strictSame(await namesIn(file), ['a', 'b', 'd'], 'and what comes next is kept')
  }
})

t.test('a flipped bit costs at most the record it is in [W4]', async t => {
  const { file, whole } = await written(t)
  for (let bit = 0; bit < whole.length * 8; bit += 7) {
    const damaged = Buffer.from(whole)
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    writeFileSync(file, damaged)
    const left = await namesIn(file)
    const isWhole = ['a,c', 'b,c', 'a,b', 'a,b,c'].includes(left.join())
    if (!isWhole) t.fail(`bit ${bit} left ${left.join()}`)
  }
  t.pass('every third of the records came back each time')
})

t.test('an arbitrary file does not prevent the start', async t => {
  const file = join(t.testdir({ journal: Buffer.alloc(5000, 0xaf) }), 'journal')
  const journal = openJournalFile(file)
  t.teardown(() => journal.close())
  t.strictSame(await journal.load(), [])
  await journal.append([draft('a')])
  t.strictSame(await namesIn(file), ['a'])
})

t.test('nobody else may read it, or list its folder [W6]', async t => {
  const file = join(t.testdir(), 'outbox', 'journal')
  const journal = openJournalFile(file)
  t.teardown(() => journal.close())
  await journal.load()
  await journal.append([draft('a')])
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(statSync(dirname(file)).mode & 0o777, 0o700)
})

t.test('acknowledged records do not grow the file forever', async t => {
  const file = join(t.testdir(), 'journal')
  const journal = openJournalFile(file)
  t.teardown(() => journal.close())
  await journal.load()
  const content = 'QUJD'.repeat(20_000)
  await journal.append([draft('stays')])
  for (let n = 0; n < 60; n++) {
    await journal.append([draft(`${n}`, { content })])
    await journal.remove([draft(`${n}`)])
  }
  t.ok(statSync(file).size < 1_300_000, 'of 4.8 MB that passed through it')
  t.strictSame(await namesIn(file), ['stays'])
  await journal.remove([draft('stays')])
  t.equal(statSync(file).size, 0, 'and when nothing waits it is empty')
})

t.test('a disk that fills during a removal, and fills again, loses no other record [W1, W4]', async t => {
  const file = join(t.testdir(), 'journal')
  const journal = openJournalFile(file)
  t.teardown(() => journal.close())
  await journal.load()
  const disk = smallDisk(t)
  await journal.append([draft('a'), draft('b')])
  disk.isFull = true
  await t.rejects(journal.remove([draft('a')]), { code: 'ENOSPC' })
  disk.isFull = false
  await journal.append([draft('c')])
  disk.isFull = true
  await t.rejects(journal.append([draft('d')]), { code: 'ENOSPC' })
  disk.isFull = false
  t.strictSame(await namesIn(file), ['a', 'b', 'c'], 'what was removed is only sent once more')
  await journal.append([draft('e')])
  t.strictSame(await namesIn(file), ['a', 'b', 'c', 'e'])
})

t.test('what an earlier process left is not lost to a disk that is full, not even if the half record stays [W1, W4]', async t => {
  const { file } = await written(t)
  const journal = openJournalFile(file)
  t.teardown(() => journal.close())
  await journal.load()
  const disk = smallDisk(t)
  disk.isFull = true
  await t.rejects(journal.append([draft('lost')]), { code: 'ENOSPC' })
  disk.isFull = false
  t.strictSame(await namesIn(file), ['a', 'b', 'c'])

  disk.isFull = true
  disk.isStuck = true
  await t.rejects(journal.append([draft('lost')]), { code: 'EIO' })
  disk.isFull = false
  disk.isStuck = false
  await journal.append([draft('d')])
  t.strictSame(await namesIn(file), ['a', 'b', 'c', 'd'])
})

t.test('a file most of which still waits is not written anew', async t => {
  const file = join(t.testdir(), 'journal')
  const journal = openJournalFile(file)
  t.teardown(() => journal.close())
  await journal.load()
  const content = 'QUJD'.repeat(100_000)
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const name of names) await journal.append([draft(name, { content })])
  const { ino } = statSync(file)
  for (const name of names.slice(0, 2)) {
    await journal.remove([draft(name)])
    t.equal(statSync(file).ino, ino, `without ${name}`)
  }
  await journal.remove([draft('c')])
  t.not(statSync(file).ino, ino, 'less than half of it')
  t.strictSame(await namesIn(file), ['d', 'e'])
})

t.test('each call waits for those before it, also the end', async t => {
  const file = join(t.testdir(), 'journal')
  const journal = openJournalFile(file)
  await journal.load()
  const calls = [journal.append([draft('a')]), journal.remove([draft('a')]), journal.append([draft('b')]), journal.close()]
  await Promise.all(calls)
  t.strictSame(await namesIn(file), ['b'])
  await t.rejects(journal.append([draft('c')]), { message: 'the journal is closed' })
})

t.test('a message is on the disk before it counts as kept, and a removal is not waited for [D1]', async t => {
  let syncs = 0
  const { fdatasync } = fs
  const replace = (sync: typeof fdatasync) => {
    fs.fdatasync = sync
    syncBuiltinESMExports()
  }
  replace(
    Object.assign((...given: Parameters<typeof fdatasync>) => {
      syncs += 1
      fdatasync(...given)
    }, fdatasync)
  )
  t.teardown(() => replace(fdatasync))
  // Another copy of the module, which finds the replaced function.
  const { openJournalFile: open }: { openJournalFile: typeof openJournalFile } = await import(
    String(new URL('../../../lib/wrapper/home/journal-file.ts?counted', import.meta.url))
  )
  const journal = open(join(t.testdir(), 'journal'))
  t.teardown(() => journal.close())
  const after = async (work: Promise<unknown>) => {
    syncs = 0
    await work
    return syncs
  }
  t.equal(await after(journal.load()), 1)
  t.equal(await after(journal.append([draft('a'), draft('b')])), 1)
  t.equal(await after(journal.remove([draft('a')])), 0)
  const content = 'QUJD'.repeat(300_000)
  await journal.append([draft('large', { content })])
  t.equal(await after(journal.remove([draft('large')])), 1, 'unless the file is written anew')
})

/** One that takes the beginning of a record when it is full, and when it is stuck does not give it back. */
function smallDisk(t: Test): { isFull: boolean; isStuck: boolean } {
  const disk = { isFull: false, isStuck: false }
  const { writeFileSync, ftruncateSync } = fs
  const replace = (write: typeof writeFileSync, truncate = ftruncateSync) => {
    fs.writeFileSync = write
    fs.ftruncateSync = truncate
    syncBuiltinESMExports()
  }
  const truncate: typeof ftruncateSync = (file, length) => {
    if (disk.isStuck) throw Object.assign(new Error('EIO: i/o error, ftruncate'), { code: 'EIO' })
    ftruncateSync(file, length)
  }
  replace((file, bytes, ...how) => {
    if (!disk.isFull || !Buffer.isBuffer(bytes)) return writeFileSync(file, bytes, ...how)
    writeFileSync(file, bytes.subarray(0, 20), ...how)
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }, truncate)
  t.teardown(() => replace(writeFileSync))
  return disk
}

/** Three records, each with one draft, and where the last of them begins. */
async function written(t: Test) {
  const file = join(t.testdir(), 'journal')
  const journal = openJournalFile(file)
  await journal.load()
  await journal.append([draft('a')])
  await journal.append([draft('b')])
  const before = statSync(file).size
  await journal.append([draft('c')])
  await journal.close()
  return { file, before, whole: readFileSync(file) }
}

async function namesIn(file: string): Promise<string[]> {
  const journal = openJournalFile(file)
  const drafts = await journal.load()
  await journal.close()
  return names(drafts)
}

function names(drafts: readonly { localId: string }[]): string[] {
  return drafts.map(({ localId }) => localId)
}
