import t from 'tap'
import { below, parentFolder, shortPath } from '../../../web/model/paths.ts'

t.test('what is in the home folder is shown with ~', async t => {
  t.equal(shortPath('/home/ada', '/home/ada'), '~')
  t.equal(shortPath('/home/ada/work', '/home/ada'), '~/work')
  t.equal(shortPath('/home/adam/work', '/home/ada'), '/home/adam/work')
  t.equal(shortPath('/srv', '/home/ada'), '/srv')
  t.equal(shortPath('/', '/'), '/', 'everything is in the root')
  t.equal(shortPath('/srv', undefined), '/srv')
})

t.test('the folder above is found in paths of either kind', async t => {
  const table: [path: string, above: string | undefined][] = [
    ['/home/ada', '/home'],
    ['/home', '/'],
    ['/', undefined],
    ['C:\\work\\one', 'C:\\work'],
    ['C:\\work', 'C:\\'],
    ['C:\\', undefined],
    ['c:', undefined],
    ['work', undefined]
  ]
  for (const [path, above] of table) t.equal(parentFolder(path), above, path)
})

t.test('a path inside a folder has its kind of line, once', async t => {
  t.equal(below('/home', 'ada'), '/home/ada')
  t.equal(below('/', 'home'), '/home')
  t.equal(below('C:\\work', 'one'), 'C:\\work\\one')
  t.equal(below('C:\\', 'work'), 'C:\\work')
})
