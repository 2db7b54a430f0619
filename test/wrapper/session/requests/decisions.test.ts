import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { AgentState } from '../../../../lib/protocol/sealed/session.ts'
import type { PermissionAsk, Step } from '../../../../lib/wrapper/agents/agent.ts'
import { createApprovals, type EditedHere } from '../../../../lib/wrapper/approvals/approvals.ts'
import { openDecisionLog } from '../../../../lib/wrapper/approvals/decision-log.ts'
import { openRules } from '../../../../lib/wrapper/approvals/rules.ts'
import { openEditedFiles } from '../../../../lib/wrapper/home/edited-files.ts'
import { cancelAll, createDecisions } from '../../../../lib/wrapper/session/requests/decisions.ts'

const step: Step = {
  call: 'call-1',
  name: 'Edit',
  title: 'Edit a.txt',
  kind: 'edit',
  input: { file_path: '/a.txt' },
  locations: ['/a.txt'],
  content: [{ type: 'diff', path: '/a.txt', oldText: 'a', newText: 'b' }]
}
const asked: PermissionAsk = {
  ask: 'call-1',
  step,
  choices: [
    { id: 'yes', label: 'Yes', kind: 'allow_once' },
    { id: 'always', label: 'Always', kind: 'allow_always' },
    { id: 'no', label: 'No', kind: 'reject_once' }
  ]
}

const root = mkdtempSync(join(tmpdir(), 'afield-decisions-'))
t.teardown(() => rmSync(root, { recursive: true, force: true }))

function desk() {
  let state: AgentState = { controlledByUser: false }
  let time = 1000
  const home = mkdtempSync(join(root, 'home-'))
  const now = () => time++
  const approvals = createApprovals({
    home,
    folder: root,
    edited: openEditedOf(),
    session: () => 's1',
    onTrouble(sentence) {
      throw new Error(sentence)
    }
  })
  const decisions = createDecisions(change => (state = change(state)), approvals, now)
  return {
    decisions,
    home,
    approvals,
    get state() {
      return state
    }
  }
}

function openEditedOf(): EditedHere {
  const files = openEditedFiles(join(mkdtempSync(join(root, 'edited-')), 'files'))
  return { paths: files.paths, isWhole: true, add: paths => files.add(paths) }
}

t.test('a question shows all that a decision is made on, and a hash of it', t => {
  const now = desk()
  now.decisions.ask(asked)
  t.match(now.state.requests?.['call-1'], {
    tool: 'Edit',
    arguments: { file_path: '/a.txt' },
    toolUseId: 'call-1',
    title: 'Edit a.txt',
    kind: 'edit',
    content: step.content,
    choices: asked.choices,
    shown: /^[\w-]{43}$/
  })
  const risk = { level: 'careful', reasons: ['outside'], knowsEdits: true }
  t.strictSame(now.decisions.open, [{ ask: 'call-1', title: 'Edit a.txt', risk }], 'the terminal says why, too')
  t.end()
})

t.test('each way to answer picks the choice it means', t => {
  const ways = [
    [{ approved: true, choice: 'always' }, 'always', 'approved', 'approved_for_session', false],
    [{ approved: true }, 'yes', 'approved', 'approved', false],
    [{ approved: true, decision: 'approved_for_session' as const }, 'always', 'approved', 'approved_for_session', false],
    [{ approved: false }, 'no', 'denied', 'denied', false],
    [{ approved: false, decision: 'denied' as const }, 'no', 'denied', 'denied', false],
    [{ approved: false, reason: ' not here ' }, 'no', 'denied', 'denied', false, 'not here'],
    [{ approved: false, decision: 'abort' as const, reason: 'wait' }, 'no', 'denied', 'abort', true, 'wait']
  ] as const
  for (const [answer, choice, status, decision, stops, reason] of ways) {
    const now = desk()
    now.decisions.ask(asked)
    const whyNot = reason && { title: 'Edit a.txt', reason }
    t.strictSame(now.decisions.answer({ id: 'call-1', ...answer }), { choice, stops, ...(whyNot && { whyNot }) }, JSON.stringify(answer))
    t.match(now.state.completedRequests?.['call-1'], { status, decision, completedAt: 1001, createdAt: 1000 })
    t.strictSame(now.state.requests, {})
    t.strictSame(now.decisions.open, [])
  }
  t.end()
})

