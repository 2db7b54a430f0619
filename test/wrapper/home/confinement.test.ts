import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, sep } from 'node:path'
import t, { type Test } from 'tap'
import { confine } from '../../../lib/wrapper/home/confinement.ts'

/** A folder of code in which a phone may work, beside others. */
function places(t: Test) {
  const own = realpathSync(t.testdir({ code: { src: {}, 'a.txt': '' }, 'code-two': {}, other: {}, home: { demo: {} } }))
  const at = (...parts: string[]) => join(own, ...parts)
  return { own, at, confinement: confine([at('code')], at('home')) }
}
const notAllowed = (path: string) => ({ message: `The folder ${path} is not allowed on this computer.` })
const isOwn = { message: 'Agents may not use Afield’s own folder.' }

t.test('a path within is answered as it really is, whether it exists or not, and any other is refused', async t => {
  const { own, at, confinement } = places(t)
  t.strictSame(confinement.roots, [at('code')])
  t.equal(confinement.check(at('code')), at('code'))
  t.equal(confinement.check('src'), at('code', 'src'))
  t.equal(confinement.check('new/file'), at('code', 'new', 'file'))
  t.equal(confinement.check('..near'), at('code', '..near'))
  for (const path of [own, at('code-two'), '..', '../other/new', '/', '~', '~/x']) t.throws(() => confinement.check(path), notAllowed(path))
})

t.test('links are followed before a path is judged, also above what does not exist yet', async t => {
  const { at, confinement } = places(t)
  symlinkSync(at('other'), at('code', 'out'))
  symlinkSync(at('code'), at('other', 'in'))
  for (const path of ['out', 'out/new/file']) t.throws(() => confinement.check(path), notAllowed(path))
  t.equal(confinement.check(at('other', 'in', 'new')), at('code', 'new'))
  t.strictSame(confine([at('other', 'in')], at('home')).roots, [at('code')])
})

t.test('a tilde is the home directory, and only at the start', async t => {
  const { at } = places(t)
  const everywhere = confine([homedir()], at('home'))
  t.equal(everywhere.check('~'), realpathSync(homedir()))
  t.equal(everywhere.check('~/not-there'), join(realpathSync(homedir()), 'not-there'))
  t.equal(everywhere.check('~other'), join(realpathSync(homedir()), '~other'))
  t.throws(() => confine([], at('home')).check('x'), notAllowed('x'))
})

t.test('the own folder is off limits, but for one that is allowed within it', async t => {
  const { own, at } = places(t)
  const all = confine([own], at('home'))
  for (const path of [at('home'), at('home', 'keys'), at('home', 'demo')]) t.throws(() => all.check(path), isOwn)
  t.throws(() => confine([at('home')], at('home')).check(at('home', 'keys')), isOwn)
  const demo = confine([own, at('home', 'demo')], at('home'))
  t.equal(demo.check(at('home', 'demo', 'x')), at('home', 'demo', 'x'))
  t.throws(() => demo.check(at('home', 'keys')), isOwn)
})

t.test('what Git or a sign-in runs is read and not changed', async t => {
  const { at, confinement } = places(t)
  t.equal(confinement.checkChange('src/new.ts'), at('code', 'src', 'new.ts'))
  t.throws(() => confinement.checkChange(at('other')), notAllowed(at('other')))
  for (const path of ['.git', '.git/hooks/pre-commit', 'src/.GIT/config']) {
    t.equal(confinement.check(path), at('code', ...path.split('/')))
    t.throws(() => confinement.checkChange(path), { message: 'Files that Git runs cannot be changed from a phone.' }, path)
  }
  const everywhere = confine([homedir()], at('home'))
  for (const path of ['.bashrc', '.ssh', '.SSH/authorized_keys', '.config/git/config', '.config/nushell/env.nu'])
    t.throws(() => everywhere.checkChange(path), { message: 'Files that run at sign-in cannot be changed from a phone.' }, path)
  for (const path of ['code/.bashrc', '.config', '.config/gitk', '.config/nushell/other.nu', 'code/.ssh'])
    t.equal(everywhere.checkChange(path), join(realpathSync(homedir()), path))
})

t.test('words for a program may name what exists only where a phone may work', async t => {
  const { at, confinement } = places(t)
  mkdirSync(at('other', 'deep'))
  symlinkSync(at('other', 'deep'), at('code', 'out'))
  const src = at('code', 'src')
  confinement.checkWords(['--flag', 'a.txt', '../a.txt', '.', src, '../../nothing', '/nothing/there'], src)
  for (const word of ['../..', at('other'), '../../other', `..${sep}out`, '../out/..'])
    t.throws(() => confinement.checkWords(['fine', word], src), { message: /is not allowed on this computer/ }, word)
})
