import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pause } from '../../../lib/async/pause.ts'
import { askDaemon } from '../../../lib/wrapper/daemon/control.ts'
import { findDaemon } from '../../../lib/wrapper/daemon/single-daemon.ts'
import { appendToLog, upkeepMethods } from '../../../lib/wrapper/daemon/upkeep.ts'
import { startServer } from '../../kit/server.ts'
import { daemonOf } from '../kit/daemon.ts'
import { turnsEnded } from '../kit/demo.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('the daemon is replaced by a new process, shows its log, and says how to update it', async t => {
  const { phone, home } = await linkedComputer(t, await startServer(t))
  const start = runWrapper(t, { home, args: ['daemon', 'start'] })
  t.equal(await start.ended, 0, start.output)
  const machine = await phone.machine()
  await machine.until(async () => (await machine.state())?.status === 'running')
  const before = findDaemon(home)?.pid
  appendFileSync(join(home, 'logs', 'daemon.log'), `token: ${'a1B2'.repeat(12)}\n`)
  const { lines } = Object(await machine.call('log', { lines: 100 }))
  t.match(lines[0], /started, process/)
  t.notMatch(lines.join('\n'), /a1B2a1B2/)
  t.match(await machine.call('update', {}), {
    installed: 'source',
    isReady: false,
    message: /sources/,
    command: `cd ${process.cwd()} && git pull && npm ci`
  })

  t.match(await machine.call('restart', {}), { message: /restarts/ })
  await machine.until(async () => {
    const { status, pid } = (await machine.state()) ?? {}
    return status === 'running' && pid !== before
  })
  t.not(findDaemon(home)?.pid, before)
  t.match(readFileSync(join(home, 'logs', 'daemon.log'), 'utf8'), /restarts/)
})

t.test('a daemon run by a service in the foreground shows its log too', async t => {
  const { home, machine } = await daemonOf(t, await startServer(t))
  const { lines } = Object(await machine.call('log', {}))
  t.match(lines[0], /started, process/)
  t.equal(statSync(join(home, 'logs', 'daemon.log')).mode & 0o777, 0o600)
})

t.test('an unwritable log stops nothing', async t => {
  const home = t.testdir({ logs: { 'daemon.log': {} } })
  t.doesNotThrow(() => appendToLog(home, 'a line'))
})

t.test('of the log the last lines are shown, without what is probably a secret', t => {
  const home = t.testdir({ logs: {} })
  const { log } = upkeepMethods({ home, restart() {} })
  const lines = (count?: number) => log(count === undefined ? {} : { lines: count }).lines
  t.strictSame(lines(), [], 'there is none yet')
  for (let count = 1; count <= 201; count++) appendToLog(home, `line ${count}`)
  t.strictSame(lines(2), ['line 200', 'line 201'])
  t.strictSame([lines().length, lines()[0]], [200, 'line 2'])
  for (const [line, shown] of [
    ['\x1b[31mred', 'red'],
    [`got ${'a1_-'.repeat(10)} back`, 'got … back'],
    [`got ${'a'.repeat(39)} back`, `got ${'a'.repeat(39)} back`],
    ['Bearer: abcdefgh, then', 'Bearer: … then'],
    ['token=1234567', 'token=1234567'],
    ['the key is here', 'the key is here'],
    ['secret = 12345678', 'secret = …']
  ] as const) {
    appendToLog(home, line)
    t.strictSame(lines(1), [shown])
  }
  t.end()
})

t.test('a log that became too long is kept once, and a new one begins', t => {
  const home = t.testdir({ logs: {} })
  const file = join(home, 'logs', 'daemon.log')
  const most = 4 * 1024 * 1024
  writeFileSync(file, 'x'.repeat(most))
  appendToLog(home, 'last')
  t.equal(statSync(file).size, most + 5)
  appendToLog(home, 'first')
  t.equal(readFileSync(file, 'utf8'), 'first\n')
  t.equal(statSync(`${file}.1`).size, most + 5)
  t.end()
})

t.test('a restart waits until it was answered', async t => {
  let restarts = 0
  const { restart } = upkeepMethods({ home: t.testdir(), restart: () => void restarts++ })
  const { promise, resolve } = Promise.withResolvers<void>()
  t.match(restart({}, undefined, promise), { message: /restarts/ })
  await new Promise(setImmediate)
  t.equal(restarts, 0)
  resolve()
  await promise
  t.equal(restarts, 1)
})

t.test('the computer is kept awake while a session works, if its owner wants that', async t => {
  const bin = t.testdir({ data: {} })
  const here = join(bin, 'awake')
  const inhibit = join(bin, process.platform === 'darwin' ? 'caffeinate' : 'systemd-inhibit')
  writeFileSync(inhibit, `#!/bin/sh\ntouch ${here}\ntrap 'rm -f ${here}; exit' TERM\nwhile :; do sleep 0.1; done\n`)
  chmodSync(inhibit, 0o755)
  const env = { PATH: `${bin}:${process.env['PATH']}` }
  const { phone, allowed, machine } = await daemonOf(t, await startServer(t, { data: join(bin, 'data') }), env)
  const asked = async (on?: boolean) => Object(await machine.call('keep-awake', on === undefined ? {} : { on }))
  t.match(await asked(), { on: false, isAwake: false, canDo: true })
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'demo', prompt: 'SCRIPT: slow 600000 on and on' })
  const session = await phone.session()
  await session.until(({ events }) => events().some(({ t }) => t === 'turn-start'))
  t.match(await asked(), { isAwake: false }, 'off unless it is wanted')
  while (!(await asked(true)).isAwake) await pause(50)
  while (!existsSync(here)) await pause(50)
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 1)
  while ((await asked()).isAwake) await pause(50)
  while (existsSync(here)) await pause(50)
  t.match(await asked(false), { on: false, isAwake: false })
})

t.test(
  'another user of the computer can neither query the daemon nor reach its socket [W7]',
  {
    skip: process.getuid?.() === 0 ? false : 'only root can become another user'
  },
  async t => {
    const { home } = await daemonOf(t, await startServer(t))
    const socket = join(home, 'daemon', 'control.sock')
    const knock = `require('node:net').connect(${JSON.stringify(socket)}).on('connect', () => process.exit(0)).on('error', ({ code }) => { console.log(code); process.exit(3) })`
    const stranger = spawn(process.execPath, ['-e', knock], { uid: 65534, gid: 65534, stdio: ['ignore', 'pipe', 'inherit'] })
    let says = ''
    stranger.stdout.setEncoding('utf8').on('data', text => (says += text))
    const [code] = await once(stranger, 'close')
    t.equal(code, 3)
    t.match(says, /EACCES/)
    t.ok(await askDaemon(home, 'status'), 'its owner can')
  }
)

t.test("the output of a start is reported while it runs, under the caller's name for it, and not after", async t => {
  const { machine, allowed } = await daemonOf(t, await startServer(t))
  let isStarted = false
  const starting = machine.call('spawn-happy-session', { directory: allowed, agent: 'demo', start: 'mine' }).finally(() => {
    isStarted = true
  })
  let said: string[] = []
  while (!isStarted && said.length === 0) said = Object(await machine.call('start-log', { start: 'mine' })).lines
  t.ok(said.length > 0, 'while it begins')
  t.match(await machine.call('start-log', { start: 'another' }), { lines: [] })
  t.match(await starting, { type: 'success' })
  t.strictSame(Object(await machine.call('start-log', { start: 'mine' })).lines, [])
})