t.test('an answer to something else than what waits now is refused', t => {
  const now = desk()
  now.decisions.ask(asked)
  const { shown } = now.state.requests?.['call-1'] ?? {}
  now.decisions.update({ ...step, content: [{ type: 'diff', path: '/a.txt', oldText: 'a', newText: 'something worse' }] })
  t.throws(() => now.decisions.answer({ id: 'call-1', approved: true, shown }), /changed/)
  const { shown: newer } = now.state.requests?.['call-1'] ?? {}
  t.not(newer, shown)
  t.throws(() => now.decisions.answer({ id: 'call-1', approved: true, choice: 'maybe' }), /does not offer/)
  t.equal(now.decisions.answer({ id: 'call-1', approved: true, shown: newer })?.choice, 'yes')
  t.throws(() => now.decisions.answer({ id: 'call-1', approved: true, choice: 'yes' }), /over/)
  t.equal(now.decisions.answer({ id: 'call-1', approved: true }), undefined, 'existing apps answer twice at times and are not scolded')
  t.end()
})

t.test('an answer that changes what shall run allows nothing, and the question stays', t => {
  const now = desk()
  now.decisions.ask(asked)
  const yes = { id: 'call-1', approved: true }
  t.throws(() => now.decisions.answer({ ...yes, updatedInput: { file_path: '/b.txt' } }), /changes what was asked/)
  t.strictSame(Object.keys(now.state.requests ?? {}), ['call-1'])
  t.match(now.decisions.answer({ ...yes, updatedInput: { file_path: '/a.txt' } }), { choice: 'yes' }, 'the same again is no change')
  t.end()
})

t.test('a yes never becomes more than it says', t => {
  const now = desk()
  now.decisions.ask({ ...asked, choices: asked.choices.filter(({ kind }) => kind !== 'allow_once') })
  t.throws(() => now.decisions.answer({ id: 'call-1', approved: true }), /once/)
  t.equal(now.decisions.open.length, 1, 'and the question still waits')
  t.end()
})

t.test('a question that is withdrawn, or whose wrapper is gone, is canceled', t => {
  const now = desk()
  now.decisions.ask(asked)
  const left = cancelAll(now.state, 5)
  t.match(left, { requests: {}, completedRequests: { 'call-1': { status: 'canceled', completedAt: 5 } } })
  now.decisions.close('call-1')
  t.match(now.state, { requests: {}, completedRequests: { 'call-1': { status: 'canceled' } } })
  t.end()
})

t.test('what was decided long ago does not make the state grow for ever', t => {
  const now = desk()
  for (let n = 0; n < 200; n++) {
    now.decisions.ask({ ...asked, ask: `call-${n}`, step: { ...step, call: `call-${n}`, input: { text: 'x'.repeat(10_000) } } })
    now.decisions.answer({ id: `call-${n}`, approved: true })
  }
  const kept = Object.keys(now.state.completedRequests ?? {})
  t.equal(kept.length, 50)
  t.equal(kept.at(-1), 'call-199')
  t.ok(JSON.stringify(now.state).length < 20_000)
  t.end()
})

