import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ServiceManager } from '../../lib/service/manager.ts'
import { findServerService, packagedUnit } from '../../lib/service/server-service.ts'
import { systemd } from '../../lib/service/systemd.ts'

const skip = process.platform === 'win32' && 'the tools are scripts of a shell'

t.test('the service of each system has its own files and commands', { skip }, async t => {
  t.intercept(process, 'getuid', { value: () => 1000 })
  setEnv(t, 'HOME', '/home/mira')
  const at = (platform: string, env = {}) => {
    t.intercept(process, 'platform', { value: platform })
    return findServerService(env)
  }
  const person = { data: undefined, user: undefined, starts: 'whenever you sign in' }
  t.match(at('linux'), {
    ...person,
    manager: { file: '/home/mira/.config/systemd/user/afield-server.service' },
    config: '/home/mira/.config/afield/afield.toml',
    log: 'journalctl --user -u afield-server',
    restart: 'systemctl --user restart afield-server',
    hint: `To let it run while you are not signed in: sudo loginctl enable-linger ${userInfo().username}`,
    isUntried: false
  })
  t.match(at('linux', { XDG_CONFIG_HOME: '/config' }), {
    manager: { file: '/config/systemd/user/afield-server.service' },
    config: '/config/afield/afield.toml'
  })
  const unit = at('linux').definition(['/a "b"', '100%', '$x'])
  t.match(unit, 'ExecStart="/a \\"b\\"" "100%%" "$$x"\n')
  t.notMatch(unit, 'User=')
  const domain = `gui/${userInfo().uid}`
  t.match(at('darwin'), {
    ...person,
    manager: { file: '/home/mira/Library/LaunchAgents/dev.afield.server.plist' },
    config: '/home/mira/.config/afield/afield.toml',
    log: 'tail /home/mira/Library/Logs/afield.log',
    restart: `launchctl kickstart -k ${domain}/dev.afield.server`,
    hint: undefined,
    isUntried: true
  })
  t.match(at('darwin', { XDG_CONFIG_HOME: '/config' }), { config: '/config/afield/afield.toml' })
  t.match(at('darwin').definition(['/afield', 'serve']), '<key>StandardErrorPath</key><string>/home/mira/Library/Logs/afield.log</string>')
  t.match(at('darwin').definition(['/a & <b>']), '<string>/a &amp; &lt;b&gt;</string>')
  t.notMatch(at('darwin').definition(['/afield']), 'AbandonProcessGroup')
  t.match(at('win32'), {
    ...person,
    manager: { file: '/home/mira/AppData/Local/Afield/service.xml' },
    config: '/home/mira/AppData/Local/Afield/afield.toml',
    log: 'schtasks /Query /V /TN "Afield server"',
    restart: 'schtasks /End /TN "Afield server", then schtasks /Run /TN "Afield server"',
    hint: undefined,
    isUntried: true
  })
  t.match(at('win32', { LOCALAPPDATA: '/local' }), { config: '/local/Afield/afield.toml' })
  t.match(at('win32').definition(['afield.exe', 'serve', 'a "b"']), '<Arguments>serve "a \\"b\\""</Arguments>')
  t.throws(() => at('aix'), { name: 'CannotStart', message: /cannot install itself as a service on this system\. .*run: afield serve$/ })
  t.doesNotThrow(() => at('linux').prepare(), 'there is no user to create')
})

const ofPackage = packagedUnit() !== undefined && 'the package of the system has its own service here'

t.test('root gets a service of the system, whose user is created by systemd', { skip: skip || ofPackage }, async t => {
  const { asked } = toolsOf(t, ['systemd-sysusers'])
  t.intercept(process, 'platform', { value: 'linux' })
  t.intercept(process, 'getuid', { value: () => 0 })
  const service = findServerService({})
  t.match(service, {
    manager: { file: '/etc/systemd/system/afield.service' },
    config: '/etc/afield/afield.toml',
    data: '/var/lib/afield',
    user: 'afield',
    starts: 'with the system',
    log: 'journalctl -u afield',
    restart: 'systemctl restart afield',
    hint: undefined,
    isUntried: false
  })
  t.match(service.definition(['/afield']), 'User=afield\n')
  service.prepare()
  t.strictSame(asked(), ['systemd-sysusers --inline u afield - "Afield server" /var/lib/afield'])
})

t.test('launchd loads a service anew, and forgets it before its file is removed', { skip }, async t => {
  const { home, asked, answer } = toolsOf(t, ['launchctl'])
  setEnv(t, 'HOME', home)
  t.intercept(process, 'platform', { value: 'darwin' })
  t.intercept(process, 'getuid', { value: () => 1000 })
  const { manager } = findServerService({})
  const domain = `gui/${userInfo().uid}`
  const name = `${domain}/dev.afield.server`
  t.doesNotThrow(() => manager.refuseIfUnable(''))
  manager.install('the definition')
  t.equal(readFileSync(manager.file, 'utf8'), 'the definition')
  t.equal(statSync(manager.file).mode & 0o777, 0o600)
  answer('echo "\tstate = running"')
  t.equal(manager.isRunning(), true)
  answer('echo "\tstate = running soon"')
  t.equal(manager.isRunning(), false)
  answer()
  manager.uninstall()
  t.notOk(existsSync(manager.file))
  t.doesNotThrow(() => manager.uninstall(), 'also when it is gone')
  t.strictSame(asked(), [
    ...[`launchctl bootout ${name}`, `launchctl bootstrap ${domain} ${manager.file}`],
    ...[`launchctl print ${name}`, `launchctl print ${name}`],
    ...[`launchctl bootout ${name}`, `launchctl bootout ${name}`]
  ])
  refusesBrokenTool(t, manager, answer, `launchctl bootout ${name}`)
})

