import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { cannotMount } from '../kit/needs.ts'

const script = join(import.meta.dirname, 'fill-disk.ts')
const cannot = cannotMount()

t.test(
  'a disk that becomes full while the new program is written leaves the program, the data and nothing else [V1]',
  { skip: cannot },
  async t => {
    const place = t.testdir({ disk: {}, releases: {} })
    const mount = 'mount -t tmpfs -o size=40m tmpfs "$1" && exec "$2" "$3" "$1" "$4"'
    const words = ['-m', 'sh', '-c', mount, 'sh', join(place, 'disk'), process.execPath, script, join(place, 'releases')]
    const { stdout } = await promisify(execFile)('unshare', words)
    const { outcomes, ...seen } = JSON.parse(stdout)
    const [atFirst, ...later] = outcomes
    t.match(atFirst, {
      message: /^The new program needs 5 MB in .*, where 0 MB are free\. Nothing was changed\.$/,
      exitCode: 75,
      isUntouched: true
    })
    for (const outcome of later) {
      const message = /^The disk of .* is full\. Nothing was changed; free some space and try again\.$/
      t.match(outcome, { message, exitCode: 75, isUntouched: true })
    }
    t.equal(later.length, 3)
    t.match(seen, { last: { type: 'installed', version: '0.2.0' }, bin: ['afield', 'afield.previous'], isNew: true })
  }
)
