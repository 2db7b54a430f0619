import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { exitCodes } from '../../lib/exit.ts'
import { startServer } from '../kit/server.ts'
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
