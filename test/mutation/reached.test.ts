import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lookAtTests } from './reached.ts'

const source = 'export const sign = (n: number) => n < 0 ? -1 : 1\n'

t.test('each test is looked at once, and again when it has changed', async t => {
  const tested = (n: number) => `import { sign } from '../sign.ts'\nsign(${n})`
  const root = t.testdir({
    'sign.ts': source,
    'other.ts': 'export const other = () => 1',
    test: { 'below.mjs': tested(-3), 'above.mjs': tested(3), 'broken.mjs': 'process.exit(1)' }
  })
  const tests = ['below', 'above', 'broken'].map(name => `test/${name}.mjs`)
  const kept = join(t.testdirName, 'kept.jsonl')
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const said: string[] = []
  const look = async (changed: Record<string, string> = {}) => {
    for (const [file, text] of Object.entries(changed)) writeFileSync(join(root, file), text)
    const texts = new Map(['sign.ts', 'other.ts'].map(file => [file, read(file)]))
    return await lookAtTests({ root, files: [...texts.keys(), ...tests], tests, read, texts, kept, show: line => said.push(line) })
  }
  const lines = () => readFileSync(kept, 'utf8').match(/"test":/g)?.length
  const places = async (looked: ReturnType<typeof look>) =>
    (await looked).entries().map(([test, known]) => [test, known.places.size, known.whole.size])
  const sorted = async (looked: ReturnType<typeof look>) => [...(await places(looked))].sort()

  const all = [
    ['test/above.mjs', 2, 2],
    ['test/below.mjs', 2, 2]
  ]
  t.same(await sorted(look()), all)
  t.same(said, ['these fail here: test/broken.mjs'])
  t.same(await sorted(look()), all)
  t.equal(lines(), 2, 'what is known is not run again')
  t.same(await sorted(look({ 'test/below.mjs': `${tested(-3)}\nsign(3)` })), [all[0], ['test/below.mjs', 3, 2]])
  t.equal(lines(), 3)
  t.same(
    await sorted(look({ 'sign.ts': `${source}\n` })),
    [
      ['test/above.mjs', 0, 1],
      ['test/below.mjs', 0, 1]
    ],
    'nothing is known of a source that has changed'
  )
})
