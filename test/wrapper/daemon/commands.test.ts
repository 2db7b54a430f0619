import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  endDaemon,
  installDaemon,
  showDaemon,
  showLog,
  startInBackground,
  startsByItself,
  stopDaemon,
  uninstallDaemon
} from '../../../lib/wrapper/daemon/commands.ts'
import { claimDaemon } from '../../../lib/wrapper/daemon/single-daemon.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { ownName } from '../../../lib/wrapper/home/processes.ts'
import { createSessionFolder } from '../../../lib/wrapper/home/session-folder.ts'
import { runWrapper } from '../kit/wrapper.ts'

const noShell = process.platform === 'win32' && 'the tools are scripts of a shell'

t.test('a second start says which daemon runs, and only changes whether the computer is kept awake', async t => {
  const { options, home, said, claim } = computer(t)
  claim()
  t.equal(await startInBackground(options), 0)
  t.strictSame(said(), ['The daemon is already running, as process 7.\n'])
  const wish = join(home, 'daemon', 'keep-awake.json')
  t.notOk(existsSync(wish))
  for (const on of [true, false]) {
    t.equal(await startInBackground({ ...options, keepAwake: on }), 0)
    t.strictSame(JSON.parse(readFileSync(wish, 'utf8')), { on })
  }
})

t.test('where no daemon runs there is none to stop, and its state is the exit code of a service', async t => {
  const { options, said } = computer(t)
  t.equal(await stopDaemon(options), 0)
  t.strictSame(said(), ['The daemon is not running.\n'])
  t.equal(await showDaemon(options), 3)
  t.strictSame(said(), [`The daemon is not running. Start it with:\n  ${typed('daemon start')}\n`])
})

t.test('a daemon that does not answer is shown by its notes, with the sessions that run', async t => {
  const { options, home, said, claim } = computer(t)
  const daemon = claim()
  const rows = (link: string, sessions: string) =>
    `  Daemon    process 7, version 1.2.3, started just now
  Server    https://home.example
  Link      ${link}
  Sessions  ${sessions}
  Log       ${join(home, 'logs', 'daemon.log')}
`
  t.equal(await showDaemon(options), 0)
  t.strictSame(said(), [rows('live', 'none running')])
  daemon.note({ link: 'away' })
  const notes = { tag: 'one', server: 'x', key: null, metadata: { path: home, host: 'here' }, cursor: 0, turn: null }
  createSessionFolder(home, { ...notes, program: { kind: 'demo' } })
  mkdirSync(join(home, 'sessions', 'ended@999999999-1'))
  writeFileSync(
    join(home, 'sessions', 'ended@999999999-1', 'session.json'),
    readFileSync(join(home, 'sessions', `one@${ownName()}`, 'session.json'))
  )
  t.equal(await showDaemon(options), 0)
  t.strictSame(said(), [rows('away', '1 running')])
})

t.test('the last lines of the log are shown, and without one that is said', async t => {
  const { options, home, said } = computer(t)
  t.equal(await showLog({ ...options, lines: 2 }), 0)
  t.strictSame(said(), [])
  mkdirSync(join(home, 'logs'), { recursive: true })
  writeFileSync(join(home, 'logs', 'daemon.log'), 'one\ntwo\nthree\n')
  t.equal(await showLog({ ...options, lines: 2 }), 0)
  t.strictSame(said(), ['two\nthree\n'])
})

t.test('a daemon that was never installed is not uninstalled', { skip: process.platform === 'win32' && 'no services there' }, async t => {
  const { options, said } = computer(t)
  t.equal(await uninstallDaemon(options), 0)
  t.strictSame(said(), ['The daemon is not installed: it does not start automatically.\n'])
})

