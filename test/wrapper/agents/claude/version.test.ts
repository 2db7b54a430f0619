import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { unknownVersion, versionOf } from '../../../../lib/wrapper/agents/claude/version.ts'
import { newestTested } from '../../../../lib/wrapper/agents/programs.ts'

const skip = process.platform === 'win32' && 'the program is a script'

t.test('a person is told of a version that is not tested, and what still works', t => {
  const otherwise = 'If something does not work at its terminal, use your phone.'
  const newest = newestTested['claude'] ?? ''
  t.equal(unknownVersion(newest), undefined)
  t.equal(unknownVersion('99.0.1'), `Claude Code 99.0.1 is newer than tested (${newest}). ${otherwise}`)
  t.equal(unknownVersion('1.0.9'), `Claude Code 1.0.9 is older than tested (2.1 and newer). ${otherwise}`)
  t.equal(unknownVersion(undefined), 'Afield could not determine the version of Claude Code.')
  t.end()
})

t.test('a program is asked for its version once, and again when it has changed', { skip }, async t => {
  const folder = t.testdir({ home: {} })
  const home = join(folder, 'home')
  const [program, other] = [join(folder, 'claude'), join(folder, 'other')]
  const asked = join(folder, 'asked')
  const write = (file: string, version: string) =>
    writeFileSync(file, `#!/bin/sh\necho "$1" >> '${asked}'\necho "${version} ($NAMED)"\n`, { mode: 0o755 })
  const versions = async (file: string) => [
    await versionOf(file, home, { NAMED: 'Claude Code' }),
    readFileSync(asked, 'utf8').length / '--version\n'.length
  ]
  write(program, 'v2.1.300')
  write(other, '2.1.301')
  t.strictSame(await versions(program), ['2.1.300', 1])
  t.strictSame(await versions(program), ['2.1.300', 1])
  t.equal(statSync(join(home, 'claude-version.json')).mode & 0o077, 0, 'for its owner')
  const { mtime } = statSync(program)
  write(program, 'v2.1.3021')
  utimesSync(program, mtime, mtime)
  t.strictSame(await versions(program), ['2.1.3021', 2], 'another size')
  utimesSync(program, 1, 1)
  t.strictSame(await versions(program), ['2.1.3021', 3], 'another time')
  utimesSync(other, 1, 1)
  writeFileSync(program, readFileSync(other))
  utimesSync(program, 1, 1)
  await versions(program)
  t.strictSame(await versions(other), ['2.1.301', 5], 'another program')
  writeFileSync(join(home, 'claude-version.json'), '{"program":')
  t.strictSame(await versions(other), ['2.1.301', 6], 'a damaged note')
})

t.test('without an answer there is no version, and none is kept', { skip }, async t => {
  const folder = t.testdir({ home: {}, silent: '#!/bin/sh\necho Claude Code 2\n' })
  const home = join(folder, 'home')
  t.equal(await versionOf(join(folder, 'none'), home, {}), undefined)
  t.equal(await versionOf(join(folder, 'silent'), home, {}), undefined, 'not even one that can be run')
  t.notOk(existsSync(join(home, 'claude-version.json')))
})
