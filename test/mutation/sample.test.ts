import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { functionsOf } from './mutations.ts'
import { allParts, draw, partOf } from './sample.ts'
import { summaryOf, survey } from './survey.ts'
import { parse } from './syntax.ts'
import { TreeCopy } from './trial.ts'

const limits = { files: 1, seconds: 15, secondsOfFile: 10 }
const root = join(import.meta.dirname, '../..')

t.test('a change is killed by the test that notices it, in a copy of the tree', async t => {
  const before = 'export const double = (n: number) => n * 2\nexport const half = (n: number) => n / 2\n'
  const tested = (title: string, body: string) => `import { double } from '../double.ts'\nconsole.log('# Subtest: ${title}')\n${body}`
  const tree = t.testdir({
    'double.ts': before,
    'package.json': JSON.stringify({ tap: { 'node-arg': ['--import=./first.mjs'] } }),
    'first.mjs': 'globalThis.isFirst = true',
    test: {
      'two.mjs': tested('two of two', "if (double(2) !== 4) { console.log('not ok 1 - four'); process.exit(1) }"),
      'loop.mjs': tested('an end', 'if (double(1) === 0) setInterval(() => {}, 1000)'),
      'kept.mjs': tested('no exit', "if (double(2) !== 4) console.log('not ok 1 - four\\nBail out! four')"),
      'broken.mjs': 'process.exit(1)',
      'other.mjs': tested('nothing of it', 'if (!globalThis.isFirst) process.exit(1)')
    }
  })
  const source = parse(new Map([['double.ts', before]])).get('double.ts')
  const [double, half] = source
    ? functionsOf(source)
        .flatMap(({ mutations }) => mutations)
        .map(({ reaching }) => ({ file: 'double.ts', reaching }))
    : []
  if (!double || !half) throw new Error('no places')
  const names = ['two', 'loop', 'kept', 'broken', 'other']
  const copy = new TreeCopy(tree, ['double.ts', 'first.mjs', ...names.map(name => `test/${name}.mjs`)], [double, half])
  const tried = async (from: string, to: string, names: readonly string[], seconds = 20) => {
    const at = before.indexOf(from)
    const change = { ...(from === '* 2' ? double : half), edit: { from: at, to: at + from.length, text: to } }
    const near = names.map(name => ({ test: `test/${name}.mjs`, opensApp: false, opensBrowser: false }))
    const { verdict, by, ran } = await copy.try(change, near, { files: 1, seconds, secondsOfFile: 6 })
    return [verdict, by, ran.length]
  }
  t.same(await tried('/ 2', '/ 3', ['other']), ['not reached', undefined, 1], 'it starts with what each test of a run starts with')
  t.same(await tried('/ 2', '/ 4', ['other']), ['not reached', undefined, 0], 'a test that is known to call others only is left out')
  t.same(await tried('* 2', '* 3', ['loop', 'two']), ['survived', undefined, 1], 'as many tests as should call it passed')
  t.same(await tried('* 2', '* 4', ['loop', 'two'], 0), ['limit met', undefined, 0])
  t.same(await tried('* 2', '* 5', ['two']), ['killed', 'test/two.mjs: two of two', 1])
  t.same(await tried('* 2', '* 1 * 2', ['two']), ['survived', undefined, 1])
  t.same(await tried('* 2', '* 0', ['loop']), ['killed', 'test/loop.mjs, which did not end', 1])
  t.same(await tried('* 2', '* 8', ['kept']), ['killed', 'test/kept.mjs: no exit', 1], 'its program could not exit')
  t.same(await tried('* 2', '* 6', ['broken']), ['unfit', undefined, 1], 'a test that always fails says nothing')
  t.same(
    await tried('* 2', '* 7', ['other', 'broken', 'two']),
    ['killed', 'test/two.mjs: two of two', 1],
    'those known to reach it are first'
  )
  copy.close()
  t.equal(readFileSync(join(tree, 'double.ts'), 'utf8'), before)
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
