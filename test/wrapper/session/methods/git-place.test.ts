import t from 'tap'
import { folderOf, placeOf } from '../../../../lib/wrapper/session/methods/git-place.ts'

/** The folder of a session, and what of it was checked. */
function folder(roots = ['/work']) {
  const checked: string[] = []
  const check = (path: string) => {
    checked.push(path)
    if (path.includes('linked')) throw new Error('elsewhere')
    return path
  }
  return { confinement: { roots, check, checkChange: check, checkWords() {} }, checked }
}

t.test('a path below the folder is a place, and the folder that it is in is checked', async t => {
  const { confinement, checked } = folder()
  for (const path of ['a.ts', 'src/a.ts', 'src/..a', 'gitignore', '.gitignore', 'a:b', 'a\\b']) t.equal(placeOf(confinement, path), path)
  t.same(checked, ['/work', '/work/src', '/work/src', '/work', '/work', '/work', '/work'])
  t.throws(() => placeOf(confinement, 'linked/a.ts'), /elsewhere/)
})

t.test('what is no path, leads elsewhere or belongs to git is refused with its reason', async t => {
  const { confinement, checked } = folder()
  for (const path of ['', 'a\0b']) t.throws(() => placeOf(confinement, path), /not a file path/, path)
  for (const path of ['..', '../a', 'src/../../a', './a', '/etc/passwd', 'src//a', 'src/']) {
    t.throws(() => placeOf(confinement, path), /outside the folder/, path)
  }
  for (const path of ['.git/config', '.GIT/hooks/x', 'sub/.git', '.git'])
    t.throws(() => placeOf(confinement, path), /Git’s own files/, path)
  t.same(checked, [])
})

t.test('on Windows a path has neither drives nor backslashes', async t => {
  t.intercept(process, 'platform', { value: 'win32' })
  const { confinement } = folder()
  for (const path of ['C:/a', 'a:stream', 'a\\b']) t.throws(() => placeOf(confinement, path), /not a file path/, path)
  t.equal(placeOf(confinement, 'src/a.ts'), 'src/a.ts')
})

t.test('without a folder there is no place', async t => {
  const { confinement } = folder([])
  t.throws(() => folderOf(confinement), /No folder/)
  t.throws(() => placeOf(confinement, 'a'), /No folder/)
})