t.test('a daemon that does not start ends the command with its last output', async t => {
  const { options, own, link, said } = computer(t)
  await t.rejects(startInBackground(options), {
    message: `No server is known yet. Link this computer to your account with:\n  ${typed('login')}`
  })
  link()
  const timers = process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const program = join(own, 'program.mjs')
  writeFileSync(
    program,
    "console.log('not this'); console.error(process.argv.slice(2).join(' ')); console.error(process.env.AFIELD_HOME); process.exit(1)"
  )
  t.intercept(process, 'argv', { value: [process.execPath, program] })
  t.intercept(process, 'execArgv', { value: [] })
  const failed = (words: string) => ({
    message: `The daemon did not start. Its last output:\n${words}\n${options.home.path}`,
    exitCode: 78
  })
  await t.rejects(startInBackground(options), failed('daemon run'))
  await t.rejects(
    startInBackground({ ...options, server: 'https://home.example' }),
    failed(`daemon run\n${options.home.path}\ndaemon run --server https://home.example`)
  )
  await t.rejects(
    startInBackground(options),
    failed(`${options.home.path}\ndaemon run --server https://home.example\n${options.home.path}\ndaemon run`),
    'five lines of it'
  )
  t.strictSame(said(), [])
  t.equal(process.getActiveResourcesInfo().filter(name => name === 'Timeout').length, timers, 'it is not waited for any longer')
})

t.test('a daemon that does not answer is ended by a signal, and awaited', async t => {
  const { options, said, claim } = computer(t)
  const daemon = claim()
  const real = process.kill.bind(process)
  const sent: unknown[] = []
  t.intercept(process, 'kill', {
    value: (pid: number, signal: NodeJS.Signals | 0) => {
      if (signal === 0) return real(pid, signal)
      sent.push(pid, signal)
      setImmediate(daemon.leave)
      return true
    }
  })
  t.equal(await stopDaemon(options), 0)
  t.strictSame(sent, [7, 'SIGTERM'])
  t.strictSame(said(), ['The daemon has stopped. Sessions continue.\n'])
  await endDaemon(options.home.path)
  t.strictSame(sent, [7, 'SIGTERM'], 'there is none any more')
})

t.test('a log that is followed shows what is added, and all of a new one', async t => {
  const { options, home, said } = computer(t)
  const log = join(home, 'logs', 'daemon.log')
  mkdirSync(join(home, 'logs'), { recursive: true })
  writeFileSync(log, 'one\ntwo\n')
  const next = ['three', 'x']
  const write = (text: string) => {
    options.terminal.write(text)
    const line = next.shift()
    if (line === 'three') appendFileSync(log, `${line}\n`)
    else if (line) writeFileSync(log, `${line}\n`)
    else throw new Error('enough')
  }
  await t.rejects(showLog({ ...options, terminal: { ...options.terminal, write }, lines: 1, follow: true }), { message: 'enough' })
  t.strictSame(said(), ['two\n', 'three\n', 'x\n'])
})

t.test('a log that is followed may be moved aside, and the next one is shown from its beginning', async t => {
  const { options, home, said } = computer(t)
  const log = join(home, 'logs', 'daemon.log')
  mkdirSync(join(home, 'logs'), { recursive: true })
  writeFileSync(log, 'one\n')
  const steps = [
    () => renameSync(log, `${log}.1`),
    () => writeFileSync(log, 'the next\n'),
    () => {
      throw new Error('enough')
    }
  ]
  const write = (text: string) => {
    options.terminal.write(text)
    steps.shift()?.()
  }
  await t.rejects(showLog({ ...options, terminal: { ...options.terminal, write }, follow: true }), { message: 'enough' })
  t.equal(said().join(''), 'one\nthe next\n')
})

