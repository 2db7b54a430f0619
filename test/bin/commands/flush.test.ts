import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { here } from '../kit/here.ts'

t.test('where nothing waits that is said, and damaged messages are named instead', async t => {
  const home = t.testdir()
  const flush = (seconds: unknown) => here(t, 'flush', { seconds }, { AFIELD_HOME: home })
  const nothing = 'Nothing to deliver: all messages of earlier sessions were sent.\n'
  t.strictSame(await flush(1), { code: 0, stdout: nothing, stderr: '' })
  for (const seconds of [0, 1.5, -1, Number.NaN])
    t.strictSame(await flush(seconds), { code: 78, stdout: '', stderr: '--seconds must be a whole number above 0.\n' })
  const folder = join(home, 'sessions', 'torn@999999999-1')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'session.json'), '{')
  writeFileSync(join(folder, 'outbox.journal'), '')
  const damaged = `The messages in ${folder} cannot be delivered: the file is damaged.\n`
  t.strictSame(await flush(1), { code: 1, stdout: '', stderr: damaged })
})
