import { join } from 'node:path'
import t from 'tap'
import { isFolder, listFolder, makeFolder, readTree } from '../../../../lib/wrapper/session/methods/folders.ts'

t.test('a folder is created, and a file in its way is reported in a sentence', async t => {
  const root = t.testdir({ file: '' })
  makeFolder(join(root, 'one', 'two'))
  t.ok(isFolder(join(root, 'one', 'two')))
  for (const path of [join(root, 'file'), join(root, 'file', 'below')]) {
    t.throws(() => makeFolder(path), { message: `${join(root, 'file')} is a file, not a folder.` }, path)
  }
})

t.test('folders come first, and each kind by its name', async t => {
  const root = t.testdir({ b: {}, a: {}, 'c.ts': '', 'B.ts': '', 'a.ts': '123' })
  const names = ['a', 'b', 'B.ts', 'a.ts', 'c.ts']
  const listed = listFolder(root)
  t.strictSame(
    listed.map(({ name }) => name),
    names
  )
  t.match(listed, [{ type: 'directory' }, { type: 'directory' }, { type: 'file', size: 0 }, { type: 'file', size: 3 }, { type: 'file' }])
  t.strictSame(
    readTree(root, 1).children?.map(({ name }) => name),
    names
  )
})
