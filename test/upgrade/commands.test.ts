import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { install, program, publish, releaseKey, scriptOf } from './kit.ts'

const isWindows = process.platform === 'win32'

t.test(
  'the commands replace the file that they run from, and say that nothing was started [V3]',
  { skip: isWindows && 'scripts' },
  async t => {
    const place = t.testdir({ data: {} })
    const key = releaseKey()
    const old = program({ version: '0.1.0' })
    const newer = program({ version: '0.2.0' })
    const file = install(join(place, 'bin'), old)
    const source = publish(join(place, 'release'), { version: '0.2.0', bytes: newer, key, manifest: { expiresAt: '2100-01-01T00:00:00Z' } })
    const run = (version: string, ...args: string[]) => {
      // In place of the program, whose process would be one of Node.js.
      copyFileSync(process.execPath, file)
      const script = scriptOf({ version, keys: key.pub })
      return execFileSync(file, ['-e', script, '--', 'afield', ...args, '--data', join(place, 'data')], { encoding: 'utf8' })
    }
    const said = run('0.1.0', 'upgrade', source)
    t.match(
      said,
      /^Version 0\.2\.0 is installed\.\nNo server was running, and none was started: start it yourself\.\nThe previous version is .*\n$/
    )
    t.ok(readFileSync(file).equals(newer))
    t.same(readdirSync(join(place, 'bin')), ['afield', 'afield.previous'])

    copyFileSync(join(install(join(place, 'old'), old)), `${file}.previous`)
    t.equal(run('0.2.0', 'rollback'), 'Version 0.1.0 is in place again.\nNo server was running, and none was started: start it yourself.\n')
    t.ok(readFileSync(file).equals(old))
    t.same(readdirSync(join(place, 'bin')), ['afield'])
  }
)
