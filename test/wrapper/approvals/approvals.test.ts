import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { PermissionAsk } from '../../../lib/wrapper/agents/agent.ts'
import { createApprovals } from '../../../lib/wrapper/approvals/approvals.ts'
import { openDecisionLog, openRules } from '../../../lib/wrapper/approvals/rules.ts'

const once = { id: 'yes', label: 'Yes', kind: 'allow_once' as const }

function ask(command: string, more: Partial<PermissionAsk['step']> = {}, choices: PermissionAsk['choices'] = [once]): PermissionAsk {
  const step = { call: 'call', name: 'Bash', title: command, kind: 'execute' as const, input: { command }, locations: [], content: [] }
  return { ask: 'ask', step: { ...step, ...more }, choices }
}

/** The approvals of a session, in a folder of its own. */
function inSession(t: Test, { session = 's1', isWhole = true }: { session?: string | undefined; isWhole?: boolean } = {}) {
  const top = t.testdir({ home: {}, code: {} })
  const [home, folder] = [join(top, 'home'), join(top, 'code')]
  const troubles: string[] = []
  const edited = new Set<string>()
  const now = { time: 5000, session: session as string | undefined }
  const approvals = createApprovals({
    home,
    folder,
    edited: { paths: edited, isWhole, add: paths => void paths.forEach(path => void edited.add(path)) },
    session: () => now.session,
    onTrouble: sentence => troubles.push(sentence),
    now: () => now.time
  })
  const rule = { on: 'command' as const, pattern: 'npm test', folder }
  return { home, folder, troubles, edited, now, approvals, rule, book: openRules(home), log: openDecisionLog(home) }
}

t.test('a rule that applies in this session allows a request, and each use is counted', t => {
  const { approvals, book, rule } = inSession(t)
  const { id } = book.set({ ...rule, session: 's1' })
  t.match(approvals.judge(ask('npm test')), { rule: { id }, risk: { level: 'plain', knowsEdits: true } })
  t.match(book.read().rules, [{ used: 1, usedAt: 5000 }])
  t.equal(approvals.judge(ask('npm test'), { byRules: false }).rule, undefined, 'not when it is only judged')
  t.equal(approvals.judge(ask('npm test', {}, [{ ...once, kind: 'allow_always' }])).rule, undefined, 'nor without a yes for once')
  t.equal(approvals.judge(ask('npm publish')).rule, undefined)
  t.match(book.read().rules, [{ used: 1 }])
  book.pause(true)
  t.equal(approvals.judge(ask('npm test')).rule, undefined, 'nor while rules are paused')
  t.end()
})

t.test('a rule of another session allows nothing here, and one of no session does', t => {
  const { approvals, book, rule, folder } = inSession(t, { isWhole: false })
  book.set({ ...rule, session: 's2' })
  t.match(approvals.judge(ask('npm test')), {
    rule: undefined,
    suggestedRule: { pattern: 'npm test', folder },
    risk: { knowsEdits: false }
  })
  book.set(rule)
  t.match(approvals.judge(ask('npm test')), { rule: { pattern: 'npm test' } })
  t.notOk('suggestedRule' in approvals.judge(ask('npm test && npm start')), 'no one rule would allow this')
  t.end()
})

t.test('rules that cannot be read leave a request to a person, and are reported', t => {
  const { approvals, home, troubles, folder } = inSession(t)
  writeFileSync(join(home, 'rules.json'), '{')
  t.strictSame(approvals.judge(ask('npm test')), {
    risk: { level: 'plain', reasons: [], knowsEdits: true },
    suggestedRule: { on: 'command', pattern: 'npm test', folder }
  })
  t.equal(approvals.allowTools(ask('npm test'), ['Bash(npm test)'], undefined), undefined)
  approvals.end()
  t.match(troubles, [
    /^No rule was checked\. .*cannot be read/,
    /^It was allowed only once\. /,
    /^The rules of this session could not be removed\. /
  ])
  t.end()
})

t.test('a rule made from an answer allows what was asked, in this session, and nothing risky', t => {
  const { approvals, book, rule, now } = inSession(t)
  t.throws(() => approvals.makeRule(ask('git push --force'), { ...rule, pattern: 'git push --force' }, undefined), /only be allowed once/)
  t.throws(() => approvals.makeRule(ask('npm test'), { ...rule, pattern: '* test' }, undefined), /cannot be a wildcard/)
  t.throws(() => approvals.makeRule(ask('npm test'), { ...rule, session: 's2' }, undefined), /another session/)
  t.throws(() => approvals.makeRule(ask('npm test'), { ...rule, pattern: 'npm start' }, undefined), /does not allow what is asked/)
  t.same(book.read().rules, [])
  t.match(approvals.makeRule(ask('npm test'), { ...rule, session: 's1' }, 'Tablet'), { session: 's1', madeBy: 'Tablet', madeAt: now.time })
  t.match(approvals.makeRule(ask('npm test'), rule, undefined), { session: undefined })
  t.equal(book.read().rules.length, 2)
  t.end()
})