t.test('a request too large for the agent state is shown shortened, says so, and is allowed once only [W12]', t => {
  const now = desk()
  const whole = 'x\n'.repeat(2_500_000)
  const large = { ...step, input: { file_path: '/a.txt', content: whole }, content: [{ ...diffOf(whole) }] }
  now.decisions.ask({ ...asked, step: large })
  const request = now.state.requests?.['call-1']
  t.ok(JSON.stringify(now.state).length < 600_000)
  t.match(request?.arguments, { file_path: '/a.txt', content: /^x\n[\s\S]*more characters: the rest is on the machine\.$/ })
  t.match(request?.content, [{ path: '/a.txt', newText: /the rest is on the machine/ }])
  t.match(request?.risk, { level: 'risky', reasons: ['shortened'] })
  t.notOk(request?.suggestedRule)
  const { shown } = request ?? {}
  t.throws(() => now.decisions.answer({ id: 'call-1', approved: true, shown, choice: 'always' }), /once only/)
  const rule = { on: 'change' as const, pattern: 'a.txt', folder: '/' }
  t.throws(() => now.decisions.answer({ id: 'call-1', approved: true, shown, rule }), /once only/)
  now.decisions.judgeAgain()
  t.equal(now.state.requests?.['call-1']?.shown, shown, 'a second look changes nothing')
  now.decisions.update({ ...large, content: [{ ...diffOf(`${whole}and more`) }] })
  t.throws(() => now.decisions.answer({ id: 'call-1', approved: true, shown }), /changed/, 'the answer is bound to all of it')
  const yes = { id: 'call-1', approved: true, decision: 'approved_for_session' as const, allowTools: ['Edit'] }
  t.match(now.decisions.answer(yes), { choice: 'yes' }, 'what an existing app allows for the session is allowed once')
  t.same(openRules(now.home).read().rules, [])
  t.end()
})

t.test('a large change is shown from where it changes', t => {
  const now = desk()
  const before = 'the same\n'.repeat(400_000)
  now.decisions.ask({ ...asked, step: { ...step, content: [{ ...diffOf(`${before}new`), oldText: `${before}old` }] } })
  t.match(now.state.requests?.['call-1']?.content, [{ oldText: /machine\.\nold$/, newText: /machine\.\nnew$/ }])
  t.end()
})

t.test('many large requests together fit the agent state, and what was decided with long words does too [W12]', t => {
  const now = desk()
  const text = '山'.repeat(200_000)
  const named = (n: number) => ({ ...asked, ask: `call-${n}`, step: { ...step, call: `call-${n}`, title: text, input: { text } } })
  for (let n = 0; n < 40; n++) now.decisions.ask(named(n))
  t.equal(Object.keys(now.state.requests ?? {}).length, 40)
  t.ok(sealedBytes(now.state) < 4 * 1024 * 1024)
  for (let n = 0; n < 40; n++) now.decisions.answer({ id: `call-${n}`, approved: false, reason: text })
  t.ok(sealedBytes(now.state) < 1024 * 1024)
  t.end()
})

t.test('a step of very many parts is shown by its title', t => {
  const now = desk()
  now.decisions.ask({ ...asked, step: { ...step, locations: Array.from({ length: 100_000 }, (_, n) => `/src/${n}.ts`) } })
  t.match(now.state.requests?.['call-1'], { title: 'Edit a.txt', arguments: { shortened: /on the machine/ }, risk: { level: 'risky' } })
  t.end()
})

t.test('what a yes allows from then on stands with it in the session, at the terminal and in the log', t => {
  const now = desk()
  const grants = { lasts: 'session' as const, what: [{ type: 'edits' as const, of: [] }] }
  const always = { id: 'always', label: 'Allow all edits this session', kind: 'allow_always' as const, grants }
  now.decisions.ask({ ...asked, choices: [...asked.choices.filter(({ id }) => id !== 'always'), always] })
  t.equal(now.decisions.lastingYes, undefined)
  now.decisions.answer({ id: 'call-1', approved: true, choice: 'always', shown: now.state.requests?.['call-1']?.shown })
  t.match(now.state.completedRequests?.['call-1'], { decision: 'approved_for_session', grants })
  t.equal(now.decisions.lastingYes, 'Allow all edits this session')
  t.match(openDecisionLog(now.home).read(), [{ answer: 'allowed', choice: 'Allow all edits this session' }])
  t.end()
})

