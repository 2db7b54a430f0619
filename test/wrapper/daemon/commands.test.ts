import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { showDaemon, showLog, startInBackground, stopDaemon, uninstallDaemon } from '../../../lib/wrapper/daemon/commands.ts'
import { claimDaemon } from '../../../lib/wrapper/daemon/single-daemon.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { ownName } from '../../../lib/wrapper/home/processes.ts'
import { createSessionFolder } from '../../../lib/wrapper/home/session-folder.ts'

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
    home: home.path,
    options: { home, server: undefined, env: { XDG_CONFIG_HOME: own, HOME: own }, terminal, lines: 10, follow: false },
    said() {
      const said = texts
      texts = []
      return said
    },
    claim: () => claimDaemon(home.path, { pid: 7, server: 'https://home.example', version: '1.2.3', startedAt: Date.now(), link: 'live' })
  }
}
