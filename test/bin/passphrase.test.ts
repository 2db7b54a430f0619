import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readPassphrase } from '../../bin/passphrase.ts'
import { exitCodes } from '../../lib/exit.ts'
import { startServer } from '../kit/server.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'
import { afield } from './kit/afield.ts'

t.test('an empty passphrase file is rejected, and no unencrypted backup is made', async t => {
  const { data } = await startServer(t)
  const target = join(data, 'target')
  mkdirSync(target)
  for (const text of ['', '\n', '\r\nsecond line']) {
    const file = join(data, 'passphrase')
    writeFileSync(file, text)
    const { status, stderr } = await afield(['backup', target, '--data', data, '--passphrase-file', file])
    t.equal(status, exitCodes.configuration)
    t.equal(stderr, `The passphrase file ${file} has an empty first line.\n`)
  }
  t.same(readdirSync(target), [])
})

t.test('a passphrase is the first line of its file, and a file that cannot be read is named', async t => {
  const folder = t.testdir({ one: 'a b \r\nsecond', two: 'only' })
  const read = (name: string) => readPassphrase({ _: [], $0: '', passphraseFile: join(folder, name) }, 'unasked')
  t.equal(await read('one'), 'a b ')
  t.equal(await read('two'), 'only')
  await t.rejects(read('none'), {
    message: `The passphrase file ${join(folder, 'none')} cannot be read.`,
    exitCode: exitCodes.configuration,
    cause: { code: 'ENOENT' }
  })
})

t.test('on a terminal the passphrase is typed twice, unseen; different ones, and Ctrl-C, leave no backup', async t => {
  const { data } = await startServer(t)
  const target = openFolder(t)
  const backup = () => runOnTerminal(t, { home: openFolder(t), directory: target, args: ['backup', target, '--data', data] })

  const interrupted = backup()
  await interrupted.sees(/Passphrase for the backup \(empty for none\): $/m)
  interrupted.type('\x03')
  t.equal(await interrupted.ended, 130)

  const differing = backup()
  await differing.sees(/Passphrase for the backup/)
  differing.type('a secret\r')
  await differing.sees(/Repeat passphrase: /)
  differing.type('a secert\r')
  t.equal(await differing.ended, exitCodes.configuration)
  t.equal(
    differing.screen.replaceAll(/ +$/gm, '').trim(),
    'Passphrase for the backup (empty for none):\nRepeat passphrase:\nThe passphrases do not match; no backup was made.'
  )
  t.same(readdirSync(target), [])

  const matching = backup()
  await matching.sees(/Passphrase for the backup/)
  matching.type('a secret\r')
  await matching.sees(/Repeat passphrase: /)
  matching.type('a secret\r')
  t.equal(await matching.ended, 0)
  t.notMatch(matching.screen, 'a secret')
  const [file = ''] = readdirSync(target)
  t.match(readFileSync(join(target, file), 'latin1'), /^age-encryption\.org\/v1\n/)
})

/** A second `t.testdir()` would remove the server's data. */
function openFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'afield-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
