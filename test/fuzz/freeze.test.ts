import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

/** What a program prints whose objects have the prototype of the fuzzed server. */
function printed(program: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', join(import.meta.dirname, 'freeze.mjs'), '-e', program], {
    encoding: 'utf8'
  })
  return stdout + stderr
}

t.test('in the fuzzed server the prototype of all objects is frozen, and other objects stay writable [N3]', async t => {
  t.match(printed("'use strict'; Object.prototype.isAdmin = true"), /TypeError/)
  t.match(printed("'use strict'; ({}).__proto__.isAdmin = true"), /TypeError/)
  t.match(printed("'use strict'; ({}).constructor.prototype.toString = 1"), /Somebody writes Object\.prototype\.toString/)
  t.equal(printed('const own = {}; own.constructor = 1; console.log(JSON.stringify(own))'), '{"constructor":1}\n')
})
