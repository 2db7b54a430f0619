import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { cannotMount } from '../kit/needs.ts'

const script = join(import.meta.dirname, 'fill-disk.ts')
const cannot = cannotMount()

t.test(
  'a disk that becomes full while a backup is restored leaves nothing of it, also if a part of the last bytes fits [K2]',
  { skip: cannot },
  async t => {
    const place = t.testdir({ disk: {}, elsewhere: {} })
    const mount = 'mount -t tmpfs -o size=40m tmpfs "$1" && exec "$2" "$3" "$1" "$4"'
    const words = ['-m', 'sh', '-c', mount, 'sh', join(place, 'disk'), process.execPath, script, join(place, 'elsewhere')]
    const { stdout } = await promisify(execFile)('unshare', words)
    const { outcomes, last } = JSON.parse(stdout)
    for (const outcome of outcomes) {
      t.match(outcome, {
        message: /^There is not enough space for the backup in .*\. Nothing was changed; free some and try again\.$/,
        exitCode: 75
      })
      t.same(outcome.left, [])
    }
    t.equal(outcomes.length, 2)
    t.same(last, { holds: { accounts: 1, sessions: 1, messages: 1 } })
  }
)
