import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { examineDirectory, examineSpace } from '../../lib/doctor/disk.ts'

const unix = { skip: process.platform === 'win32' ? 'modes are of Unix' : false }
const asRoot = { skip: process.getuid?.() === 0 ? false : 'only root can give files away' }

t.test('the directory and its files are for their owner alone', unix, async t => {
  const data = directory(t)
  writeFileSync(join(data, 'afield.db'), '', { mode: 0o600 })
  mkdirSync(join(data, 'inside'), { mode: 0o755 })
  t.strictSame(examineDirectory(data), { of: 'data directory', state: 'ok', says: `${data}, private` })
  for (const mode of [0o640, 0o604]) {
    chmodSync(join(data, 'afield.db'), mode)
    t.match(examineDirectory(data), { state: 'warn', says: 'afield.db can be read by other users', advice: `chmod go= ${data}/*` })
  }
  writeFileSync(join(data, 'keys'), '', { mode: 0o644 })
  t.match(examineDirectory(data), { says: 'afield.db, keys can be read by other users' })
  for (const mode of [0o710, 0o701]) {
    chmodSync(data, mode)
    t.match(examineDirectory(data), { state: 'warn', says: `${data} is accessible to other users`, advice: `chmod 700 ${data}` })
  }
})

t.test('a directory that is not there is told from one that cannot be read', async t => {
  const data = directory(t)
  t.strictSame(examineDirectory(join(data, 'none')), {
    of: 'data directory',
    state: 'fail',
    says: `${join(data, 'none')} does not exist`,
    advice: 'Start the server once, or give its directory with --data'
  })
  const file = join(data, 'file')
  writeFileSync(file, '', { mode: 0o600 })
  t.match(examineDirectory(file), { state: 'fail', says: `${file} cannot be read (ENOTDIR)`, advice: 'Run this as the user of the server' })
})

t.test('the directory of another user is reported with the way to take it over, and root may look at any', asRoot, async t => {
  const data = directory(t)
  chownSync(data, 54_321, 54_321)
  t.match(examineDirectory(data), { state: 'ok' })
  chmodSync(data, 0o711)
  t.intercept(process, 'getuid', { value: () => 54_322 })
  t.match(examineDirectory(data), {
    state: 'fail',
    says: `${data} belongs to another user (uid 54321)`,
    advice: `Run this and the server as that user, or: chown -R 54322 ${data}`
  })
})

t.test('space is needed for new data and for a copy of the existing', async t => {
  const data = directory(t)
  writeFileSync(join(data, 'one'), Buffer.alloc(1_500_000))
  writeFileSync(join(data, 'two'), Buffer.alloc(2_500_000))
  t.strictSame(examineSpace(data, 260e6), { of: 'disk', state: 'ok', says: '260 MB free, the server uses 4 MB' })
  t.match(examineSpace(data, 260e6 - 1), { state: 'warn', advice: /^Free some space for the copy that a backup makes/ })
  t.match(examineSpace(data, 64e6), { state: 'warn' })
  t.match(examineSpace(data, 64e6 - 1), { state: 'fail', advice: /^Free some space now, because writes are rejected/ })
  t.match(examineSpace(data, 1e9), { says: /^1\.0 GB free/ })
  t.match(examineSpace(data, 1e9 - 1), { says: /^1000 MB free/ })
  t.match(examineSpace(data), { of: 'disk', says: /^[\d.]+ [MG]B free, the server uses 4 MB$/ })
})

function directory(t: Test): string {
  const data = join(t.testdir(), 'data')
  mkdirSync(data, { mode: 0o700 })
  return data
}
