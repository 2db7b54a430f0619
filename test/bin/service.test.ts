import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { actions, handler } from '../../bin/commands/service.ts'
import { plistOf } from '../../lib/service/launchd.ts'
import { taskOf } from '../../lib/service/scheduled-task.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'afield.ts')
// Root installs for the whole system: only what changes nothing is tried as root.
const isRoot = process.getuid?.() === 0
const person = isRoot ? { uid: 65_534, gid: 65_534 } : {}
const canRun = () => spawnSync(process.execPath, [program, '--version'], { ...person, env: { HOME: '/nowhere' } }).status === 0
const skip = process.platform !== 'linux' ? 'systemd is of Linux' : !canRun() && 'another user cannot run the program from here'
const noShell = process.platform === 'win32' && 'the tools are scripts of a shell'

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

t.test('each step of a service says what it did, where everything is, and how to undo it', { skip: noShell }, async t => {
  const { home, asked, run } = systemOf(t, 'linux')
  const config = join(home, 'config', 'afield', 'afield.toml')
  const unit = join(home, 'config', 'systemd', 'user', 'afield-server.service')
  const none = 'The server is not installed as a service.'
  const outcome = (code: number, stdout: string) => ({ code, stdout, stderr: '' })
  t.strictSame(run(), outcome(3, `${none} Install it with:\n  ${typed('service install')}\n`))
  t.strictSame(run('uninstall'), outcome(0, `${none}\n`))
  const dry = run('install', { 'dry-run': true })
  t.match(dry, { code: 0, stdout: `"serve" "--config" "${config}"\n`, stderr: '' })
  t.notOk(existsSync(join(home, 'config')))
  const installed = (news: string, data: string) => `The server is running now and starts whenever you sign in, as set in ${unit}.
Its options are in ${config}${news}; after a change: systemctl --user restart afield-server
It stores everything in ${data}. Its log: journalctl --user -u afield-server
To let it run while you are not signed in: sudo loginctl enable-linger ${userInfo().username}
Undo this with:
  ${typed('service uninstall')}
`
  t.strictSame(run('install'), outcome(0, installed(', which is new', `${home}/data/afield`)))
  t.equal(readFileSync(unit, 'utf8'), dry.stdout)
  t.match(readFileSync(config, 'utf8'), `# security-log = "${home}/data/afield/security.log"\n`)
  t.equal(statSync(config).mode & 0o777, 0o600)

  writeFileSync(config, 'data = "/srv/mine"\n')
  t.strictSame(run('install'), outcome(0, installed('', '/srv/mine')))
  t.equal(readFileSync(config, 'utf8'), 'data = "/srv/mine"\n', 'options are never overwritten')
  const shown = (state: string) => `The server is ${state}.
  Service  ${unit}
  Options  ${config}
  Data     /srv/mine
  Log      journalctl --user -u afield-server
`
  t.strictSame(run('status'), outcome(0, shown('running')))
  asked('exit 3')
  t.strictSame(run('status'), outcome(3, shown('not running')))
  asked('exit 0')
  const stopped = 'The server has stopped and no longer starts whenever you sign in.'
  t.strictSame(run('uninstall'), outcome(0, `${stopped} Its data stay in /srv/mine, and its options in ${config}.\n`))
  t.notOk(existsSync(unit))
  const other = join(home, 'other.toml')
  t.match(run('install', { config: other }), { code: 0, stdout: `Its options are in ${other}, which is new;` })
  rmSync(other)
  t.strictSame(run('uninstall', { config: other }), outcome(0, `${stopped} Its data are where they were.\n`))
})

t.test('a service that the system cannot run is neither installed nor removed', { skip: noShell }, async t => {
  const { home, asked, run } = systemOf(t, 'linux')
  const config = join(home, 'config', 'afield', 'afield.toml')
  const unit = join(home, 'config', 'systemd', 'user', 'afield-server.service')
  asked('echo no bus >&2; exit 1')
  const why =
    'systemd is not responding here (no bus); it only does in your own login session, not after su or in a container. Start the server in another way, with:'
  t.throws(() => run('install'), { message: `${why}\n  ${typed('serve')}`, exitCode: 78 })
  const without = `The server is not installed as a service. ${why}\n  ${typed('serve')}\n`
  t.strictSame(run('status'), { code: 3, stdout: without, stderr: '' })
  t.notOk(existsSync(join(home, 'config')))
  mkdirSync(dirname(config), { recursive: true })
  writeFileSync(config, '')
  t.throws(() => run('install'), { message: `${why}\n  ${typed(`serve --config ${config}`)}` })
  mkdirSync(dirname(unit), { recursive: true })
  writeFileSync(unit, '')
  t.throws(() => run('uninstall'), { message: `Remove it yourself with:\n  rm ${unit}` })
  t.ok(existsSync(unit))
})

