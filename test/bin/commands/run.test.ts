import t from 'tap'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { here } from '../kit/here.ts'

t.test('without an agent, none is run, and an example is given', async t => {
  const stderr = `Which agent? For example:\n  ${typed('run gemini --acp')}\n`
  t.strictSame(await here(t, 'run', {}, { AFIELD_HOME: t.testdir() }), { code: 78, stdout: '', stderr })
})
