import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { StatusFile } from '../../../../lib/client/calls/git-output.ts'
import { countAll } from '../../../../lib/wrapper/session/methods/git-counts.ts'
import type { Git } from '../../../../lib/wrapper/session/methods/git-program.ts'

const mostBytes = 512 * 1024
const newFile = (path: string): StatusFile => ({ path, letter: '?', isStaged: false, isUnstaged: true })

/** Counts files of a folder with a git that answers with these counts, and says what it was asked. */
function counting(t: Test, numstat = '') {
  const folder = t.testdir({})
  const asked: (readonly string[])[] = []
  const read: Git['read'] = async args => {
    asked.push(args)
    return { exitCode: 0, stdout: Buffer.from(args[0] === 'hash-object' ? 'empty-tree\n' : numstat), stderr: '', isCut: false }
  }
  return {
    folder,
    asked,
    write: (path: string, content: string | Uint8Array) => writeFileSync(join(folder, path), content),
    count: (files: readonly StatusFile[], { prefix = '', hasCommit = true } = {}) =>
      countAll({ read, act: read }, { folder, prefix, hasCommit, files })
  }
}

t.test('the lines of a new file are counted up to 512 KiB', async t => {
  const { write, count } = counting(t)
  write('fits', '\n'.repeat(mostBytes))
  write('large', '\n'.repeat(mostBytes + 1))
  write('empty', '')
  write('picture', new Uint8Array([1, 0, 2]))
  const [fits, large, empty, picture, gone] = await count(['fits', 'large', 'empty', 'picture', 'gone'].map(newFile))
  t.match(fits, { added: mostBytes, removed: 0 })
  t.notOk(large && 'added' in large)
  t.match(empty, { added: 0, removed: 0 })
  t.match(picture, { isBinary: true })
  t.same(Object.keys(gone ?? {}), ['path', 'letter', 'isStaged', 'isUnstaged', 'mark'])
})

t.test('a new link counts as the one line that git stores, whatever it points to, and a folder as nothing', async t => {
  const { folder, write, count } = counting(t)
  write('three', '1\n2\n3\n')
  symlinkSync('three', join(folder, 'link'))
  symlinkSync('nowhere', join(folder, 'broken'))
  mkdirSync(join(folder, 'repository'))
  const [link, broken, repository] = await count(['link', 'broken', 'repository'].map(newFile))
  t.match(link, { added: 1, removed: 0 })
  t.match(broken, { added: 1, removed: 0 })
  t.notOk(repository && 'added' in repository)
})

t.test('of many new files the first 300 are counted, and all are marked', async t => {
  const { write, count } = counting(t, '1\t2\tchanged\0')
  const names = Array.from({ length: 302 }, (_, index) => `new-${index}`)
  for (const name of names) write(name, 'a\n')
  const changed: StatusFile = { path: 'changed', letter: 'M', isStaged: false, isUnstaged: true, head: 'h', index: 'i' }
  const files = await count([changed, ...names.map(newFile)])
  t.match(files[0], { added: 1, removed: 2 })
  t.equal(files.filter(file => file.letter === '?' && file.added === 1).length, 300, 'changed ones are not among them')
  t.ok(files.every(({ mark }) => mark?.length === 16))
})

t.test('a changed file has the counts of git, by its path from the top of the repository', async t => {
  const changed = (path: string): StatusFile => ({ path, letter: 'M', isStaged: true, isUnstaged: false, head: 'h', index: 'i' })
  const { write, count } = counting(t, '3\t1\tsub/a\0-\t-\tsub/b\0' + '9\t9\ta\0' + '4\t0\t\0old\0sub/c\0')
  for (const path of ['a', 'b', 'c']) write(path, 'x')
  const [a, b, c] = await count([changed('a'), changed('b'), changed('c')], { prefix: 'sub/' })
  t.match(a, { added: 3, removed: 1 })
  t.match(b, { isBinary: true })
  t.match(c, { added: 4, removed: 0 })
  t.notOk(c && 'from' in c, 'where it came from is in its status')
})

t.test('before the first commit everything is compared with nothing', async t => {
  const { count, asked } = counting(t)
  await count([])
  await count([], { hasCommit: false })
  t.same(
    asked.filter(([command]) => command === 'diff').map(args => args.at(-3)),
    ['HEAD', 'empty-tree']
  )
})

t.test('a mark changes with the content, with its base, and with the commit of a folder that is a repository, not by staging', async t => {
  const { folder, write, count } = counting(t)
  mkdirSync(join(folder, 'repository'))
  write('a', 'one')
  const markOf = async (path: string, head: string, index: string) => {
    const [file] = await count([{ path, letter: 'M', isStaged: false, isUnstaged: true, head, index }])
    return file?.mark
  }
  const first = await markOf('a', 'h', 'i')
  t.equal(await markOf('a', 'h', 'j'), first)
  t.not(await markOf('a', 'g', 'i'), first)
  write('a', 'three')
  t.not(await markOf('a', 'h', 'i'), first)
  t.not(await markOf('repository', 'h', 'i'), await markOf('repository', 'h', 'j'))
  t.not(await markOf('missing', 'h', 'i'), await markOf('missing', 'h', 'j'))
})
