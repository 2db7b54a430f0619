import t from 'tap'
import { claudeOptions, readAgentOptions, readServerOption, wholeNumber, wordsOf } from '../../bin/wrapper-line.ts'
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
    const env = {}
    const { mayFetch, tell, ...rest } = claudeOptions(line({}), { home, env, terminal })
    t.strictSame(rest, { home: home.path, env })
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

t.test('a session has its console, unless the daemon starts it or the person starts on the phone', t => {
  const home = t.testdir()
  t.intercept(process, 'env', { value: { AFIELD_HOME: home } })
  for (const stream of [process.stdin, process.stdout]) t.intercept(stream, 'isTTY', { value: true })
  const consoleOf = (options: object) => readAgentOptions(line(options)).console
  t.ok(consoleOf({}))
  t.ok(consoleOf({ remote: false }))
  t.equal(consoleOf({ remote: true }), undefined)
  t.equal(consoleOf({ tag: 'one' }), undefined)
  const { home: own, server, env, terminal } = readServerOption(line({ server: 7 }))
  t.strictSame([own.path, server, env], [home, undefined, process.env])
  t.ok(terminal)
  t.end()
})

t.test('a whole number above 0 is needed', t => {
  for (const value of [1, '12']) t.equal(wholeNumber(line({ seconds: value }), 'seconds'), Number(value))
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, undefined, 'x'])
    t.throws(() => wholeNumber(line({ seconds: value }), 'seconds'), {
      message: '--seconds must be a whole number above 0.',
      exitCode: 78
    })
  t.end()
})

t.test('the words of an argument are those typed, with what follows --', t => {
  t.strictSame(wordsOf(line({}), 'prompt'), [])
  t.strictSame(wordsOf(line({ prompt: [undefined] }), 'prompt'), [])
  t.strictSame(wordsOf(line({ prompt: 'one' }), 'prompt'), ['one'])
  t.strictSame(wordsOf(line({ prompt: ['one', 2], '--': ['--three'] }), 'prompt'), ['one', '2', '--three'])
  t.strictSame(wordsOf(line({ '--': ['a'] }), 'prompt'), ['a'])
  t.end()
})
