import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { putInPlace } from '../../lib/upgrade/program-file.ts'
import { straceProblem } from '../crash/fault-points.ts'
import { install } from './kit.ts'

const [old, newer] = [Buffer.alloc(100_000, 'old '), Buffer.alloc(100_000, 'newer ')]

t.test(
  'whenever it is killed, the swap leaves a whole program under the name, the old or the new [V3]',
  { skip: straceProblem() ?? false },
  async t => {
    const code = pathToFileURL(join(import.meta.dirname, '../../lib/upgrade/program-file.ts')).href
    const swap = `import(${JSON.stringify(code)}).then(({ putInPlace }) => putInPlace(process.argv[1], process.argv[2]))`
    const seen = new Set<string>()
    for (const call of ['link', 'rename', 'unlink', 'copy_file_range', 'fsync']) {
      for (let count = 1, isKilled = true; isKilled; count += 1) {
        const place = t.testdir({})
        const file = install(place, old)
        writeFileSync(join(place, 'part'), newer)
        const strace = ['-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${count}`]
        const words = [
          ...strace,
          'env',
          '-u',
          'NODE_OPTIONS',
          '-u',
          'NODE_COMPILE_CACHE',
          process.execPath,
          '-e',
          swap,
          join(place, 'part'),
          file
        ]
        const { status, signal, stderr } = spawnSync('strace', words, { encoding: 'utf8' })
        isKilled = signal === 'SIGKILL'
        t.ok(isKilled || status === 0, stderr)
        const now = readFileSync(file)
        t.ok(now.equals(old) || now.equals(newer), `killed at ${call} ${count}`)
        seen.add(`${now.equals(old) ? 'old' : 'new'}${isKilled ? ' after a kill' : ''}`)
      }
    }
    t.same([...seen].toSorted(), ['new', 'new after a kill', 'old after a kill'])
  }
)

t.test(
  'a swap that fails leaves the program as it was, and nothing of the new one [V3]',
  { skip: process.platform === 'win32' },
  async t => {
    const place = t.testdir({ 'afield.previous': { 'of a person': '' } })
    const file = install(place, old)
    chmodSync(file, 0o750)
    const fails = (part: string, code: RegExp) => {
      t.throws(() => putInPlace(join(place, part), file), {
        message: /could not be replaced .*; it is as it was/,
        exitCode: 75,
        cause: { code }
      })
      t.ok(readFileSync(file).equals(old))
      t.equal(statSync(file).mode & 0o777, 0o750)
      t.same(readdirSync(place).toSorted(), ['afield', 'afield.previous'])
    }
    writeFileSync(join(place, 'part'), newer)
    fails('part', /EISDIR|ENOTEMPTY|EEXIST/)
    rmSync(join(place, 'afield.previous'), { recursive: true })
    fails('no such file', /ENOENT/)
  }
)
