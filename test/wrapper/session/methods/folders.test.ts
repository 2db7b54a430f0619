import { join } from 'node:path'
import t from 'tap'
import { isFolder, makeFolder } from '../../../../lib/wrapper/session/methods/folders.ts'

t.test('a folder is created, and a file in its way is reported in a sentence', async t => {
  const root = t.testdir({ file: '' })
  makeFolder(join(root, 'one', 'two'))
  t.ok(isFolder(join(root, 'one', 'two')))
  for (const path of [join(root, 'file'), join(root, 'file', 'below')]) {
    t.throws(() => makeFolder(path), { message: `${join(root, 'file')} is a file, not a folder.` }, path)
  }
})
