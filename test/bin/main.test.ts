import type { EventEmitter } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { main } from '../../bin/main.ts'
import { version } from '../../lib/assets.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'

/** A command line in this process: what it wrote, and the exit code. */
async function run(t: Test, words: string[]) {
  const written = { stdout: '', stderr: '' }
  let code: number | undefined
  const write = (name: keyof typeof written) => (text: unknown) => {
    // An end that is thrown here is reported as an error on its way.
    if (code === undefined) written[name] += text
    return true
  }
  const { WebSocket } = globalThis
  const emitters = [process, process.stdout, process.stderr] as EventEmitter[]
  const listeners = emitters.map(emitter => ['uncaughtException', 'error'].map(event => emitter.listeners(event)))
  const intercepted = [
    t.intercept(process, 'env', { value: { PATH: '/nowhere', NO_COLOR: '1', AFIELD_HOME: join(t.testdirName, 'home') } }),
    t.intercept(process, 'exit', {
      value: (how: number) => {
        code ??= how
        throw new Error('it has ended')
      }
    }),
    t.intercept(console, 'error', { value: (text: unknown) => write('stderr')(`${text}\n`) }),
    t.intercept(console, 'log', { value: (text: unknown) => write('stdout')(`${text}\n`) }),
    ...(['stdout', 'stderr'] as const).map(name => t.intercept(process[name], 'write', { value: write(name) }))
  ]
  try {
    await main(words).catch(error => {
      if (code === undefined) throw error
    })
    return { code: code ?? process.exitCode ?? 0, ...written }
  } finally {
    for (const { restore } of intercepted) restore()
    for (const [at, emitter] of emitters.entries())
      for (const [index, event] of ['uncaughtException', 'error'].entries())
        for (const listener of emitter.listeners(event) as (() => void)[])
          if (!listeners[at]?.[index]?.includes(listener)) emitter.off(event, listener)
    Object.assign(globalThis, { WebSocket })
  }
}

t.test('version and help work as words and as options', async t => {
  t.testdir()
  for (const line of ['version', '--version', 'version more'])
    t.strictSame(await run(t, line.split(' ')), { code: 0, stdout: `${version()}\n`, stderr: '' }, line)
  for (const line of ['help', '--help', '-h', 'help --help'])
    t.match(
      await run(t, line.split(' ')),
      { code: 0, stdout: /afield <command>[\s\S]*afield serve[\s\S]*shows a page of the manual: /, stderr: '' },
      line
    )
  const { stdout } = await run(t, ['--help'])
  for (const example of ['serve', 'login', 'claude']) t.match(stdout, new RegExp(`^ {2}afield ${example} {2,}\\w`, 'm'))
  for (const line of ['help sessions', 'sessions --help', 'sessions -h'])
    t.match(await run(t, line.split(' ')), { code: 0, stdout: /^afield sessions /, stderr: '' }, line)
  t.match(await run(t, ['help', 'https']), { code: 0, stdout: /^HTTPS\n/, stderr: '' }, 'a page of the manual')
})

t.test('what cannot be run is refused in one sentence', async t => {
  t.testdir()
  const see = (command: string) => `See ${typed(`${command}--help`)}.\n`
  const cases: [words: string[], says: string][] = [
    [['bogus'], `There is no command bogus. ${see('')}`],
    [['--bogus'], `There is no option --bogus. ${see('')}`],
    [['--verison'], `There is no option --verison. Did you mean --version? ${see('')}`],
    [['sessions', '--bogus'], `There is no option --bogus. ${see('sessions ')}`],
    [['restore'], `An argument is missing: ${typed('restore <file>')}. ${see('restore ')}`],
    [['flush', '--seconds'], `--seconds needs a value. ${see('flush ')}`],
    [['push', 'bogus'], `action must be one of status, test, add, remove, not bogus. ${see('push ')}`],
    [['flush', '--seconds', 'soon'], '--seconds must be a whole number above 0.\n']
  ]
  for (const [words, stderr] of cases) t.strictSame(await run(t, words), { code: 78, stdout: '', stderr }, words.join(' '))
})

t.test('without a command the commands are shown, and that is no success', async t => {
  t.testdir()
  const { code, stdout, stderr } = await run(t, [])
  t.equal(code, 78)
  t.match(stdout + stderr, /afield <command>/)
})

t.test('the last value of a repeated option counts, and lists stay lists', async t => {
  const data = t.testdir()
  const show = (...words: string[]) => run(t, ['config', 'show', '--data', data, ...words])
  t.match((await show('--port', '1', '--port', '2')).stdout, /port +2 /)
  t.match(await run(t, ['resume', 'one', 'two']), { code: 78, stderr: /No ended session matches these words/ })
})

t.test('a line that Afield itself starts reaches its command', async t => {
  t.testdir()
  t.match(await run(t, ['resume', '--tag', 'none']), { code: 78, stderr: /^No (ended )?session/ })
})