function diffOf(newText: string) {
  return { type: 'diff' as const, path: '/a.txt', oldText: 'a', newText }
}

function sealedBytes(state: AgentState): number {
  return (Buffer.byteLength(JSON.stringify(state)) * 4) / 3
}

const shell = (command: string, more: Partial<Step> = {}): PermissionAsk => ({
  ask: 'run',
  step: { call: 'run', name: 'Bash', title: command, kind: 'execute', input: { command }, locations: [], content: [], ...more },
  choices: asked.choices
})

t.test('a request tells how risky it is and the narrowest rule that would allow it; a risky one has no rule', t => {
  const now = desk()
  now.decisions.ask(shell('npm test'))
  t.match(now.state.requests?.['run'], {
    risk: { level: 'plain', reasons: [] },
    suggestedRule: { on: 'command', pattern: 'npm test', folder: root }
  })
  now.decisions.ask({ ...shell('git push --force'), ask: 'push' })
  t.match(now.state.requests?.['push'], { risk: { level: 'risky', reasons: ['rewrites-history'] } })
  t.notOk(now.state.requests?.['push']?.suggestedRule)
  t.end()
})

t.test('an answer with a rule allows the same from then on, and says so', t => {
  const now = desk()
  now.decisions.ask(shell('npm test'))
  const { shown } = now.state.requests?.['run'] ?? {}
  const rule = { on: 'command' as const, pattern: 'npm test', folder: root }
  t.throws(() => now.decisions.answer({ id: 'run', approved: true, rule }), /what was shown/, 'a rule is made only from what was shown')
  t.throws(() => now.decisions.answer({ id: 'run', approved: true, shown: 'older', rule }), /changed/)
  t.throws(() => now.decisions.answer({ id: 'run', approved: true, shown, rule: { ...rule, pattern: 'npm run build' } }), /does not allow/)
  t.throws(() => now.decisions.answer({ id: 'run', approved: true, shown, choice: 'always', rule }), /just once/)
  t.same(openRules(now.home).read().rules, [], 'none of these made a rule')
  t.same(now.decisions.answer({ id: 'run', approved: true, shown, rule, answeredBy: 'Tablet' }), { choice: 'yes', stops: false })
  t.match(now.state.completedRequests?.['run'], { status: 'approved', decision: 'approved', rule: 'npm test', answeredBy: 'Tablet' })

  t.equal(now.decisions.ask({ ...shell('npm test'), ask: 'again' }), 'yes', 'the next one is answered at once, for once only')
  t.match(now.state.completedRequests?.['again'], { status: 'approved', decision: 'approved', rule: 'npm test' })
  t.notOk(now.state.requests?.['again'], 'no device was asked')
  t.match(openRules(now.home).read().rules, [{ used: 1, madeBy: 'Tablet' }])
  t.equal(now.decisions.ask({ ...shell('npm test && rm -rf /'), ask: 'trick' }), undefined)
  t.ok(now.state.requests?.['trick'])
  t.end()
})

// What Happy's app sends for "don't ask again": no hash, no device, and a field for each that it has no value for is left out.
const forSession = (id: string, allowTools: string[]) => JSON.parse(JSON.stringify({ id, approved: true, mode: undefined, allowTools }))

t.test('a command that an existing app allows for the session is not asked for again in it, and no other [W9]', t => {
  const now = desk()
  now.decisions.ask(shell('npm test'))
  t.same(now.decisions.answer(forSession('run', ['Bash(npm test)'])), { choice: 'yes', stops: false })
  const completed = { status: 'approved', decision: 'approved_for_session', allowTools: ['Bash(npm test)'], rule: 'npm test' }
  t.match(now.state.completedRequests?.['run'], completed)
  t.match(openRules(now.home).read().rules, [{ on: 'command', pattern: 'npm test', folder: root, session: 's1' }])
  t.equal(now.decisions.ask({ ...shell('npm test'), ask: 'again' }), 'yes')
  t.equal(now.decisions.ask({ ...shell('npm run build'), ask: 'other' }), undefined)
  now.decisions.answer(forSession('other', ['Bash(npm run:*)']))
  t.equal(now.decisions.ask({ ...shell('npm run lint'), ask: 'more' }), 'yes')
  t.equal(now.decisions.ask({ ...shell('npm run --script-shell=evil x'), ask: 'trick' }), undefined)
  now.approvals.end()
  t.equal(now.decisions.ask({ ...shell('npm test'), ask: 'later' }), undefined, 'the session is over')
  t.end()
})

