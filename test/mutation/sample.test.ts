import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { allParts, draw, partOf } from './sample.ts'
import { summaryOf, survey } from './survey.ts'
import { TreeCopy } from './trial.ts'

const limits = { files: 1, seconds: 15, secondsOfFile: 10 }
const root = join(import.meta.dirname, '../..')

t.test('a change is killed by the test that notices it, in a copy of the tree', async t => {
  const before = 'export const double = n => n * 2\nexport const half = n => n / 2\n'
  const tested = (title: string, body: string) => `import { double } from '../double.mjs'\nconsole.log('# Subtest: ${title}')\n${body}`
  const tree = t.testdir({
    'double.mjs': before,
    test: {
      'two.mjs': tested('two of two', "if (double(2) !== 4) { console.log('not ok 1 - four'); process.exit(1) }"),
      'loop.mjs': tested('an end', 'if (double(1) === 0) setInterval(() => {}, 1000)'),
      'broken.mjs': 'process.exit(1)'
    }
  })
  const copy = new TreeCopy(tree, ['double.mjs', 'test/two.mjs', 'test/loop.mjs', 'test/broken.mjs'])
  const tried = async (from: string, to: string, ...tests: string[]) => {
    const text = (code: string) => before.replace('n => ', `n => (${code}, `).replace('* 2\n', '* 2)\n').replace(from, to)
    const near = tests.map(name => ({ test: `test/${name}.mjs`, opensApp: false }))
    const { verdict, by, ran } = await copy.try({ file: 'double.mjs', text }, near, { files: 2, seconds: 20, secondsOfFile: 2 })
    return [verdict, by, ran.length]
  }
  t.same(await tried('* 2', '* 3', 'loop', 'two'), ['killed', 'test/two.mjs: two of two', 2])
  t.same(await tried('* 2', '* 1 * 2', 'two'), ['survived', undefined, 1])
  t.same(await tried('* 2', '* 0', 'loop'), ['killed', 'test/loop.mjs, which did not end', 1])
  t.same(await tried('* 2', '* 3', 'broken'), ['unfit', undefined, 1], 'a test that always fails says nothing')
  t.same(await tried('* 2', '* 3', 'broken', 'two'), ['killed', 'test/two.mjs: two of two', 2])
  t.same(await tried('/ 2', '/ 3'), ['not reached', undefined, 0])
  copy.close()
  t.equal(readFileSync(join(tree, 'double.mjs'), 'utf8'), before)
})

t.test('a seed draws the same changes of a part, however many and of whichever parts', async t => {
  const files = ['lib/async/backoff.ts', 'lib/server/limits.ts', 'web/session/row/row.tsx', 'lib/server/hub/hub.ts']
  const texts = new Map(files.filter(file => existsSync(join(root, file))).map(file => [file, readFileSync(join(root, file), 'utf8')]))
  const drawn = (options: Parameters<typeof draw>[1]) =>
    draw(texts, options).map(({ part, number, file, kind, after }) => [part, number, file, kind, after].join())
  const all = drawn({ seed: 7, count: 12 })
  t.equal(new Set(all).size, 12)
  t.same(drawn({ seed: 7, count: 6 }), all.slice(0, 6))
  for (const part of allParts) {
    const own = all.filter(each => each.startsWith(part))
    t.equal(own.length, 4)
    t.same(drawn({ seed: 7, count: 4, parts: [part] }), own)
  }
  t.notSame(drawn({ seed: 8, count: 12 }), all)
  t.same(['test/kit/reach.ts', 'bin/packaging/binary.ts', 'web/words/home.ts', 'docs/api.ts', 'web/bundle.mjs'].map(partOf), Array(5))
})

t.test('two changes of the day are tried; a file of results goes on where it ended', async t => {
  // Small modules with quick tests. What survives is for people to read, and fails nothing.
  const only = (file: string) => /^lib\/(?:async|crypto)\//.test(file)
  const seed = Number(new Date().toISOString().slice(0, 10).replaceAll('-', ''))
  const out = join(t.testdir(), 'results.jsonl')
  const lines: string[] = []
  const show = (line: string) => lines.push(line)
  const options = { root, seed, parts: ['wrapper' as const], only, out, limits, show }
  const [first] = await survey({ ...options, count: 1 })
  const results = await survey({ ...options, count: 2 })
  process.stderr.write(`Changes of the day:\n${lines.join('\n')}\n`)
  t.same(results[0], first)
  t.equal(lines.length, 4, 'each is shown once, and each run has a summary')
  t.equal(lines[3], summaryOf('wrapper', results))
  for (const { file, before } of results) t.ok(readFileSync(join(root, file), 'utf8').includes(before))
  t.same(
    results.map(({ ran }) => ran.length > 0),
    [true, true]
  )
  await t.rejects(
    survey({ ...options, count: 1, only: file => only(file) && file !== results[0]?.file }),
    { message: /The sources have changed/ },
    'results of other sources are not mixed with these'
  )
})
