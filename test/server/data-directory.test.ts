import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeDataDirectory, openMode } from '../../lib/server/data-directory.ts'

const onPosix = { skip: process.platform === 'win32' && 'modes of Linux' }

t.test('a directory that other users can enter is reported with its mode, and a new one is private', onPosix, async t => {
  const folder = t.testdir()
  const open = join(folder, 'open')
  mkdirSync(open)
  for (const [mode, told] of [
    [0o755, '755'],
    [0o701, '701'],
    [0o740, '740'],
    [0o700, undefined],
    [0o500, undefined]
  ] as const) {
    chmodSync(open, mode)
    t.equal(openMode(open), told, mode.toString(8))
  }
  const own = join(folder, 'far', 'below')
  makeDataDirectory(own)
  t.equal(openMode(own), undefined)
  t.equal(statSync(join(own, '..')).mode & 0o077, 0, 'nor can they enter what is above it')
})