t.test('a tool that an existing app allows for the session is not asked for again in its folder, and no other tool [W9]', t => {
  const now = desk()
  const edit = (ask: string, path: string, name = 'Edit') => {
    return now.decisions.ask({ ...asked, ask, step: { ...step, name, input: { file_path: path }, locations: [path], content: [] } })
  }
  edit('first', join(root, 'a.txt'))
  now.decisions.answer(forSession('first', ['Edit']))
  t.match(now.state.completedRequests?.['first'], { decision: 'approved_for_session', allowTools: ['Edit'] })
  t.equal(edit('same', join(root, 'src', 'b.txt')), 'yes')
  t.equal(edit('written', join(root, 'c.txt'), 'Write'), undefined, 'another tool')
  t.equal(edit('outside', join(root, '..', 'd.txt')), undefined, 'another folder')
  t.equal(edit('secret', join(root, '.env')), undefined, 'what is risky')
  t.equal(edit('hook', join(root, '.git', 'hooks', 'pre-commit')), undefined, 'what runs by itself')
  t.end()
})

t.test('what an existing app cannot allow for longer is allowed once [W9]', t => {
  const cases: [PermissionAsk, string[]][] = [
    [shell('npm publish'), ['Bash(npm publish)']],
    [shell('npm test'), ['Bash(npm run build)']],
    [shell('npm test'), ['Bash']],
    [shell('npm test'), ['Bash(:*)']],
    [shell('npm test'), ['Bash(npm test!']],
    [shell('npm test'), ['Bash(*:*)']],
    [shell('bash run.sh'), ['Bash(bash:*)']],
    [shell('npm test && npm run build'), ['Bash(npm test && npm run build)']],
    [shell('rm a.txt', { kind: 'delete', name: 'Delete' }), ['Delete']],
    [shell('', { kind: 'fetch', name: 'WebFetch', input: { url: 'https://docs.rs/' } }), ['WebFetch']],
    [asked, ['Edit']],
    [{ ...asked, step: { ...step, name: 'Edit', input: {}, locations: [join(root, 'a.txt')], content: [] } }, ['Edit(src/**)']],
    [shell('npm test'), []]
  ]
  for (const [request, tools] of cases) {
    const now = desk()
    now.decisions.ask(request)
    t.equal(now.decisions.answer(forSession(request.ask, tools))?.choice, 'yes', tools.join())
    t.match(now.state.completedRequests?.[request.ask], { status: 'approved', decision: 'approved', allowTools: undefined })
    t.same(openRules(now.home).read().rules, [], tools.join())
  }
  const now = desk()
  now.decisions.ask(shell('npm test'))
  now.decisions.answer({ ...forSession('run', ['Bash(npm test)']), approved: false })
  t.same(openRules(now.home).read().rules, [], 'nor with a no')
  t.end()
})

t.test('a rule never answers what has no way to be allowed just once, what is risky, or anything while rules are paused [W9]', t => {
  const now = desk()
  const rules = openRules(now.home)
  rules.set({ on: 'command', pattern: 'npm *', folder: root })
  rules.set({ on: 'command', pattern: 'git push *', folder: root })
  const onlyAlways = asked.choices.filter(({ kind }) => kind !== 'allow_once')
  t.equal(now.decisions.ask({ ...shell('npm test'), ask: 'a', choices: onlyAlways }), undefined)
  t.equal(now.decisions.ask({ ...shell('npm publish'), ask: 'b' }), undefined)
  rules.pause(true)
  t.equal(now.decisions.ask({ ...shell('npm test'), ask: 'c' }), undefined)
  rules.pause(false)
  t.equal(now.decisions.ask({ ...shell('npm test'), ask: 'd' }), 'yes')
  t.end()
})