t.test('on macOS, where nobody has tried it, that is said first', { skip: noShell }, async t => {
  const { home, run } = systemOf(t, 'darwin')
  const file = join(home, 'Library', 'LaunchAgents', 'dev.afield.server.plist')
  const stderr = 'Not run: this was written for this system, but nobody has tried it on one yet.\n'
  t.match(run('install', { 'dry-run': true }), { code: 0, stdout: /^<\?xml/, stderr })
  t.notOk(existsSync(file))
  t.match(run('install'), { code: 0, stdout: `as set in ${file}.\n`, stderr })
  t.notMatch(run('install').stdout, /linger/)
  t.match(run('uninstall'), { code: 0, stdout: /^The server has stopped/, stderr: '' })
  const service = `gui/${userInfo().uid}/dev.afield.server`
  t.strictSame(readFileSync(join(home, 'asked'), 'utf8').trim().split('\n'), [
    ...[`bootout ${service}`, `bootstrap gui/${userInfo().uid} ${file}`],
    ...[`bootout ${service}`, `bootstrap gui/${userInfo().uid} ${file}`],
    `bootout ${service}`
  ])
})

t.test('a service of the system has a user of its own, who must be able to see the program and its options', { skip: noShell }, async t => {
  const { home, write } = systemOf(t, 'linux')
  const did: string[] = []
  // Relative, since this checkout may itself be in a home.
  const config = relative(process.cwd(), join(home, 'etc', 'afield.toml'))
  const manager = {
    file: join(home, 'afield.service'),
    refuseIfUnable() {},
    install: (definition: string) => void did.push(definition),
    uninstall() {},
    isRunning: () => true
  }
  const service = {
    ...{ manager, config, data: '/var/lib/afield', user: 'afield', starts: 'with the system', log: 'the log', restart: 'restart it' },
    ...{ definition: () => 'the unit', prepare: () => void did.push('user'), hint: undefined, isUntried: false }
  }
  t.intercept(process, 'execPath', { value: '/usr/bin/node' })
  const programs = ['/home/mira/afield', '/root/afield', '/tmp/afield', '/var/tmp/afield', '/run/user/1000/afield']
  for (const program of programs) {
    t.intercept(process, 'argv', { value: ['node', program] })
    t.throws(() => actions.install(service, false), {
      message: `The service runs as a user of its own, who cannot see ${program}. Move the program first, for example to /usr/local/bin or /opt.`
    })
  }
  t.strictSame(did, [])
  t.notOk(existsSync(config))
  for (const program of ['/srv/home/afield', '/homes/afield', '/opt/afield']) {
    t.intercept(process, 'argv', { value: ['node', program] })
    rmSync(config, { force: true })
    const { stdout } = write(() => t.equal(actions.install(service, false), 0))
    t.match(stdout, 'It stores everything in /var/lib/afield. Its log: the log\nUndo this with:\n')
  }
  t.strictSame(did.slice(0, 2), ['user', 'the unit'])
  t.match(readFileSync(config, 'utf8'), '# security-log = "/var/log/afield/security.log"\n')
  t.equal(statSync(config).mode & 0o777, 0o640)
  t.equal(readFileSync(join(home, 'asked'), 'utf8'), `root:afield ${config}\n`.repeat(3))
})

t.test('root installs it for the whole system', { skip: process.platform !== 'linux' && 'systemd is of Linux' }, async t => {
  const { run } = systemOf(t, 'linux', 0)
  const { stdout } = run('install', { 'dry-run': true })
  t.match(stdout, '"serve" "--config" "/etc/afield/afield.toml"\n')
  t.match(stdout, 'User=afield\n')
})

/** Such a system in this process, with tools that note what they were asked. */
function systemOf(t: Test, platform: NodeJS.Platform, uid = 1000) {
  const home = t.testdir({ bin: {} })
  const tools = ['systemctl', 'launchctl', 'chown'].map(name => join(home, 'bin', name))
  const asked = (then = 'exit 0') => {
    for (const tool of tools) writeFileSync(tool, `#!/bin/sh\necho "$@" >> "${home}/asked"\n${then}\n`, { mode: 0o755 })
  }
  asked()
  const { HOME, PATH, XDG_CONFIG_HOME, XDG_DATA_HOME } = process.env
  const own = { HOME: home, PATH: join(home, 'bin'), XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'data') }
  Object.assign(process.env, own)
  t.teardown(() => {
    for (const [name, value] of Object.entries({ HOME, PATH, XDG_CONFIG_HOME, XDG_DATA_HOME })) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  t.intercept(process, 'platform', { value: platform })
  t.intercept(process, 'getuid', { value: () => uid })
  const write = (act: () => unknown) => {
    const [stdout, stderr] = [process.stdout, process.stderr].map(stream => t.capture(stream, 'write', () => true))
    const texts = (calls = stdout) =>
      calls?.()
        .map(({ args: [text] }) => text)
        .join('')
    try {
      act()
    } finally {
      stdout?.restore()
      stderr?.restore()
    }
    return { stdout: texts(stdout), stderr: texts(stderr) }
  }
  return {
    home,
    asked,
    write,
    run(action?: string, options: object = {}) {
      const written = write(() => handler({ _: [], $0: '', action, ...options }))
      const code = process.exitCode
      process.exitCode = undefined
      return { code, ...written }
    }
  }
}

t.test('the services of macOS and Windows name the program, whatever characters are in its path', async t => {
  const command = ['/Applications/a & b/afield', 'serve', '--config', 'C:\\a <b>.toml']
  t.match(plistOf({ label: 'dev.afield.server', command, log: '/tmp/log' }), '<string>/Applications/a &amp; b/afield</string>')
  t.match(taskOf(command), '<Command>/Applications/a &amp; b/afield</Command>')
  t.match(taskOf(command), '<Arguments>serve --config "C:\\a &lt;b&gt;.toml"</Arguments>')
})
