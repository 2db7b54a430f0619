import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pause } from '../../../../lib/async/pause.ts'
import { newLog, opened, startLines, startSessionProcess } from '../../../../lib/wrapper/daemon/launch/launch.ts'
import { listLeases } from '../../../../lib/wrapper/home/ownership.ts'
import { createSessionFolder } from '../../../../lib/wrapper/home/session-folder.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

t.test('a session counts as running only when its process says so, whatever an earlier one recorded', async t => {
  const home = t.testdir()
  const clock = manualClock()
  const metadata = { path: '/p', host: 'h', hostPid: 1 }
  const notes = { tag: 'one', id: 's1', server: 's', key: null, metadata, cursor: 0, turn: null, isStarting: false }
  const folder = createSessionFolder(home, notes)
  let isOpen = false
  const opening = opened(home, process.pid, new AbortController().signal, { clock }).then(id => {
    isOpen = true
    return id
  })
  await new Promise(resolve => setImmediate(resolve))
  t.equal(isOpen, false)
  folder.note({ metadata: { ...metadata, hostPid: process.pid } })
  t.equal(await opening, 's1')
  t.equal(clock.now(), 0, 'at once')
  t.equal(clock.pending, 0)
})

t.test('the logs of sessions that wrote nothing for a month are removed when another starts', async t => {
  const home = t.testdir({})
  for (const [tag, days] of [
    ['old', 31],
    ['recent', 29]
  ] as const) {
    const log = newLog(home, tag)
    const written = Date.now() / 1000 - days * 24 * 60 * 60
    writeFileSync(log, '')
    utimesSync(log, written, written)
  }
  t.equal(newLog(home, 'new'), join(home, 'logs', 'new.log'))
  t.same(readdirSync(join(home, 'logs')), ['recent.log'])
})

t.test('a session that does not start is reported with its last output, and not waited for any longer', async t => {
  const own = t.testdir({ home: {} })
  const home = join(own, 'home')
  const program = join(own, 'program.mjs')
  t.intercept(process, 'argv', { value: [process.execPath, program] })
  t.intercept(process, 'execArgv', { value: [] })
  const started = (lines: readonly string[], directory = own) => {
    writeFileSync(program, `${lines.map(line => `console.log(${JSON.stringify(line)})`).join('\n')}\nprocess.exit(1)`)
    return startSessionProcess({ start: 'one', home, server: 'x', directory, command: ['demo'], notes: {}, title: 'Demo', env: {} })
  }
  const watching = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = watching()
  const cases: [lines: string[], message: string][] = [
    [[], 'The session ended before it started, without output.'],
    [['one', '', 'Connecting …', '    at run (a.ts:1:2)', 'two'], 'one\ntwo'],
    [['1', '2', '3', '4', '5', '6'], '2\n3\n4\n5\n6']
  ]
  for (const [lines, message] of cases) await t.rejects(started(lines), { message })
  await t.rejects(started([], join(own, 'none')), { message: /^The session could not be started: spawn .* ENOENT$/ })
  t.equal(watching(), before)
  t.strictSame(readdirSync(join(home, 'starting')), [])
  t.strictSame(startLines('one', 10), [])
})

t.test('while a session starts its output and its process are known, and what it was started with', async t => {
  const own = t.testdir({ home: {} })
  const home = join(own, 'home')
  const program = join(own, 'program.mjs')
  t.intercept(process, 'argv', { value: [process.execPath, program] })
  t.intercept(process, 'execArgv', { value: [] })
  const lines = [
    "import { existsSync, readFileSync, writeFileSync } from 'node:fs'",
    "console.log('one\\n\\n\\x1b[1mtwo\\x1b[0m\\nthree')",
    'const { AFIELD_HOME, AFIELD_SERVER, MALLOC_ARENA_MAX, OTHER } = process.env',
    'const env = { AFIELD_HOME, AFIELD_SERVER, MALLOC_ARENA_MAX, OTHER }',
    "const group = existsSync('/proc/self/stat') ? Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[2]) : process.pid",
    "writeFileSync('said', JSON.stringify({ args: process.argv.slice(2), env, isOwnGroup: group === process.pid }))",
    "setInterval(() => existsSync('go') && process.exit(1), 5)",
    // It outlives a test that fails.
    'setTimeout(() => process.exit(2), 20_000)'
  ]
  writeFileSync(program, lines.join('\n'))
  const about = { home, server: 'https://home.example', directory: own, notes: {}, title: 'Demo', env: { OTHER: 'kept' } }
  const starting = startSessionProcess({ ...about, start: 'one', command: ['demo', 'fast'] })
  starting.catch(() => {})
  while (startLines('one', 2)[1] !== 'three' || !existsSync(join(own, 'said'))) await pause(5)
  t.strictSame(startLines('one', 2), ['two', 'three'])
  t.strictSame(startLines('one', 9), ['one', 'two', 'three'])
  t.strictSame(startLines('two', 9), [])
  t.match(listLeases(home), [{ of: 'session', title: 'Demo', folder: own }])
  writeFileSync(join(own, 'go'), '')
  await t.rejects(starting, { message: 'one\ntwo\nthree' })
  t.strictSame(listLeases(home), [])
  const { args, ...said } = JSON.parse(readFileSync(join(own, 'said'), 'utf8'))
  const [, , tag] = args
  t.match(tag, /^[0-9a-f-]{36}$/)
  t.strictSame(args, ['demo', '--tag', tag, 'fast'])
  t.strictSame(said, {
    env: { AFIELD_HOME: home, AFIELD_SERVER: 'https://home.example', MALLOC_ARENA_MAX: '1', OTHER: 'kept' },
    isOwnGroup: true
  })

  const unnamed = startSessionProcess({ ...about, tag: 'mine', command: ['demo'] })
  await t.rejects(unnamed, { message: 'one\ntwo\nthree' })
  t.ok(existsSync(join(home, 'logs', 'mine.log')))
})
