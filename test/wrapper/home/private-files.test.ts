import fs, { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  appendPrivateFile,
  makePrivateFolder,
  openNotesFile,
  readPrivateFile,
  syncFolder,
  withFileLock,
  writePrivateFile
} from '../../../lib/wrapper/home/private-files.ts'

t.test('writes waiting for a full disk keep waiting when the next attempt fails differently', async t => {
  const path = join(t.testdir(), 'notes.json')
  const file = openNotesFile(path)
  t.teardown(file.close)
  failWith('ENOSPC', 'EACCES')
  file.write('said')
  await file.settled()
  t.equal(readFileSync(path, 'utf8'), 'said')
})

t.test('an error that waiting cannot fix is reported at once', t => {
  const file = openNotesFile(join(t.testdir(), 'notes.json'))
  failWith('EACCES')
  t.throws(() => file.write('said'), { code: 'EACCES' })
  t.end()
})

t.test('whoever waits for the disk hears why at once, and a closed file is not written any more', async t => {
  const path = join(t.testdir(), 'notes.json')
  const file = openNotesFile(path)
  const heard: unknown[] = []
  file.write('first')
  file.onWaiting(why => heard.push(why))
  await file.settled()
  t.same([file.isWaiting, heard], [false, []])
  failWith('EDQUOT')
  file.write('second')
  t.equal(file.isWaiting, true)
  file.onWaiting(why => heard.push(why))
  t.match(heard, [{ code: 'EDQUOT' }, { code: 'EDQUOT' }])
  file.close()
  file.write('third')
  t.equal(readFileSync(path, 'utf8'), 'first')
})

t.test('a folder that others may enter is closed to them, with those above it that are created [W6]', t => {
  const top = t.testdir({ open: {} })
  for (const mode of [0o755, 0o701, 0o770]) {
    chmodSync(join(top, 'open'), mode)
    makePrivateFolder(join(top, 'open'))
    t.equal(statSync(join(top, 'open')).mode & 0o777, 0o700, mode.toString(8))
  }
  chmodSync(join(top, 'open'), 0o500)
  makePrivateFolder(join(top, 'open'))
  t.equal(statSync(join(top, 'open')).mode & 0o777, 0o500, 'one that is private stays as it is')
  chmodSync(join(top, 'open'), 0o700)
  makePrivateFolder(join(top, 'new', 'deep'))
  for (const path of ['new', 'new/deep']) t.equal(statSync(join(top, path)).mode & 0o777, 0o700)
  t.end()
})

t.test('a text that could not be written as a whole changes nothing, and leaves nothing behind', t => {
  const folder = t.testdir({ file: 'old' })
  failWith('ENOSPC')
  t.throws(() => writePrivateFile(join(folder, 'file'), 'new'), { code: 'ENOSPC' })
  t.strictSame(readdirSync(folder), ['file'])
  t.equal(readFileSync(join(folder, 'file'), 'utf8'), 'old')
  t.end()
})

t.test('a text is on disk before it has its name, and the name after; no handle stays open', { skip: process.platform === 'win32' }, t => {
  const folder = t.testdir()
  const path = join(folder, 'file')
  const calls = watchCalls(t)
  writePrivateFile(path, 'text')
  const synced = ['openSync', 'fsyncSync', 'closeSync']
  t.strictSame(calls.splice(0), [...synced, 'renameSync', ...synced])
  appendPrivateFile(path, ' and more')
  t.strictSame(calls.splice(0), synced)
  syncFolder(folder)
  t.strictSame(calls.splice(0), synced)
  t.equal(readPrivateFile(path), 'text and more')
  for (const write of [writePrivateFile, appendPrivateFile]) {
    failWith('ENOSPC')
    t.throws(() => write(path, 'new'), { code: 'ENOSPC' })
    t.strictSame(calls.splice(0), ['openSync', 'closeSync'])
  }
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.end()
})

t.test('a file that is missing has no text, and any other trouble with it is an error', t => {
  const folder = t.testdir({ folder: {} })
  t.equal(readPrivateFile(join(folder, 'none')), undefined)
  t.throws(() => readPrivateFile(join(folder, 'folder')), { code: 'EISDIR' })
  t.end()
})

t.test('a lock is released after the work, also after a failed one', t => {
  const folder = t.testdir()
  const lock = join(folder, 'lock')
  const result = withFileLock(lock, () => {
    t.equal(readFileSync(lock, 'utf8'), String(process.pid))
    t.equal(statSync(lock).mode & 0o777, 0o600)
    return 'done'
  })
  t.equal(result, 'done')
  t.strictSame(readdirSync(folder), [])
  t.throws(() => withFileLock(lock, () => JSON.parse('{')), SyntaxError)
  t.strictSame(readdirSync(folder), [])
  t.throws(() => withFileLock(join(folder, 'none', 'lock'), () => t.fail('not without its lock')), { code: 'ENOENT' })
  t.end()
})

t.test('a lock is removed with its dead holder, or after half a minute, and otherwise respected', t => {
  const folder = t.testdir()
  const lock = join(folder, 'lock')
  const held = (holder: string, sinceMs: number) => {
    writeFileSync(lock, holder)
    const at = (Date.now() - sinceMs) / 1000
    utimesSync(lock, at, at)
  }
  for (const [holder, sinceMs] of [
    ['999999999', 0],
    [String(process.pid), 31_000],
    ['', 31_000]
  ] as const) {
    held(holder, sinceMs)
    t.equal(
      withFileLock(lock, () => 'done'),
      'done',
      holder
    )
    t.strictSame(readdirSync(folder), [])
  }
  let now = 0
  t.intercept(performance, 'now', { value: () => (now += 1000) })
  for (const holder of [String(process.pid), '', 'x', '0', '-1']) {
    held(holder, 1000)
    t.throws(
      () => withFileLock(lock, () => t.fail('it is held')),
      { message: `Another Afield process has held ${lock} for too long.` },
      holder
    )
    t.equal(readFileSync(lock, 'utf8'), holder)
  }
  t.end()
})

/** The names of these functions of the system as they are called. */
function watchCalls(t: Test): string[] {
  const calls: string[] = []
  const names = ['openSync', 'fsyncSync', 'closeSync', 'renameSync'] as const
  const before = Object.fromEntries(names.map(name => [name, fs[name]]))
  for (const name of names) {
    const call = fs[name] as (...given: unknown[]) => unknown
    Object.assign(fs, {
      [name](...given: unknown[]) {
        calls.push(name)
        return call(...given)
      }
    })
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    Object.assign(fs, before)
    syncBuiltinESMExports()
  })
  return calls
}

/** The next writes fail so, one after the other. */
function failWith(...codes: string[]): void {
  const { writeFileSync } = fs
  fs.writeFileSync = () => {
    const code = codes.shift()
    if (codes.length === 0) fs.writeFileSync = writeFileSync
    syncBuiltinESMExports()
    throw Object.assign(new Error(`${code}: write`), { code })
  }
  syncBuiltinESMExports()
}