t.test("the tools of an existing app's yes make a rule for this session, or none", t => {
  const { approvals, book, now } = inSession(t)
  t.equal(approvals.allowTools(ask('npm test'), ['Write'], 'Phone'), undefined, 'another tool')
  t.equal(approvals.allowTools(ask('npm publish'), ['Bash(npm test)'], 'Phone'), undefined, 'another command')
  t.equal(approvals.allowTools(ask('git push --force'), ['Bash(git push --force)'], 'Phone'), undefined, 'a risky one')
  now.session = undefined
  t.equal(approvals.allowTools(ask('npm test'), ['Bash(npm test)'], 'Phone'), undefined, 'a session without a name')
  t.same(book.read().rules, [])
  now.session = 's1'
  t.match(approvals.allowTools(ask('npm test'), ['Bash(npm test)'], 'Phone'), { pattern: 'npm test', session: 's1', madeBy: 'Phone' })
  t.equal(book.read().rules.length, 1)
  t.end()
})

t.test('a decision is logged with where and what it was about, and by whom', t => {
  const { approvals, log, book, rule, folder, home, troubles, now } = inSession(t)
  approvals.note(ask('npm test', { input: { command: 'npm test', cwd: 'web' } }), { answer: 'allowed' })
  const first = {
    at: 5000,
    session: 's1',
    folder: join(folder, 'web'),
    on: 'command',
    tool: 'Bash',
    what: 'npm test',
    paths: [],
    isOdd: false
  }
  t.strictSame(log.read(), [{ ...first, level: 'plain', reasons: [], answer: 'allowed' }])
  now.session = undefined
  const by = { by: 'Tablet', device: 'd1', choice: 'always', rule: book.set(rule) }
  approvals.note(ask('npm test'), { answer: 'denied', ...by })
  t.match(log.read()[0], { folder, answer: 'denied', ...by, rule: 'npm test', session: undefined })
  t.equal(troubles.length, 0)
  approvals.note(ask('git push --force'), { answer: 'ended' })
  t.match(log.read()[0], { level: 'risky', reasons: ['rewrites-history'] })
  t.equal(statSync(join(home, 'decisions.log')).mode & 0o777, 0o600)
  t.end()
})

t.test('a decision that the log cannot hold in full counts as one that no rule allows', t => {
  const { approvals, log } = inSession(t)
  const lastOdd = () => log.read()[0]?.isOdd
  approvals.note(ask('x'.repeat(4000)), { answer: 'allowed' })
  t.equal(lastOdd(), false)
  approvals.note(ask('x'.repeat(4001)), { answer: 'allowed' })
  t.equal(lastOdd(), true)
  const edit = (count: number) =>
    ask('', { name: 'Edit', kind: 'edit', input: {}, locations: Array.from({ length: count }, (_, at) => `${at}.ts`) })
  approvals.note(edit(20), { answer: 'allowed' })
  t.match(log.read()[0], { isOdd: false, paths: { length: 20 } })
  approvals.note(edit(21), { answer: 'allowed' })
  t.match(log.read()[0], { isOdd: true, paths: { length: 20 } })
  t.end()
})

t.test('a log that cannot be written blocks nothing, and is reported', t => {
  const { home, troubles, approvals } = inSession(t)
  t.testdir({ home: { 'decisions.log': {} }, code: {} })
  approvals.note(ask('npm test'), { answer: 'allowed' })
  t.match(troubles, [/^The decision is not in the log\. /])
  t.ok(statSync(join(home, 'decisions.log')).isDirectory())
  t.end()
})

t.test('files that an agent changed are known by their whole path, those that it only read or failed to change are not', t => {
  const { approvals, edited, folder } = inSession(t)
  const { step } = ask('', {
    kind: 'edit',
    locations: ['a.ts', '/srv/b.ts'],
    content: [{ type: 'diff', path: 'c.ts', oldText: null, newText: 'c' }]
  })
  for (const status of ['failed', 'denied', 'cancelled'] as const) approvals.noteStep(step, status)
  for (const kind of ['read', 'execute'] as const) approvals.noteStep({ ...step, kind }, 'completed')
  t.strictSame([...edited], [])
  approvals.noteStep(step, 'completed')
  t.strictSame([...edited], [join(folder, 'a.ts'), '/srv/b.ts', join(folder, 'c.ts')])
  for (const kind of ['delete', 'move'] as const) approvals.noteStep({ ...step, kind, locations: [`${kind}.ts`], content: [] }, 'completed')
  t.ok(edited.has(join(folder, 'delete.ts')) && edited.has(join(folder, 'move.ts')))
  t.match(approvals.judge(ask('./a.ts')), { risk: { level: 'risky', reasons: ['runs-edited'] }, rule: undefined })
  t.end()
})

t.test('with a session its own rules end, and no others', t => {
  const { approvals, book, rule, now } = inSession(t)
  for (const session of [undefined, 's1', 's2']) book.set({ ...rule, ...(session !== undefined && { session }) })
  now.session = undefined
  approvals.end()
  t.equal(book.read().rules.length, 3, 'one that was never opened has none')
  now.session = 's1'
  approvals.end()
  t.same(
    book.read().rules.map(({ session }) => session),
    [undefined, 's2']
  )
  t.end()
})
