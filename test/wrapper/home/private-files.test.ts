import fs, { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { openNotesFile } from '../../../lib/wrapper/home/private-files.ts'

t.test('writes waiting for a full disk keep waiting when the next attempt fails differently', async t => {
  const path = join(t.testdir(), 'notes.json')
  const file = openNotesFile(path)
  t.teardown(file.close)
  failWith('ENOSPC', 'EACCES')
  file.write('said')
  await file.settled()
  t.equal(readFileSync(path, 'utf8'), 'said')
})

t.test('an error that waiting cannot fix is reported at once', t => {
  const file = openNotesFile(join(t.testdir(), 'notes.json'))
  failWith('EACCES')
  t.throws(() => file.write('said'), { code: 'EACCES' })
  t.end()
})

/** The next writes fail so, one after the other. */
function failWith(...codes: string[]): void {
  const { writeFileSync } = fs
  fs.writeFileSync = () => {
    const code = codes.shift()
    if (codes.length === 0) fs.writeFileSync = writeFileSync
    syncBuiltinESMExports()
    throw Object.assign(new Error(`${code}: write`), { code })
  }
  syncBuiltinESMExports()
}
