import fs, { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openReserve } from '../../../sqlite/file/reserve.ts'
import { exchange } from '../../kit/exchange.ts'
import { memoryFolder } from '../../kit/memory-folder.ts'
import { watchFiles } from '../../kit/watch-files.ts'

const mebibyte = 1024 * 1024
const size = 16 * mebibyte

/** A reserve on a disk with as much free space as the test says, besides what the reserve takes. */
function reserveOn(t: Test, free: number) {
  const directory = memoryFolder(t)
  const file = join(directory, 'reserve')
  const disk = { free }
  const { statfsSync } = fs
  const replaced = (path: string) => {
    const taken = existsSync(file) ? size : 0
    return path === directory ? { bsize: 4096, bavail: Math.floor((disk.free - taken) / 4096), bfree: 1e9 } : statfsSync(path)
  }
  exchange(t, fs, 'statfsSync', replaced)
  return { reserve: openReserve(directory), directory, file, disk }
}

t.test('the reserve is a private file that takes 16 MiB on any file system [F1]', async t => {
  const { reserve, file } = reserveOn(t, 100 * mebibyte)
  t.same([reserve.isReleased(), reserve.isFull(), existsSync(file)], [false, false, false], 'opening takes no space yet')
  await reserve.regain()
  t.same([reserve.isReleased(), reserve.isFull()], [false, false])
  t.match(statSync(file), { size, mode: 0o100600 })
  const first = readFileSync(file).subarray(0, mebibyte)
  t.ok(new Set(first).size === 256, 'a file of zeros may take nothing')
  const before = readFileSync(file)
  await reserve.regain()
  t.ok(readFileSync(file).equals(before), 'it is made once')
})

t.test('the reserve is synced: space that a disk has not allocated yet may be gone when it is needed [F1]', async t => {
  const { reserve } = reserveOn(t, 100 * mebibyte)
  const done: string[] = []
  watchFiles(t, name => done.push(name))
  await reserve.regain()
  t.same(
    done.filter((name, at) => name !== done[at - 1]),
    ['open', 'write', 'sync', 'close']
  )
})

t.test('the reserve is made only where 4 MiB stay free besides it [F1]', async t => {
  const { reserve, file, disk } = reserveOn(t, size + 4 * mebibyte - 4096)
  await reserve.regain()
  t.notOk(existsSync(file))
  disk.free += 4096
  await reserve.regain()
  t.ok(existsSync(file))
})

t.test('once released, writes that grow are rejected until the disk has room for the reserve again [F1]', async t => {
  const { reserve, file, disk } = reserveOn(t, 100 * mebibyte)
  await reserve.regain()
  disk.free = size
  reserve.release()
  t.same([reserve.isReleased(), reserve.isFull(), existsSync(file)], [true, true, false])
  await reserve.regain()
  t.same([reserve.isReleased(), reserve.isFull(), existsSync(file)], [true, true, false], 'the space it freed is not space for others')
  reserve.release()
  t.same([reserve.isReleased(), reserve.isFull()], [true, true])
  disk.free = size + 4 * mebibyte
  await reserve.regain()
  t.same([reserve.isReleased(), reserve.isFull(), existsSync(file)], [false, false, true])
})

t.test('on a disk too small for a reserve nothing is rejected, and it counts as full until 4 MiB are free [F1]', async t => {
  const { reserve, file, disk } = reserveOn(t, 0)
  await reserve.regain()
  reserve.release()
  t.same([reserve.isReleased(), reserve.isFull()], [false, true])
  disk.free = 4 * mebibyte - 4096
  await reserve.regain()
  t.equal(reserve.isFull(), true)
  disk.free = 4 * mebibyte
  await reserve.regain()
  t.same([reserve.isReleased(), reserve.isFull(), existsSync(file)], [false, false, false])
})

t.test('an unfinished reserve left by a crash is completed, and released when the disk is full [F1]', async t => {
  const { reserve, file, disk } = reserveOn(t, 100 * mebibyte)
  writeFileSync(file, 'half')
  reserve.release()
  t.same([reserve.isReleased(), existsSync(file)], [true, false])
  writeFileSync(file, 'half')
  disk.free = 200 * mebibyte
  await reserve.regain()
  t.equal(statSync(file).size, size)
  t.equal(reserve.isReleased(), false)
})

for (const [failing, after] of [
  ['open', 0],
  ['write', 3],
  ['sync', 0]
] as const)
  t.test(
    `if the disk fills up while the reserve is made, noticed by ${failing}, nothing of it stays, and the disk counts as full [F1]`,
    async t => {
      const { reserve, directory, disk } = reserveOn(t, 100 * mebibyte)
      await reserve.regain()
      reserve.release()
      let calls = 0
      const end = watchFiles(t, name => {
        if (name === failing && ++calls > after) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
      })
      await reserve.regain()
      t.equal(calls, after + 1)
      t.same([reserve.isReleased(), reserve.isFull(), readdirSync(directory)], [true, true, []])
      end()
      disk.free = 100 * mebibyte
      await reserve.regain()
      t.same([reserve.isReleased(), reserve.isFull(), readdirSync(directory)], [false, false, ['reserve']])
    }
  )

t.test('several who ask for the reserve at once get one, and it is made again after it was released', async t => {
  const { reserve } = reserveOn(t, 100 * mebibyte)
  const done: string[] = []
  watchFiles(t, name => done.push(name))
  await Promise.all([reserve.regain(), reserve.regain()])
  t.equal(done.filter(name => name === 'sync').length, 1)
  reserve.release()
  await reserve.regain()
  t.equal(done.filter(name => name === 'sync').length, 2)
})
