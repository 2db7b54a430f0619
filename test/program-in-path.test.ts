import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { findProgram, isProgram } from '../lib/program-in-path.ts'

const ending = process.platform === 'win32' ? '.exe' : ''
const name = `tool${ending}`

t.test('a program is the first of its name in the folders of PATH, as a shell finds it', t => {
  const own = t.testdir({ first: { tool: { 'a folder': '' } }, second: { [name]: '' }, third: { [name]: '' }, plain: { [name]: '' } })
  for (const folder of ['second', 'third']) chmodSync(join(own, folder, name), 0o755)
  if (process.platform !== 'win32') chmodSync(join(own, 'plain', name), 0o644)
  const folders = (...names: string[]) => names.map(each => (each === '' ? '' : join(own, each))).join(delimiter)
  const found = join(own, 'second', name)
  t.equal(findProgram('tool', { PATH: folders('nowhere', '', 'first', 'second', 'third') }), found)
  t.equal(findProgram('tool', { Path: folders('second') }), found, 'Windows calls it Path')
  t.equal(findProgram('tool', { PATH: folders('third'), Path: folders('second') }), join(own, 'third', name))
  if (process.platform !== 'win32') t.equal(findProgram('tool', { PATH: folders('first', 'plain') }), undefined, 'nobody may run it')
  for (const env of [{}, { PATH: '' }, { PATH: delimiter }]) t.equal(findProgram('tool', env), undefined)
  t.end()
})

t.test('a whole path is searched nowhere else', t => {
  const own = t.testdir({ bin: {} })
  const file = join(own, 'bin', name)
  const env = { PATH: join(own, 'bin') }
  t.equal(findProgram(file, env), undefined)
  writeFileSync(file, '')
  chmodSync(file, 0o755)
  t.equal(findProgram(file, {}), file)
  t.same([isProgram(file), isProgram(join(own, 'bin')), isProgram(join(own, 'none'))], [true, false, false])
  t.end()
})
