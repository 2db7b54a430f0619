import t from 'tap'
import { claudeOptions, readAgentOptions } from '../../bin/wrapper-line.ts'
import { openHome } from '../../lib/wrapper/home/credentials.ts'
import { writeStart } from '../../lib/wrapper/home/session-notes.ts'
import { asking } from '../wrapper/kit/asking.ts'

const line = (options: object) => ({ _: [], $0: '', ...options })

t.test('the adapter is downloaded only after a yes, and Enter is one', async t => {
  const home = openHome({ AFIELD_HOME: t.testdir() })
  const answers: [answer: string | undefined, may: boolean][] = [
    ['', true],
    ['y', true],
    [' Yes ', true],
    ['n', false],
    [' N', false],
    ['no', false],
    [undefined, false]
  ]
  for (const [answer, may] of answers) {
    const { terminal, shown } = asking([answer])
    const { mayFetch, tell } = claudeOptions(line({}), { home, env: {}, terminal })
    t.equal(await mayFetch('Install it?'), may, String(answer))
    tell('Installing')
    t.equal(shown(), 'Install it? [Y/n] Installing\n')
  }
  const { terminal, shown } = asking([])
  t.equal(await claudeOptions(line({ yes: true }), { home, env: {}, terminal }).mayFetch('Install it?'), true)
  t.equal(shown(), '', 'nobody is asked')
})

t.test('a session of the daemon starts as noted for it, once, unless its line says otherwise', async t => {
  const home = t.testdir()
  t.intercept(process, 'env', { value: { AFIELD_HOME: home } })
  const notes = { mode: 'plan', model: 'big', resume: 'earlier', prompt: 'Prune the hedge' }
  writeStart(home, 'one', notes)
  const started = { directory: process.cwd(), server: 'http://x', tag: 'one', console: undefined }
  t.match(readAgentOptions(line({ tag: 'one', server: 'http://x' })), { ...notes, ...started })
  const again = readAgentOptions(line({ tag: 'one' }))
  t.match(again, { mode: undefined, resume: undefined, server: undefined })
  t.notOk(again.prompt)
  writeStart(home, 'one', notes)
  t.match(readAgentOptions(line({ tag: 'one', mode: 'default', resume: 'other' })), { ...notes, mode: 'default', resume: 'other' })
})
