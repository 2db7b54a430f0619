import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import t from 'tap'
import { serviceOfPackage } from '../../lib/service/server-service.ts'
import { firstConfig, serverUnit } from '../../lib/service/server-unit.ts'

const analyze = (...args: string[]) =>
  spawnSync('systemd-analyze', args, { encoding: 'utf8', env: { ...process.env, XDG_RUNTIME_DIR: t.testdir(), SYSTEMD_COLORS: '0' } })
const skip = analyze('--version').error !== undefined && 'systemd-analyze is missing here'

/** Of ten: a unit without any restriction has 9.6. One of a person counts as root here, and may restrict less. */
const mostExposure = { system: 1.5, user: 6.5 }

t.test('systemd accepts the units, and rates their exposure low', { skip }, async t => {
  for (const scope of ['system', 'user'] as const) {
    const file = join(t.testdir(), 'afield.service')
    writeFileSync(file, serverUnit({ command: ['/bin/true', 'serve', '--config', '/etc/100%$/a "b".toml'], scope }))
    const { status, stderr } = analyze(`--${scope}`, 'verify', file)
    t.equal(status, 0, scope)
    t.equal(stderr, '', scope)
    const { stdout } = analyze(`--${scope}`, 'security', '--offline=yes', '--no-pager', file)
    const exposure = Number(/exposure level for afield\.service: ([\d.]+)/.exec(stdout)?.[1])
    t.ok(exposure <= mostExposure[scope], `exposure ${exposure} of the ${scope}`)
  }
})

t.test('the first configuration file is valid, and its examples are too', async t => {
  const text = firstConfig('/var/lib/"afield"', 'systemctl restart afield', '/var/log/security.log')
  t.same(parse(text), { data: '/var/lib/"afield"' })
  const file = join(t.testdir(), 'afield.toml')
  writeFileSync(file, text.replaceAll(/^# (?=[a-z-]+ = )/gm, ''))
  const program = join(import.meta.dirname, '..', '..', 'bin', 'afield.ts')
  const { status, stderr } = spawnSync(process.execPath, [program, 'config', 'check', '--config', file], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
})

t.test('without systemd the service of the Debian package is not explained with systemctl', async t => {
  const unit = '/lib/systemd/system/afield.service'
  t.match(serviceOfPackage(unit, true), /systemctl status afield/)
  const command = 'runuser -u afield -- afield serve --config /etc/afield/afield.toml'
  t.match(serviceOfPackage(unit, false), `does not run here. Start the server as root with:\n  ${command}`)
  t.notMatch(serviceOfPackage(unit, false), /systemctl/)
  const postinst = readFileSync(join(import.meta.dirname, '../../bin/packaging/deb/postinst'), 'utf8')
  t.match(postinst, command, 'the package says the same')
})
