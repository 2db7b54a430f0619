import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openSetupCode } from '../../../../lib/server/actions/account/setup-code.ts'
import { openStore } from '../../../../lib/store/open.ts'

async function openWorld(t: Test) {
  const folder = t.testdir()
  const store = await openStore('sqlite:afield.db', { dataDirectory: join(folder, 'data'), onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  return { store, folder }
}

t.test('the code has forty bits in letters that nobody confuses', async t => {
  const { store, folder } = await openWorld(t)
  const directory = join(folder, 'one', 'of it')
  const { code, file } = await openSetupCode({ store }, directory)
  t.match(code, /^[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}$/)
  t.equal(file, join(directory, 'setup-code'))
  t.equal(readFileSync(file, 'utf8'), `${code}\n`)
})

t.test('only the user of the server can read the code', { skip: process.platform === 'win32' && 'no modes' }, async t => {
  const { store, folder } = await openWorld(t)
  const directory = join(folder, 'one', 'of it')
  const { file } = await openSetupCode({ store }, directory)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(statSync(directory).mode & 0o777, 0o700)
})

t.test('it is the same at every instance and after a restart, until somebody has an account', async t => {
  const { store, folder } = await openWorld(t)
  const [one, other] = [join(folder, 'one'), join(folder, 'other')]
  const { code, file, discard } = await openSetupCode({ store }, one)
  t.equal((await openSetupCode({ store }, one)).code, code)
  t.equal((await openSetupCode({ store }, other)).code, code)
  writeFileSync(file, 'AAAA-AAAA')
  t.equal((await openSetupCode({ store }, one)).code, code, 'the store decides')
  t.equal(readFileSync(file, 'utf8'), `${code}\n`)
  await discard()
  t.notOk(existsSync(file))
  await discard()
  t.not((await openSetupCode({ store }, one)).code, code)
})

t.test('a code that is in the file already is used, and anything else there is not', async t => {
  const { store, folder } = await openWorld(t)
  for (const [text, isUsed] of [
    ['ABCD-2345\n', true],
    ['ABCD2345', false],
    ['abcd-2345', false],
    ['ABCD-23456', false],
    ['', false]
  ] as const) {
    writeFileSync(join(folder, 'setup-code'), text)
    const { code, file, discard } = await openSetupCode({ store }, folder)
    t.equal(code === 'ABCD-2345', isUsed, text)
    t.equal(readFileSync(file, 'utf8'), `${code}\n`)
    await discard()
  }
})
