import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { packageOwning, previousOf } from '../../lib/upgrade/installation.ts'
import { systemdUnitOf, unitIn } from '../../lib/upgrade/supervisor.ts'

t.test('the unit of a process is read from its control group; a terminal is none [V3]', async t => {
  t.same(unitIn('0::/system.slice/afield.service\n'), { unit: 'afield.service', isOfUser: false })
  t.same(unitIn('0::/user.slice/user-1000.slice/user@1000.service/app.slice/afield.service\n'), { unit: 'afield.service', isOfUser: true })
  t.same(unitIn('12:cpu:/x\n1:name=systemd:/system.slice/afield@home.service\n'), { unit: 'afield@home.service', isOfUser: false })
  for (const none of [
    '',
    '0::/\n',
    '0::/user.slice/user-1000.slice/session-3.scope\n',
    '0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-terminal.scope\n',
    '0::/system.slice/--now.service x\n'
  ])
    t.equal(unitIn(none), undefined, none)
})

t.test('a unit is only used if the server is its main process [V3]', { skip: process.platform !== 'linux' }, async t => {
  // Stands in for systemctl: there is no service manager where tests run.
  const folder = t.testdir({ cgroup: '0::/system.slice/some.service\n' })
  writeFileSync(join(folder, 'systemctl'), `#!/bin/sh\necho "$@" >>${folder}/called\n[ "$1" != show ] || echo 42\n`)
  chmodSync(join(folder, 'systemctl'), 0o755)
  const { PATH } = process.env
  process.env['PATH'] = folder + delimiter + PATH
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
  const cgroupOf = () => readFileSync(join(folder, 'cgroup'), 'utf8')
  t.equal(await systemdUnitOf(41, cgroupOf), undefined, 'such as a shell in the unit of the SSH server')
  if (process.getuid?.() !== 0) {
    await t.rejects(systemdUnitOf(42, cgroupOf), { message: /only root may restart: run this command with sudo/ })
    return
  }
  const unit = await systemdUnitOf(42, cgroupOf)
  t.equal(unit?.name, 'some.service')
  await unit?.restart()
  await unit?.stop()
  await unit?.start()
  t.same(readFileSync(join(folder, 'called'), 'utf8').trim().split('\n').slice(-3), [
    'restart some.service',
    'stop some.service',
    'start some.service'
  ])
})

t.test('files of Debian packages are known, and how the previous program is called', { skip: process.platform !== 'linux' }, async t => {
  t.equal(previousOf('/opt/afield/afield'), '/opt/afield/afield.previous')
  t.equal(packageOwning('/usr/local/bin/afield'), undefined)
  t.equal(packageOwning('/home/ann/afield'), undefined)
  t.equal(packageOwning('/usr/bin/no-such-program'), undefined)
  const hasDpkg = readFileSync('/etc/os-release', 'utf8').includes('debian')
  if (hasDpkg) t.equal(packageOwning('/usr/bin/dpkg-query'), 'dpkg')
})
