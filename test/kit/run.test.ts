import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const runner = join(import.meta.dirname, 'run.mjs')
const root = join(import.meta.dirname, '..', '..')

/** What a run of test files with these contents prints, and its exit code. */
function run(t: Test, files: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}) {
  const folder = t.testdir(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, `import t from 'tap'\n${text}\n`])))
  const paths = Object.keys(files).map(name => join(folder, name))
  const text = `const { runTests } = await import(${JSON.stringify(runner)}); process.exit(await runTests(${JSON.stringify(paths)}))`
  const { AFIELD_TEST_ALL: _, TAP: __, ...inherited } = process.env
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
    cwd: root,
    env: { ...inherited, ...env },
    encoding: 'utf8'
  })
  return { lines: stdout.trimEnd().split('\n'), status, folder }
}

const passing = `t.test('good', async t => t.pass())`
const skipping = (reason: string) => `t.test('away', { skip: ${JSON.stringify(reason)} }, async () => {})\n${passing}`

t.test('a skipped test fails a run of CI, also inside another, unless its reason is listed', t => {
  const inside = `t.test('outer', async t => { t.test('inner', { skip: 'a whim' }, async () => {}); t.pass() })`
  const files = { 'a.mjs': skipping('a whim'), 'b.mjs': skipping('no disk can be mounted here: no loop devices'), 'c.mjs': inside }
  const { lines, status } = run(t, files, { AFIELD_TEST_ALL: 'true' })
  t.equal(lines.at(-1), '3 passed, 2 failed, 1 skipped')
  t.equal(status, 1)
  t.same(lines.filter(line => line.includes('FAILED')).toSorted(), ['  FAILED away', '  FAILED outer > inner'])
  t.match(run(t, { 'a.mjs': skipping('a whim') }), { lines: { 1: '1 passed, 0 failed, 1 skipped' }, status: 0 }, 'elsewhere it passes')
  t.end()
})

t.test('a file that passes only alone is named at the end, with its test and why that failed', t => {
  const flaky = `
    import { existsSync, writeFileSync } from 'node:fs'
    t.test('once', async t => {
      if (existsSync(import.meta.filename + '.ran')) return t.pass()
      writeFileSync(import.meta.filename + '.ran', '')
      t.same({ a: 1 }, { a: 2 }, 'as before')
      throw new Error('it was late')
    })`
  const { lines, status, folder } = run(t, { 'a.mjs': passing, 'b.mjs': flaky })
  t.equal(status, 0)
  t.same(lines.slice(-4), [
    'Failed beside others and passed alone, so the test or what it tests depends on time or load:',
    `  ${folder}/b.mjs > once > as before: -  "a": 2,`,
    `  ${folder}/b.mjs > once > it was late`,
    '2 passed, 0 failed'
  ])
  t.end()
})

t.test('one that fails again has failed, and counts once', t => {
  const { lines, status } = run(t, { 'a.mjs': passing, 'b.mjs': `t.test('bad', async t => t.fail('no'))\n${passing}` })
  t.equal(lines.at(-1), '2 passed, 1 failed')
  t.equal(status, 1)
  t.end()
})