t.test('what the agent changed itself is run only by a person', t => {
  const now = desk()
  openRules(now.home).set({ on: 'command', pattern: 'npm test', folder: root })
  now.approvals.noteStep({ ...step, locations: ['package.json'], content: [] }, 'completed')
  t.equal(now.decisions.ask(shell('npm test')), undefined)
  t.match(now.state.requests?.['run']?.risk, { level: 'risky', reasons: ['runs-edited'] })
  t.end()
})

t.test('a command that waits is as risky as what the agent changed meanwhile makes it, and a yes to what it was before is refused', t => {
  const now = desk()
  now.decisions.ask(shell('npm test'))
  const { risk, shown } = now.state.requests?.['run'] ?? {}
  t.match(risk, { level: 'plain', knowsEdits: true })
  now.decisions.judgeAgain()
  t.equal(now.state.requests?.['run']?.shown, shown, 'what changes nothing asks nobody to look again')
  now.approvals.noteStep({ ...step, locations: ['package.json'], content: [] }, 'completed')
  now.decisions.judgeAgain()
  t.match(now.state.requests?.['run'], { risk: { level: 'risky', reasons: ['runs-edited'] }, createdAt: 1000 })
  t.throws(() => now.decisions.answer({ id: 'run', approved: true, shown }), /Look again/)
  t.equal(now.decisions.open.length, 1)
  t.end()
})

t.test('a risky request is allowed once, whatever the agent offers and the answer asks for', t => {
  const now = desk()
  now.decisions.ask(shell('git push --force'))
  const { shown } = now.state.requests?.['run'] ?? {}
  const rule = { on: 'command' as const, pattern: 'git push --force', folder: root }
  t.throws(() => now.decisions.answer({ id: 'run', approved: true, shown, choice: 'always' }), /once only/)
  t.throws(() => now.decisions.answer({ id: 'run', approved: true, shown, rule }), /once only/)
  t.match(now.decisions.answer({ id: 'run', approved: true, decision: 'approved_for_session' }), { choice: 'yes' })
  t.match(now.state.completedRequests?.['run'], { decision: 'approved' })
  t.end()
})

t.test('a request that changes while it waits is not answered by a rule behind the back of who reads it', t => {
  const now = desk()
  openRules(now.home).set({ on: 'command', pattern: 'npm test', folder: root })
  const first = shell('npm run build')
  now.decisions.ask(first)
  now.decisions.update({ ...first.step, input: { command: 'npm test' }, title: 'npm test' })
  t.match(now.state.requests?.['run'], { arguments: { command: 'npm test' } })
  t.match(openRules(now.home).read().rules, [{ used: 0 }])
  t.end()
})

t.test('an answer of an existing app to a plan, which names the mode that comes next, is the choice of that mode [W11]', async t => {
  const choices = [
    { id: 'acceptEdits', label: 'Yes, and edit freely', kind: 'allow_always' as const },
    { id: 'default', label: 'Yes, and ask before edits', kind: 'allow_once' as const },
    { id: 'deny', label: 'No, keep planning', kind: 'reject_once' as const }
  ]
  for (const [answer, choice] of [
    [{ approved: true, mode: 'acceptEdits' }, 'acceptEdits'],
    [{ approved: true, mode: 'default' }, 'default'],
    [{ approved: true, mode: 'deny' }, 'default'],
    [{ approved: true }, 'default'],
    [{ approved: false, mode: 'acceptEdits' }, 'deny']
  ] as const) {
    const { decisions } = desk()
    decisions.ask({ ...asked, choices })
    t.equal(decisions.answer({ id: 'call-1', ...answer })?.choice, choice)
  }
})
