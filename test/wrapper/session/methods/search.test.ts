import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findProgram } from '../../../../lib/program-in-path.ts'
import { confine } from '../../../../lib/wrapper/home/confinement.ts'
import { rankPaths } from '../../../../lib/wrapper/session/methods/file-names.ts'
import { searchMethods } from '../../../../lib/wrapper/session/methods/search.ts'
import { lacks } from '../../../kit/needs.ts'
import { makeRepository } from '../../kit/repository.ts'

/** A folder with files, with just the programs that are named. */
function folder(t: Test, programs: readonly string[], { isRepository = true } = {}) {
  const repository = isRepository ? makeRepository(t) : undefined
  const folder = repository?.folder ?? realpathSync(t.testdir({}))
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write('src/a.ts', 'one\nconst Needle = "needle"\r\nthree\n')
  write('src/b.md', 'a needle here\n')
  write('--odd name', 'needle\n')
  write('deep/er/still.ts', `${'x'.repeat(1000)}needle${'y'.repeat(1000)}\n`)
  write('binary', '\0needle')
  if (isRepository) {
    write('.gitignore', 'ignored.txt\n')
    write('ignored.txt', 'needle\n')
  }
  const bin = join(folder, '.git', 'bin')
  mkdirSync(bin, { recursive: true })
  for (const program of programs) symlinkSync(findProgram(program, process.env) ?? program, join(bin, program))
  const confinement = confine([folder], join(folder, 'none'))
  const env = { ...(repository?.env ?? {}), PATH: bin }
  const { searchText, findFiles, difftastic } = searchMethods({ confinement: () => confinement, env })
  if (!searchText || !findFiles || !difftastic) throw new Error('a method is missing')
  return { folder, bin, searchText, findFiles, difftastic }
}

const ways: [string, readonly string[], { isRepository?: boolean }][] = [
  ['ripgrep', ['rg'], {}],
  ['git', ['git'], {}],
  ['neither', [], { isRepository: false }]
]

for (const [name, programs, options] of ways) {
  const skip = name === 'ripgrep' && lacks('ripgrep')
  t.test(`text is found with ${name}, line by line, whatever its characters`, { skip }, async t => {
    const { searchText } = folder(t, programs, options)
    const { files, isCut } = await searchText({ query: 'needle' })
    t.equal(isCut, false)
    t.same(files.map(({ path }) => path).toSorted(), ['--odd name', 'deep/er/still.ts', 'src/a.ts', 'src/b.md'])
    const a = files.find(({ path }) => path === 'src/a.ts')?.lines
    t.match(a, [
      {
        number: 2,
        text: 'const Needle = "needle"',
        ranges: [
          { from: 6, to: 12 },
          { from: 16, to: 22 }
        ]
      }
    ])
    const [packed] = files.find(({ path }) => path === 'deep/er/still.ts')?.lines ?? []
    t.equal(packed?.text.length, 400)
    t.equal(packed?.text.slice(packed.ranges?.[0]?.from, packed.ranges?.[0]?.to), 'needle')
    t.match((await searchText({ query: 'Needle', isCaseSensitive: true })).files, [{ path: 'src/a.ts', lines: { length: 1 } }])
    t.same(
      (await searchText({ query: 'needle', glob: '*.md' })).files.map(({ path }) => path),
      ['src/b.md']
    )
    for (const query of ['--files', '-e', 'ne.dle', '$(id)', 'nothing of this'])
      t.strictSame(await searchText({ query }), { files: [], isCut: false }, query)
    await t.rejects(async () => searchText({ query: 'needle', glob: '../secret/*' }), /may not leave the folder/)
    if (name === 'neither') await t.rejects(async () => searchText({ query: 'ne+dle', isRegex: true }), /needs ripgrep/)
    else {
      t.equal((await searchText({ query: 'ne+dle', isRegex: true })).files.length, 4)
      await t.rejects(async () => searchText({ query: '(', isRegex: true }), /cannot be searched for/)
    }
  })

  t.test(`files are found with ${name} by parts of their names`, { skip }, async t => {
    const { folder: where, findFiles } = folder(t, programs, options)
    symlinkSync('/etc', join(where, 'way-out'))
    t.strictSame((await findFiles({ query: 'a.ts' })).paths, ['src/a.ts'])
    t.strictSame((await findFiles({ query: 'still' })).paths, ['deep/er/still.ts'])
    t.strictSame((await findFiles({ query: 'passwd' })).paths, [])
    t.match(await findFiles({ query: '', limit: 2 }), { paths: { length: 2 }, isCut: true })
    if (options.isRepository !== false) t.strictSame((await findFiles({ query: 'ignored.txt' })).paths, [])
  })
}

t.test('a very long list of hits is cut', async t => {
  const { folder: where, searchText } = folder(t, [], { isRepository: false })
  writeFileSync(join(where, 'many.txt'), 'thread\n'.repeat(2000))
  const { files, isCut } = await searchText({ query: 'thread' })
  t.same([files[0]?.lines.length, isCut], [500, true])
})

t.test('the best name comes first', async t => {
  const paths = ['lib/callback/index.ts', 'test/callback.test.ts', 'src/callback.ts', 'c/a/l/lback.ts', 'other.ts']
  t.equal(rankPaths(paths, 'callback.ts')[0], 'src/callback.ts')
  t.strictSame(rankPaths(paths, 'Callback'), ['src/callback.ts', 'test/callback.test.ts', 'lib/callback/index.ts', 'c/a/l/lback.ts'])
  const ranked = ['lib/cut', 'lib/cut.ts', 'lib/uncut.ts', 'cut/a.ts', 'c/u/t.ts']
  t.strictSame(
    rankPaths(ranked.toReversed(), ' CUT '),
    ranked,
    'the whole name, its beginning, a part of it, of the path, and letters in order'
  )
  t.strictSame(rankPaths(['b.ts', 'a.ts', 'a.ts', 'aa.ts'], 'ts'), ['a.ts', 'a.ts', 'b.ts', 'aa.ts'])
  t.strictSame(rankPaths(['b/c.ts', 'z.ts', 'a.ts'], ''), ['a.ts', 'z.ts', 'b/c.ts'])
})

t.test('difftastic runs if installed, on files of the folder only', async t => {
  const { bin, difftastic } = folder(t, [])
  t.match(await difftastic({ args: ['a', 'b'] }), { success: false, exitCode: -1, error: /not installed/ })
  writeFileSync(join(bin, 'difft'), '#!/bin/sh\necho "$@"\nexit 1\n')
  chmodSync(join(bin, 'difft'), 0o755)
  t.match(await difftastic({ args: ['--color=never', 'src/a.ts', 'src/b.md'], cwd: '/' }), {
    success: false,
    exitCode: 1,
    stdout: '--color=never -- src/a.ts src/b.md\n'
  })
  for (const strange of ['--override=*.ts:JSON', '--list-languages', '-h', '--col=never', '--color=never;sh'])
    await t.rejects(async () => difftastic({ args: [strange, 'src/a.ts', 'src/b.md'] }), /not available/, strange)
  await t.rejects(async () => difftastic({ args: ['src/a.ts', '../secret/key.txt'] }), /allowed/)
  await t.rejects(async () => difftastic({ args: [], cwd: '/etc' }), /allowed/)
})
