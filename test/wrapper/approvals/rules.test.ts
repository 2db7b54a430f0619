import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { DecisionEntry } from '../../../lib/protocol/sealed/decisions/rules.ts'
import { openDecisionLog, openRules, ruleMethods } from '../../../lib/wrapper/approvals/rules.ts'

const root = mkdtempSync(join(tmpdir(), 'afield-rules-'))
t.teardown(() => rmSync(root, { recursive: true, force: true }))
const newHome = () => mkdtempSync(join(root, 'home-'))
const npmTest = { on: 'command' as const, pattern: 'npm test', folder: root }

t.test('rules are private to their owner, and all kinds end when due', async t => {
  const home = newHome()
  let time = 1000
  const rules = openRules(home, () => time)
  const kept = rules.set({ ...npmTest, endsAt: 5000 }, 'Tablet')
  rules.set({ ...npmTest, pattern: 'npm run *', session: 's1' })
  t.equal(statSync(join(home, 'rules.json')).mode & 0o777, 0o600)
  t.match(rules.read().rules, [
    { pattern: 'npm test', madeBy: 'Tablet', madeAt: 1000, used: 0, endsAt: 5000 },
    { pattern: 'npm run *', session: 's1' }
  ])
  rules.used(kept.id)
  rules.set({ id: kept.id, ...npmTest, pattern: 'npm run test', endsAt: 6000 })
  t.match(
    rules.read().rules.find(({ id }) => id === kept.id),
    { pattern: 'npm run test', used: 1, usedAt: 1000, madeAt: 1000 }
  )
  time = 6000
  t.same(
    rules.read().rules.map(({ pattern }) => pattern),
    ['npm run *']
  )
  rules.endSession('s1')
  t.same(rules.read().rules, [])
  t.throws(() => rules.set({ ...npmTest, endsAt: 1 }), /already have expired/)
  t.throws(() => rules.set({ ...npmTest, pattern: 'bash *' }), /any command/)
  t.throws(() => rules.set({ ...npmTest, id: 'gone' }), /no longer exists/)
})

t.test('rules written down without being paused apply', async t => {
  const home = newHome()
  openRules(home).set(npmTest)
  const file = join(home, 'rules.json')
  const { isPaused, rules } = JSON.parse(readFileSync(file, 'utf8'))
  t.equal(isPaused, false)
  writeFileSync(file, JSON.stringify({ rules }))
  t.match(openRules(home).read(), { isPaused: false, rules: [{ pattern: 'npm test' }] })
  writeFileSync(file, JSON.stringify({ rules, isPaused: true }))
  t.equal(openRules(home).read().isPaused, true)
})

t.test('unreadable rules allow nothing, and are not overwritten', async t => {
  const home = newHome()
  writeFileSync(join(home, 'rules.json'), '{"rules":')
  const rules = openRules(home)
  t.throws(() => rules.read(), /cannot be read/)
  t.throws(() => rules.set(npmTest), /cannot be read/)
})

