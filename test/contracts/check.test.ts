import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkWith } from './check.ts'

// Its parts are run at once, outside of any runner.
const { ok, fail, equal, not, same, strictSame, match, rejects, doesNotThrow } = checkWith((_, part) => Promise.resolve(void part))

t.test('each check of a contract passes what is right and rejects what is wrong', async t => {
  const row = Object.assign(Object.create(null), { id: 'a', parts: [1, { deep: 'text' }], bytes: new Uint8Array([1, 2]) })
  const plainRow = { id: 'a', parts: [1, { deep: 'text' }], bytes: new Uint8Array([1, 2]) }
  const right = [
    () => ok(1),
    () => equal('a', 'a'),
    () => not('a', 'b'),
    () => same(row, plainRow),
    () => strictSame(plainRow, { ...plainRow }),
    () => match(row, { parts: [Number, { deep: /^te/ }], id: String }),
    () => match(new Date(), Date),
    () => doesNotThrow(() => {})
  ]
  const wrong = [
    () => ok(0),
    () => fail('why'),
    () => equal('1', 1),
    () => not('a', 'a'),
    () => same(row, { ...plainRow, parts: [1, { deep: 'other' }] }),
    () => same({ a: undefined }, {}),
    () => same(row, { ...plainRow, bytes: new Uint8Array([1, 3]) }),
    () => strictSame(row, plainRow),
    () => match(row, { parts: [Number] }),
    () => match(row, { id: 'b' }),
    () => match(row, { more: 'than there is' }),
    () => match('text', { length: 4 }),
    () => match(1, String),
    () => doesNotThrow(() => fail())
  ]
  for (const check of right) t.doesNotThrow(check, String(check))
  for (const check of wrong) t.throws(check, String(check))
  await rejects(Promise.reject(new TypeError('late')), { name: 'TypeError', message: 'late' })
  await t.rejects(rejects(Promise.resolve()))
  await t.rejects(rejects(Promise.reject(new Error('other')), { message: 'late' }))
})

t.test('tests of Node.js run the parts of a contract in order, and its teardowns, the last one first', t => {
  const { lines, status } = runOf(
    t,
    `
    check.test('one', async t => {
      t.teardown(() => console.log('> closed first'))
      t.teardown(() => console.log('> closed last'))
      t.test('inner one', async () => console.log('> inner one'))
      t.test('inner two', async () => console.log('> inner two'))
      console.log('> one')
    })
    check.test('two', async t => console.log('> two'))`
  )
  t.same(lines, ['one', 'inner one', 'inner two', 'closed last', 'closed first', 'two'])
  t.equal(status, 0)
  t.end()
})

t.test('a part that fails fails the test of Node.js around it, and the others still run', t => {
  const { lines, status } = runOf(
    t,
    `
    check.test('one', async t => {
      t.teardown(() => console.log('> closed'))
      t.test('inner', async t => t.equal(1, 2))
    })
    check.test('two', async t => console.log('> two'))`
  )
  t.same(lines, ['closed', 'two'])
  t.equal(status, 1)
  t.end()
})

/** Runs tests of Node.js in a program of their own; what they print begins with `> `. */
function runOf(t: Test, parts: string): { lines: string[]; status: number | null } {
  const file = join(t.testdir(), 'parts.ts')
  const imports = `import { test } from 'node:test'\nimport { checkWith } from ${JSON.stringify(join(import.meta.dirname, 'check.ts'))}\n`
  writeFileSync(file, `${imports}const check = checkWith(test)\n${parts}`)
  const { stdout, status } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
  return { lines: [...stdout.matchAll(/^> (.*)$/gm)].map(([, line = '']) => line), status }
}
