import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findDaemon } from '../../../lib/wrapper/daemon/single-daemon.ts'
import { startServer } from '../../kit/server.ts'
import { daemonOf } from '../kit/daemon.ts'
import { runWrapper } from '../kit/wrapper.ts'

const skip = process.platform !== 'linux' && 'systemd is of Linux'

t.test('the daemon is installed as a service with its server and network settings, replacing the running one', { skip }, async t => {
  const server = await startServer(t)
  const { home, process: daemon } = await daemonOf(t, server)
  const bin = join(home, '..', 'bin')
  const config = join(home, '..', 'config')
  mkdirSync(bin)
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$@" >> "${bin}/asked"\n`, { mode: 0o755 })
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    XDG_CONFIG_HOME: config,
    NODE_EXTRA_CA_CERTS: '/etc/home "ca".pem',
    HTTPS_PROXY: 'http://proxy.example:3128',
    CODEX_HOME: '/srv/100%$/codex',
    ANTHROPIC_API_KEY: 'sk-secret'
  }
  const install = runWrapper(t, { home, args: ['daemon', 'install', '--server', server.url], env })
  await install.says(/The daemon is running now/)
  t.equal(await daemon.ended, 0, 'the one that ran has made place')
  const unit = readFileSync(join(config, 'systemd', 'user', 'afield.service'), 'utf8')
  for (const line of [
    `"daemon" "run" "--server" "${server.url}"`,
    `Environment="AFIELD_HOME=${home}"`,
    'Environment="AFIELD_SERVICE=1"',
    'Environment="NODE_EXTRA_CA_CERTS=/etc/home \\"ca\\".pem"',
    'Environment="HTTPS_PROXY=http://proxy.example:3128"',
    'Environment="CODEX_HOME=/srv/100%%$/codex"'
  ])
    t.match(unit, line)
  t.notMatch(unit, /sk-secret/, 'no key of a model is written down')
  t.strictSame(readFileSync(join(bin, 'asked'), 'utf8').trim().split('\n'), [
    '--user show-environment',
    '--user daemon-reload',
    '--user enable afield.service',
    '--user restart afield.service'
  ])

  writeFileSync(join(bin, 'asked'), '')
  const uninstall = runWrapper(t, { home, args: ['daemon', 'uninstall'], env: { PATH: env.PATH, XDG_CONFIG_HOME: config } })
  t.equal(await uninstall.ended, 0)
  t.equal(uninstall.output, 'The daemon no longer starts automatically.\n')
  t.notOk(existsSync(join(config, 'systemd', 'user', 'afield.service')))
  t.strictSame(readFileSync(join(bin, 'asked'), 'utf8').trim().split('\n'), [
    '--user show-environment',
    '--user disable --now afield.service',
    '--user daemon-reload'
  ])
})

t.test('where systemd runs no user services, the running daemon stays and nothing is written', { skip }, async t => {
  const server = await startServer(t)
  const { home } = await daemonOf(t, server)
  const bin = join(home, '..', 'bin')
  const config = join(home, '..', 'config')
  mkdirSync(bin)
  writeFileSync(join(bin, 'systemctl'), '#!/bin/sh\necho "Failed to connect to bus: No medium found" >&2\nexit 1\n', { mode: 0o755 })
  const env = { PATH: `${bin}:${process.env['PATH']}`, XDG_CONFIG_HOME: config }
  const asked = async (action: string, changes = {}) => {
    const run = runWrapper(t, { home, args: ['daemon', action], env: { ...env, ...changes } })
    return { code: await run.ended, says: run.output }
  }
  t.match(await asked('install'), {
    code: 78,
    says: /^systemd is not responding here \(Failed to connect to bus: No medium found\); .*\. Start the daemon yourself with:\n {2}.* daemon start\n$/
  })
  t.match(await asked('install', { PATH: '/nowhere' }), { code: 78, says: /^This system has no systemd\. Start the daemon yourself with:/ })
  t.match(await asked('uninstall'), { code: 0, says: /^The daemon is not installed/ })
  t.ok(findDaemon(home))
  t.notOk(existsSync(config))
  const file = join(config, 'systemd', 'user', 'afield.service')
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, '')
  t.match(await asked('uninstall'), { code: 78, says: `Remove it yourself with:\n  rm ${file}\n` })
})