t.test("of many processes that use and create rules at once none undoes another's changes", async t => {
  const home = newHome()
  const rules = openRules(home)
  const busy = rules.set(npmTest)
  const removed = rules.set({ ...npmTest, pattern: 'npm run x' })
  const script = `
    import { openRules } from ${JSON.stringify(resolve('lib/wrapper/approvals/rules.ts'))}
    const rules = openRules(${JSON.stringify(home)})
    for (let n = 0; n < 10; n++) rules.used(${JSON.stringify(busy.id)})`
  const processes = Array.from({ length: 2 }, () => spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' }))
  const ends = processes.map(child => once(child, 'exit'))
  rules.remove(removed.id)
  t.same(
    (await Promise.all(ends)).map(([code]) => code),
    [0, 0]
  )
  t.match(rules.read().rules, [{ id: busy.id, used: 20 }])
  t.equal(rules.read().rules.length, 1)
})

t.test('the lock of a dead process is removed', async t => {
  const home = newHome()
  const gone = spawn(process.execPath, ['-e', ''])
  await once(gone, 'exit')
  writeFileSync(join(home, 'rules.json.lock'), String(gone.pid))
  t.equal(openRules(home).set(npmTest).pattern, 'npm test')
})

const entry = (what: string, more: Partial<DecisionEntry> = {}): DecisionEntry => ({
  at: 1,
  folder: root,
  on: 'command',
  tool: 'Bash',
  what,
  paths: [],
  isOdd: false,
  level: 'plain',
  reasons: [],
  answer: 'allowed',
  ...more
})

t.test('the decision log is private, bounded, and readable after a torn line', async t => {
  const home = newHome()
  const log = openDecisionLog(home, 4000)
  log.add(entry('one'))
  writeFileSync(join(home, 'decisions.log'), '\n{"at":2,"fol', { flag: 'a' })
  log.add(entry('two'))
  t.same(
    log.read().map(({ what }) => what),
    ['two', 'one']
  )
  t.equal(statSync(join(home, 'decisions.log')).mode & 0o777, 0o600)
  for (let n = 0; n < 200; n++) log.add(entry(`command ${n}`))
  const read = log.read()
  t.equal(read[0]?.what, 'command 199')
  t.ok(read.length < 80, 'the oldest are gone')
  t.ok(statSync(join(home, 'decisions.log')).size < 4300)
  t.ok(statSync(join(home, 'decisions.log.1')).size < 4300)
})

t.test('a device gets the decisions made on it, latest first, and none that only claim to be its own', async t => {
  const home = newHome()
  const log = openDecisionLog(home)
  log.add(entry('first', { at: 1, device: 'd1', by: 'Tablet' }))
  log.add(entry('by another that calls itself so', { at: 2, device: 'd2', by: 'Tablet' }))
  log.add(entry('at the terminal', { at: 3, by: 'the terminal' }))
  log.add(entry('x'.repeat(900), { at: 4, device: 'd1', paths: ['/a'] }))
  for (let n = 0; n < 3; n++) log.add(entry('of another', { at: 5 + n, device: 'd2' }))
  const { entries } = await ruleMethods(home).decisions({ device: 'd1' })
  t.match(entries, [
    { at: 4, what: 'x'.repeat(300), paths: [] },
    { at: 1, what: 'first', by: 'Tablet' }
  ])
  t.equal(entries.length, 2)
  t.equal(entries[0]?.what.length, 300)
  t.strictSame(entries[0]?.paths, [])
  for (let n = 0; n < 99; n++) log.add(entry(`more ${n}`, { at: 10 + n, device: 'd1' }))
  const more = (await ruleMethods(home).decisions({ device: 'd1' })).entries
  t.equal(more.length, 100)
  t.same([more[0]?.what, more[99]?.at], ['more 98', 4])
})

t.test('a dry run lists which recent decisions a pattern would have allowed', async t => {
  const home = newHome()
  const log = openDecisionLog(home)
  for (let n = 0; n < 60; n++) log.add(entry(n % 2 === 0 ? 'npm run build' : 'npm test', { at: n }))
  log.add(entry('npm run x && rm y', { at: 70 }))
  log.add(entry('npm run deploy', { at: 71, level: 'risky', answer: 'denied' }))
  log.add(entry('npm run elsewhere', { at: 72, folder: '/' }))
  log.add(entry('src/a.ts', { at: 73, on: 'change' }))
  const methods = ruleMethods(home)
  const tried = await methods['rules-try']({ ...npmTest, pattern: 'npm run *' })
  t.match(tried, { looked: 50, passed: 23, entries: [{ what: 'npm run build', at: 58, answer: 'allowed' }] })
  t.equal(tried.entries.length, 23)
  t.throws(() => methods['rules-try']({ ...npmTest, pattern: '*' }), /cannot be a wildcard/)
})

t.test('a phone lists, changes, pauses and removes rules', async t => {
  const methods = ruleMethods(newHome())
  const { rule } = await methods['rules-set']({ rule: npmTest, madeBy: 'Phone' })
  t.match(await methods.rules({}), { isPaused: false, rules: [{ id: rule.id, madeBy: 'Phone', used: 0 }] })
  await methods['rules-pause']({ isPaused: true })
  t.match(await methods.rules({}), { isPaused: true })
  await methods['rules-remove']({ id: rule.id })
  t.strictSame(await methods.rules({}), { isPaused: true, rules: [] })
})

t.test('of at most 500 rules each can still be changed', async t => {
  const home = join(newHome(), 'created with its first rule')
  const rule = openRules(home).set(npmTest)
  const others = Array.from({ length: 498 }, (_, at) => ({ ...rule, id: `rule ${at}` }))
  writeFileSync(join(home, 'rules.json'), JSON.stringify({ rules: [rule, ...others] }))
  const rules = openRules(home)
  rules.set({ ...npmTest, pattern: 'npm start' })
  t.equal(rules.read().rules.length, 500)
  t.throws(() => rules.set({ ...npmTest, pattern: 'npm run build' }), /too many rules/)
  t.equal(rules.set({ ...npmTest, id: rule.id, pattern: 'npm run check' }).id, rule.id)
  rules.remove('rule 7')
  rules.set({ ...npmTest, pattern: 'npm run build' })
  t.equal(rules.read().rules.length, 500)
})