t.test('the task scheduler reads a definition in UTF-16, and what runs is ended first', { skip }, async t => {
  const { home, asked, answer } = toolsOf(t, ['schtasks'])
  t.intercept(process, 'platform', { value: 'win32' })
  const { manager } = findServerService({ LOCALAPPDATA: home })
  t.doesNotThrow(() => manager.refuseIfUnable(''))
  manager.install('<Task/>')
  t.equal(readFileSync(manager.file).toString('utf16le'), '\uFEFF<Task/>')
  answer('echo \'"Afield server","N/A","Running"\'')
  t.equal(manager.isRunning(), true)
  answer('echo \'"Afield server","N/A","Ready"\'')
  t.equal(manager.isRunning(), false)
  answer()
  manager.uninstall()
  t.notOk(existsSync(manager.file))
  t.doesNotThrow(() => manager.uninstall(), 'also when it is gone')
  const removal = ['schtasks /End /TN Afield server', 'schtasks /Delete /TN Afield server /F']
  t.strictSame(asked(), [
    `schtasks /Create /TN Afield server /XML ${manager.file} /F`,
    ...['schtasks /End /TN Afield server', 'schtasks /Run /TN Afield server'],
    ...Array(2).fill('schtasks /Query /TN Afield server /FO CSV'),
    ...removal,
    ...removal
  ])
  refusesBrokenTool(t, manager, answer, 'schtasks /Delete /TN Afield server /F')
})

t.test('systemd enables and restarts a unit, of the system or of a person', { skip }, async t => {
  for (const scope of ['system', 'user'] as const) {
    const { home, asked, answer } = toolsOf(t, ['systemctl'])
    const user = scope === 'user' ? '--user ' : ''
    const manager = systemd({ file: join(home, scope, 'a.service'), scope })
    t.doesNotThrow(() => manager.refuseIfUnable(''))
    manager.install('the unit')
    t.equal(readFileSync(manager.file, 'utf8'), 'the unit')
    t.equal(statSync(manager.file).mode & 0o777, scope === 'user' ? 0o600 : 0o644)
    t.equal(manager.isRunning(), true)
    answer('exit 3')
    t.equal(manager.isRunning(), false)
    answer()
    manager.uninstall()
    t.notOk(existsSync(manager.file))
    t.doesNotThrow(() => manager.uninstall(), 'also when it is gone')
    const removal = [`disable --now a.service`, 'daemon-reload']
    const isActive = '--quiet is-active a.service'
    t.strictSame(
      asked(),
      ['show-environment', 'daemon-reload', 'enable a.service', 'restart a.service', isActive, isActive, ...removal, ...removal].map(
        args => `systemctl ${user}${args}`
      )
    )
    refusesBrokenTool(t, manager, answer, `systemctl ${user}disable --now a.service`)
    answer('echo " no bus " >&2; exit 1')
    t.throws(() => manager.refuseIfUnable('Do this.'), {
      name: 'CannotStart',
      message:
        scope === 'user'
          ? 'systemd is not responding here (no bus); it only does in your own login session, not after su or in a container. Do this.'
          : 'systemd is not responding here (no bus); it does not in most containers. Do this.'
    })
    setEnv(t, 'PATH', join(home, 'none'))
    t.throws(() => manager.refuseIfUnable('Do this.'), { message: 'This system has no systemd. Do this.' })
    t.throws(() => manager.uninstall(), { name: 'CannotStart', message: /^systemctl cannot be run here: / })
  }
})

/** A tool that fails is said with its words, or with its exit code if it says nothing. */
function refusesBrokenTool(t: Test, manager: ServiceManager, answer: (then: string) => void, command: string): void {
  mkdirSync(join(manager.file, '..'), { recursive: true })
  writeFileSync(manager.file, '')
  answer('echo " not today " >&2; exit 5')
  t.throws(() => manager.uninstall(), { name: 'CannotStart', message: `${command} failed: not today` })
  answer('exit 5')
  t.throws(() => manager.uninstall(), { message: `${command} failed: exit code 5` })
  t.ok(existsSync(manager.file), 'and what it was about stays')
}

function setEnv(t: Test, name: string, value: string): void {
  const before = process.env[name]
  process.env[name] = value
  t.teardown(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
}

/** Tools of the system that note what they were asked, and then do nothing else until they are told an answer. */
function toolsOf(t: Test, names: readonly string[]) {
  const home = t.testdir({ bin: {} })
  const answer = (then = '') => {
    for (const name of names) {
      writeFileSync(join(home, 'bin', name), `#!/bin/sh\necho "${name} $@" >> "${home}/asked"\n${then}\n`, { mode: 0o755 })
    }
  }
  answer()
  setEnv(t, 'PATH', join(home, 'bin'))
  return { home, answer, asked: () => readFileSync(join(home, 'asked'), 'utf8').trim().split('\n') }
}
