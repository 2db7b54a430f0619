import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { here } from '../kit/here.ts'

t.test('folders are allowed, listed and removed again, also the last one', async t => {
  const own = realpathSync(t.testdir({ home: {}, code: {}, file: '' }))
  const allow = (options: object) => here(t, 'allow', options, { AFIELD_HOME: join(own, 'home') })
  const listed = (...folders: string[]) => ({
    code: 0,
    stdout: `Your phone may start sessions in these folders:\n${folders.map(folder => `  ${folder}\n`).join('')}`,
    stderr: ''
  })
  const code = join(own, 'code')
  t.strictSame(await allow({}), listed(homedir()), 'by default')
  t.strictSame(await allow({ path: code, list: true }), listed(homedir()), '--list changes nothing')
  t.strictSame(await allow({ path: code }), listed(homedir(), code))
  t.strictSame(await allow({ path: join(code, '..', 'code') }), listed(homedir(), code), 'once')
  t.strictSame(await allow({ path: '~', remove: true }), listed(code))
  t.strictSame(await allow({ path: '~' }), listed(code, realpathSync(homedir())))
  t.strictSame(await allow({ path: homedir(), remove: true }), listed(code))
  t.strictSame(await allow({ path: code, remove: true }), {
    code: 0,
    stdout: 'Your phone may not start sessions in any folder on this computer.\n',
    stderr: ''
  })
})

t.test('what cannot be allowed or removed is named, and changes nothing', async t => {
  const own = realpathSync(t.testdir({ home: {}, file: '' }))
  const allow = (options: object) => here(t, 'allow', options, { AFIELD_HOME: join(own, 'home') })
  const refused = (stderr: string) => ({ code: 78, stdout: '', stderr: `${stderr}\n` })
  t.strictSame(await allow({ remove: true }), refused(`Which folder? For example:\n  ${typed('allow --remove ~/code')}`))
  for (const name of ['file', 'none'])
    t.strictSame(await allow({ path: join(own, name) }), refused(`The folder ${join(own, name)} does not exist.`))
  t.strictSame(await allow({ path: '~there' }), refused(`The folder ${join(process.cwd(), '~there')} does not exist.`))
  t.strictSame(
    await allow({ path: own, remove: true }),
    refused(`${own} is not an allowed folder. See the list with:\n  ${typed('allow --list')}`)
  )
  t.match(await allow({}), { stdout: `  ${homedir()}\n` })
})
