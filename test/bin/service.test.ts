import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { plistOf } from '../../lib/service/launchd.ts'
import { taskOf } from '../../lib/service/scheduled-task.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'afield.ts')
// Root installs for the whole system: only what changes nothing is tried as root.
const isRoot = process.getuid?.() === 0
const person = isRoot ? { uid: 65_534, gid: 65_534 } : {}
const canRun = () => spawnSync(process.execPath, [program, '--version'], { ...person, env: { HOME: '/nowhere' } }).status === 0
const skip = process.platform !== 'linux' ? 'systemd is of Linux' : !canRun() && 'another user cannot run the program from here'

function personAtHome(t: Test) {
  const home = t.testdir({ bin: {} })
  const bin = join(home, 'bin')
  chmodSync(home, 0o777)
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$@" >> "${home}/asked"\n`, { mode: 0o755 })
  const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'data') }
  return {
    home,
    run(...args: string[]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'service', ...args], { ...person, env, encoding: 'utf8' })
      return { status, stdout, stderr }
    }
  }
}

t.test('a person installs the server as a service, sees it and removes it; options and data stay', { skip }, async t => {
  const { home, run } = personAtHome(t)
  t.match(run(), { status: 3, stdout: /^The server is not installed as a service\. Install it with:/ })
  t.match(run('uninstall'), { status: 0, stdout: 'The server is not installed as a service.\n' })
  const installed = run('install')
  t.match(installed, { status: 0, stderr: '' })
  t.match(installed.stdout, /loginctl enable-linger/)
  t.match(installed.stdout, `It stores everything in ${home}/data/afield`)
  const config = join(home, 'config', 'afield', 'afield.toml')
  t.match(readFileSync(config, 'utf8'), `data = "${home}/data/afield"`)
  t.equal(statSync(config).mode & 0o777, 0o600)
  const unit = join(home, 'config', 'systemd', 'user', 'afield-server.service')
  t.match(readFileSync(unit, 'utf8'), `"serve" "--config" "${config}"\n`)
  t.match(run('status'), { status: 0, stdout: /^The server is running\.\n/ })

  writeFileSync(config, 'data = "/srv/mine"\n')
  t.match(run('install').stdout, 'It stores everything in /srv/mine.')
  t.equal(readFileSync(config, 'utf8'), 'data = "/srv/mine"\n', 'options are never overwritten')
  t.match(run('uninstall'), { status: 0, stdout: `Its data stay in /srv/mine, and its options in ${config}.` })
  t.notOk(existsSync(unit))
  t.ok(existsSync(config))
  const asked = readFileSync(join(home, 'asked'), 'utf8').trim().split('\n')
  t.strictSame(
    [...new Set(asked)],
    [
      '--user show-environment',
      '--user daemon-reload',
      '--user enable afield-server.service',
      '--user restart afield-server.service',
      '--user --quiet is-active afield-server.service',
      '--user disable --now afield-server.service'
    ]
  )
})

t.test('where there is no systemd, the server is started in another way, without options that do not exist', { skip }, async t => {
  const { home, run } = personAtHome(t)
  writeFileSync(join(home, 'bin', 'systemctl'), '#!/bin/sh\nexit 1\n')
  t.match(run('install'), { status: 78, stderr: /in another way, with:\n .* serve\n$/ })
  t.match(run('status'), { status: 3, stdout: /not installed as a service\. systemd is not responding[\s\S]* serve\n$/ })
  mkdirSync(join(home, 'config', 'afield'), { recursive: true })
  writeFileSync(join(home, 'config', 'afield', 'afield.toml'), '')
  t.match(run('install'), { status: 78, stderr: /serve --config \S+afield\.toml\n$/ })
})

t.test('options that are not valid are named before anything is installed', { skip }, async t => {
  const { home, run } = personAtHome(t)
  mkdirSync(join(home, 'config', 'afield'), { recursive: true })
  writeFileSync(join(home, 'config', 'afield', 'afield.toml'), 'prot = 1\n')
  t.match(run('install'), { status: 78, stderr: /names prot, which is no option\. Did you mean port\?/ })
  t.notOk(existsSync(join(home, 'config', 'systemd')))
})

t.test('--dry-run prints the service and writes nothing', { skip }, async t => {
  const { home, run } = personAtHome(t)
  t.match(run('install', '--dry-run', '--config', 'mine.toml'), { status: 0, stdout: `"--config" "${process.cwd()}/mine.toml"` })
  t.notOk(existsSync(join(home, 'config')))
  t.notOk(existsSync(join(home, 'asked')))
})

t.test('the services of macOS and Windows name the program, whatever characters are in its path', async t => {
  const command = ['/Applications/a & b/afield', 'serve', '--config', 'C:\\a <b>.toml']
  t.match(plistOf({ label: 'dev.afield.server', command, log: '/tmp/log' }), '<string>/Applications/a &amp; b/afield</string>')
  t.match(taskOf(command), '<Command>/Applications/a &amp; b/afield</Command>')
  t.match(taskOf(command), '<Arguments>serve --config "C:\\a &lt;b&gt;.toml"</Arguments>')
})