t.test('an installed daemon starts with its server, and may keep the computer awake', { skip: noShell }, async t => {
  for (const [platform, file] of [
    ['linux', join('config', 'systemd', 'user', 'afield.service')],
    ['darwin', join('Library', 'LaunchAgents', 'dev.afield.daemon.plist')]
  ] as const) {
    const { options, own, home, link, said } = computer(t)
    const unit = join(own, file)
    toolsIn(t, own)
    t.intercept(process, 'platform', { value: platform })
    const wish = join(home, 'daemon', 'keep-awake.json')
    await t.rejects(installDaemon({ ...options, keepAwake: true }), { message: /^No server is known yet/ })
    t.notOk(existsSync(wish))
    t.notOk(startsByItself(options.env, 'https://home.example'))
    link()
    t.equal(await installDaemon(options), 0)
    const installed = `The daemon is running now and starts whenever you sign in, as set in ${unit}. Undo this with:\n  ${typed('daemon uninstall')}\n`
    t.strictSame(said(), [installed])
    t.notOk(existsSync(wish))
    t.equal(await installDaemon({ ...options, keepAwake: true }), 0)
    t.strictSame(said(), [installed])
    t.strictSame(JSON.parse(readFileSync(wish, 'utf8')), { on: true })
    t.match(readFileSync(unit, 'utf8'), /daemon\W.*run\W.*--server\W.*https:\/\/home\.example\W/s)
    t.match(readFileSync(unit, 'utf8'), /AFIELD_SERVICE/)
    t.ok(startsByItself(options.env, 'https://home.example'))
    t.notOk(startsByItself(options.env, 'https://other.example'))
    t.equal(await uninstallDaemon(options), 0)
    t.strictSame(said(), ['The daemon no longer starts automatically.\n'])
    t.notOk(existsSync(unit))
  }
})

t.test('where no service can be installed, the daemon is started in another way', async t => {
  const { options, link, said, claim } = computer(t)
  link()
  claim()
  t.intercept(process, 'platform', { value: 'freebsd' })
  const message = `Afield cannot start automatically on this system. Start the daemon yourself with:\n  ${typed('daemon start')}`
  await t.rejects(installDaemon(options), { message, exitCode: 78 })
  await t.rejects(uninstallDaemon(options), { message })
  t.notOk(startsByItself(options.env, 'https://home.example'))
  t.strictSame(said(), [])
})

t.test('the daemon in the foreground may keep the computer awake, and ends without an error when told to', { skip: noShell }, async t => {
  const { home, link } = computer(t)
  link('http://127.0.0.1:9')
  const daemon = runWrapper(t, { home, args: ['daemon', 'run', '--keep-awake'] })
  await daemon.says(/ started, process \d+, http:\/\/127\.0\.0\.1:9\n/)
  t.strictSame(JSON.parse(readFileSync(join(home, 'daemon', 'keep-awake.json'), 'utf8')), { on: true })
  await daemon.kill('SIGTERM')
  t.equal(await daemon.ended, 0)
})

/** With service managers that accept everything. */
function toolsIn(t: Test, own: string): void {
  mkdirSync(join(own, 'bin'))
  for (const name of ['systemctl', 'launchctl']) writeFileSync(join(own, 'bin', name), '#!/bin/sh\n', { mode: 0o755 })
  const { HOME, PATH } = process.env
  Object.assign(process.env, { HOME: own, PATH: join(own, 'bin') })
  t.teardown(() => Object.assign(process.env, { HOME, PATH }))
}

/** One that is not linked to an account, and what its terminal shows. */
function computer(t: Test) {
  const own = t.testdir({})
  const home = openHome({ AFIELD_HOME: join(own, 'home') })
  let texts: string[] = []
  const terminal = {
    isTTY: false,
    columns: Number.POSITIVE_INFINITY,
    rows: 24,
    write: (text: string) => void texts.push(text),
    onResize: () => () => {},
    ask: async () => undefined
  }
  return {
    own,
    home: home.path,
    link(server = 'https://home.example') {
      home.saveCredentials({ server, token: 'a', keys: { version: 1, secret: new Uint8Array(32) } })
      home.rememberServer(server)
    },
    options: { home, server: undefined, env: { XDG_CONFIG_HOME: join(own, 'config'), HOME: own }, terminal, lines: 10, follow: false },
    said() {
      const said = texts
      texts = []
      return said
    },
    claim: () => claimDaemon(home.path, { pid: 7, server: 'https://home.example', version: '1.2.3', startedAt: Date.now(), link: 'live' })
  }
}
