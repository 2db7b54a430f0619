import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
// @ts-expect-error it has no types
import { debianPackage } from '../../../bin/packaging/deb.mjs'

const skip = spawnSync('dpkg-deb', ['--version']).error !== undefined && 'dpkg-deb is missing here'

t.test('the Debian package has the program, its unit and its configuration, and the same bytes each time', { skip }, async t => {
  const directory = t.testdir()
  const binary = join(directory, 'program')
  writeFileSync(binary, '#!/bin/sh\n')
  const licences = join(directory, 'licences')
  writeFileSync(licences, 'free\n')
  const make = (out: string) =>
    debianPackage({ binary, licences, version: '1.2.3-rc.1', arch: 'x64', out: join(directory, out), seconds: 1e9 })
  const file = make('one')
  t.equal(file, join(directory, 'one', 'afield_1.2.3~rc.1-1_amd64.deb'))
  t.ok(readFileSync(file).equals(readFileSync(make('two'))), 'it is reproducible')

  const deb = (...args: string[]) => execFileSync('dpkg-deb', args, { encoding: 'utf8' })
  t.match(deb('--field', file), /^Version: 1\.2\.3~rc\.1-1$/m)
  const files = deb('--contents', file)
  for (const line of [
    /^-rwxr-xr-x root\/root .* \.\/usr\/bin\/afield$/m,
    /^-rw-r--r-- root\/root .* \.\/usr\/lib\/systemd\/system\/afield\.service$/m,
    /^-rw-r----- root\/root .* \.\/etc\/afield\/afield\.toml$/m
  ])
    t.match(files, line)
  deb('--control', file, join(directory, 'control'))
  const conffiles = [
    '/etc/afield/afield.toml',
    '/etc/fail2ban/filter.d/afield.conf',
    '/etc/fail2ban/jail.d/afield.conf',
    '/etc/logrotate.d/afield'
  ]
  t.equal(readFileSync(join(directory, 'control', 'conffiles'), 'utf8'), `${conffiles.join('\n')}\n`)
  for (const script of ['postinst', 'prerm', 'postrm']) t.equal(spawnSync('sh', ['-n', join(directory, 'control', script)]).status, 0)
})

t.test('every link of the pages in the Debian package leads to something in it', { skip }, async t => {
  const directory = t.testdir({ program: '', licences: '' })
  const about = { binary: join(directory, 'program'), licences: join(directory, 'licences'), level: 0 }
  const file = debianPackage({ ...about, version: '1.0.0', arch: 'x64', out: directory })
  execFileSync('dpkg-deb', ['--extract', file, join(directory, 'all')])
  const folder = join(directory, 'all/usr/share/doc/afield')
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.md'))
  t.ok(pages.length > 20 && pages.includes('README.md') && pages.includes('docs/quick-start.md'), `${pages.length} pages`)
  const dead = pages.flatMap(page =>
    [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)]
      .filter(([, to = '']) => !existsSync(join(folder, dirname(page), to)))
      .map(([, to]) => `${page}: ${to}`)
  )
  t.strictSame(dead, [])
})

t.test('a system without packages of Debian is named', async t => {
  t.throws(() => debianPackage({ binary: '', version: '1.0.0', arch: 'ia32', out: '' }), /no Debian package for ia32/)
})
