import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newLog, opened, startLines, startSessionProcess } from '../../../../lib/wrapper/daemon/launch/launch.ts'
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
