import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Question } from '../../../../lib/protocol/sealed/decisions/questions.ts'
import type { AgentState } from '../../../../lib/protocol/sealed/session.ts'
import type { Answers, PermissionAsk, QuestionAsk, Step } from '../../../../lib/wrapper/agents/agent.ts'
import { createApprovals, type EditedHere } from '../../../../lib/wrapper/approvals/approvals.ts'
import { openDecisionLog, openRules } from '../../../../lib/wrapper/approvals/rules.ts'
import { openEditedFiles } from '../../../../lib/wrapper/home/session-folder.ts'
import { cancelAll, createRequests } from '../../../../lib/wrapper/session/requests/requests.ts'
import { demo, texts, turnsEnded } from '../../kit/demo.ts'
import type { PhoneSession } from '../../kit/phone.ts'

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
  let giveAnswers = (_: Answers | undefined): boolean => false
  const requests = createRequests({
    publish: change => (state = change(state)),
    approvals,
    giveAnswers: (_, answers) => giveAnswers(answers),
    now
  })
  return {
    requests,
    /** `give` is the agent that is handed the answers. */
    answer(answer: Parameters<typeof requests.answer>[0], give: typeof giveAnswers) {
      giveAnswers = give
      return requests.answer(answer)
    },
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

t.test('a request shows everything that a decision is based on, and a hash of it', t => {
  const now = desk()
  now.requests.askPermission(asked)
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
  t.strictSame(now.requests.open, [{ type: 'permission', ask: 'call-1', title: 'Edit a.txt', risk }], 'the terminal says why, too')
  t.end()
})

t.test('each way to answer selects its choice', t => {
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
    now.requests.askPermission(asked)
    const whyNot = reason && { title: 'Edit a.txt', reason }
    t.strictSame(now.requests.answer({ id: 'call-1', ...answer }), { choice, stops, ...(whyNot && { whyNot }) }, JSON.stringify(answer))
    t.match(now.state.completedRequests?.['call-1'], { status, decision, completedAt: 1001, createdAt: 1000 })
    t.strictSame(now.state.requests, {})
    t.strictSame(now.requests.open, [])
  }
  t.end()
})

t.test('an answer to anything but the current request is rejected', t => {
  const now = desk()
  now.requests.askPermission(asked)
  const { shown } = now.state.requests?.['call-1'] ?? {}
  now.requests.update({ ...step, content: [{ type: 'diff', path: '/a.txt', oldText: 'a', newText: 'something worse' }] })
  t.throws(() => now.requests.answer({ id: 'call-1', approved: true, shown }), /changed/)
  const { shown: newer } = now.state.requests?.['call-1'] ?? {}
  t.not(newer, shown)
  t.throws(() => now.requests.answer({ id: 'call-1', approved: true, choice: 'maybe' }), /does not offer/)
  t.equal(now.requests.answer({ id: 'call-1', approved: true, shown: newer })?.choice, 'yes')
  t.throws(() => now.requests.answer({ id: 'call-1', approved: true, choice: 'yes' }), /closed/)
  t.equal(now.requests.answer({ id: 'call-1', approved: true }), undefined, 'existing apps answer twice at times and are not scolded')
  t.end()
})

t.test('an answer that changes the command allows nothing, and the request stays', t => {
  const now = desk()
  now.requests.askPermission(asked)
  const yes = { id: 'call-1', approved: true }
  t.throws(() => now.requests.answer({ ...yes, updatedInput: { file_path: '/b.txt' } }), /changes the request/)
  t.strictSame(Object.keys(now.state.requests ?? {}), ['call-1'])
  t.match(now.requests.answer({ ...yes, updatedInput: { file_path: '/a.txt' } }), { choice: 'yes' }, 'the same again is no change')
  t.end()
})

t.test('a yes never becomes more than it says', t => {
  const now = desk()
  now.requests.askPermission({ ...asked, choices: asked.choices.filter(({ kind }) => kind !== 'allow_once') })
  t.throws(() => now.requests.answer({ id: 'call-1', approved: true }), /once/)
  t.equal(now.requests.open.length, 1, 'and the question still waits')
  t.end()
})

t.test('a withdrawn request, or one whose wrapper is gone, is canceled', t => {
  const now = desk()
  now.requests.askPermission(asked)
  const left = cancelAll(now.state, 5)
  t.match(left, { requests: {}, completedRequests: { 'call-1': { status: 'canceled', completedAt: 5 } } })
  now.requests.close('call-1')
  t.match(now.state, { requests: {}, completedRequests: { 'call-1': { status: 'canceled' } } })
  t.end()
})

t.test('old decisions do not grow the state forever', t => {
  const now = desk()
  for (let n = 0; n < 200; n++) {
    now.requests.askPermission({ ...asked, ask: `call-${n}`, step: { ...step, call: `call-${n}`, input: { text: 'x'.repeat(10_000) } } })
    now.requests.answer({ id: `call-${n}`, approved: true })
  }
  const kept = Object.keys(now.state.completedRequests ?? {})
  t.equal(kept.length, 50)
  t.equal(kept.at(-1), 'call-199')
  t.ok(JSON.stringify(now.state).length < 20_000)
  t.end()
})

t.test('a request too large for the agent state is shortened, marked so, and can be allowed only once [W12]', t => {
  const now = desk()
  const whole = 'x\n'.repeat(2_500_000)
  const large = { ...step, input: { file_path: '/a.txt', content: whole }, content: [{ ...diffOf(whole) }] }
  now.requests.askPermission({ ...asked, step: large })
  const request = now.state.requests?.['call-1']
  t.ok(JSON.stringify(now.state).length < 600_000)
  t.match(request?.arguments, { file_path: '/a.txt', content: /^x\n[\s\S]*more characters: see the rest on the computer\.$/ })
  t.match(request?.content, [{ path: '/a.txt', newText: /see the rest on the computer/ }])
  t.match(request?.risk, { level: 'risky', reasons: ['shortened'] })
  t.notOk(request?.suggestedRule)
  const { shown } = request ?? {}
  t.throws(() => now.requests.answer({ id: 'call-1', approved: true, shown, choice: 'always' }), /only be allowed once/)
  const rule = { on: 'change' as const, pattern: 'a.txt', folder: '/' }
  t.throws(() => now.requests.answer({ id: 'call-1', approved: true, shown, rule }), /only be allowed once/)
  now.requests.judgeAgain()
  t.equal(now.state.requests?.['call-1']?.shown, shown, 'a second look changes nothing')
  now.requests.update({ ...large, content: [{ ...diffOf(`${whole}and more`) }] })
  t.throws(() => now.requests.answer({ id: 'call-1', approved: true, shown }), /changed/, 'the answer is bound to all of it')
  const yes = { id: 'call-1', approved: true, decision: 'approved_for_session' as const, allowTools: ['Edit'] }
  t.match(now.requests.answer(yes), { choice: 'yes' }, 'what an existing app allows for the session is allowed once')
  t.same(openRules(now.home).read().rules, [])
  t.end()
})

t.test('a large change is shown from its first difference', t => {
  const now = desk()
  const before = 'the same\n'.repeat(400_000)
  now.requests.askPermission({ ...asked, step: { ...step, content: [{ ...diffOf(`${before}new`), oldText: `${before}old` }] } })
  t.match(now.state.requests?.['call-1']?.content, [{ oldText: /computer\.\nold$/, newText: /computer\.\nnew$/ }])
  t.end()
})

t.test('many large requests fit the agent state together, and so do long decisions [W12]', t => {
  const now = desk()
  const text = '山'.repeat(200_000)
  const named = (n: number) => ({ ...asked, ask: `call-${n}`, step: { ...step, call: `call-${n}`, title: text, input: { text } } })
  for (let n = 0; n < 40; n++) now.requests.askPermission(named(n))
  t.equal(Object.keys(now.state.requests ?? {}).length, 40)
  t.ok(sealedBytes(now.state) < 4 * 1024 * 1024)
  for (let n = 0; n < 40; n++) now.requests.answer({ id: `call-${n}`, approved: false, reason: text })
  t.ok(sealedBytes(now.state) < 1024 * 1024)
  t.end()
})

t.test('a step with very many parts is shown by its title', t => {
  const now = desk()
  now.requests.askPermission({ ...asked, step: { ...step, locations: Array.from({ length: 100_000 }, (_, n) => `/src/${n}.ts`) } })
  t.match(now.state.requests?.['call-1'], {
    title: 'Edit a.txt',
    arguments: { shortened: /on the (machine|computer)/ },
    risk: { level: 'risky' }
  })
  t.end()
})

t.test('what a yes allows from then on is recorded in the session, at the terminal and in the log', t => {
  const now = desk()
  const grants = { lasts: 'session' as const, what: [{ type: 'edits' as const, of: [] }] }
  const always = { id: 'always', label: 'Allow all edits this session', kind: 'allow_always' as const, grants }
  now.requests.askPermission({ ...asked, choices: [...asked.choices.filter(({ id }) => id !== 'always'), always] })
  t.equal(now.requests.lastingYes, undefined)
  now.requests.answer({ id: 'call-1', approved: true, choice: 'always', shown: now.state.requests?.['call-1']?.shown })
  t.match(now.state.completedRequests?.['call-1'], { decision: 'approved_for_session', grants })
  t.equal(now.requests.lastingYes, 'Allow all edits this session')
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

t.test('a request has its risk and the narrowest rule that would allow it; a risky one has no rule', t => {
  const now = desk()
  now.requests.askPermission(shell('npm test'))
  t.match(now.state.requests?.['run'], {
    risk: { level: 'plain', reasons: [] },
    suggestedRule: { on: 'command', pattern: 'npm test', folder: root }
  })
  now.requests.askPermission({ ...shell('git push --force'), ask: 'push' })
  t.match(now.state.requests?.['push'], { risk: { level: 'risky', reasons: ['rewrites-history'] } })
  t.notOk(now.state.requests?.['push']?.suggestedRule)
  t.end()
})

t.test('an answer with a rule allows the same from then on, and says so', t => {
  const now = desk()
  now.requests.askPermission(shell('npm test'))
  const { shown } = now.state.requests?.['run'] ?? {}
  const rule = { on: 'command' as const, pattern: 'npm test', folder: root }
  t.throws(() => now.requests.answer({ id: 'run', approved: true, rule }), /what was shown/, 'a rule is made only from what was shown')
  t.throws(() => now.requests.answer({ id: 'run', approved: true, shown: 'older', rule }), /changed/)
  t.throws(() => now.requests.answer({ id: 'run', approved: true, shown, rule: { ...rule, pattern: 'npm run build' } }), /does not allow/)
  t.throws(() => now.requests.answer({ id: 'run', approved: true, shown, choice: 'always', rule }), /with “allow once”/)
  t.same(openRules(now.home).read().rules, [], 'none of these made a rule')
  t.same(now.requests.answer({ id: 'run', approved: true, shown, rule, answeredBy: 'Tablet' }), { choice: 'yes', stops: false })
  t.match(now.state.completedRequests?.['run'], { status: 'approved', decision: 'approved', rule: 'npm test', answeredBy: 'Tablet' })

  t.equal(now.requests.askPermission({ ...shell('npm test'), ask: 'again' }), 'yes', 'the next one is answered at once, for once only')
  t.match(now.state.completedRequests?.['again'], { status: 'approved', decision: 'approved', rule: 'npm test' })
  t.notOk(now.state.requests?.['again'], 'no device was asked')
  t.match(openDecisionLog(now.home).read(), [
    { answer: 'allowed', rule: 'npm test' },
    { answer: 'allowed', by: 'Tablet' }
  ])
  t.match(openRules(now.home).read().rules, [{ used: 1, madeBy: 'Tablet' }])
  t.equal(now.requests.askPermission({ ...shell('npm test && rm -rf /'), ask: 'trick' }), undefined)
  t.ok(now.state.requests?.['trick'])
  t.end()
})

// What Happy's app sends for "don't ask again": no hash, no device, and a field for each that it has no value for is left out.
const forSession = (id: string, allowTools: string[]) => JSON.parse(JSON.stringify({ id, approved: true, mode: undefined, allowTools }))

t.test('a command allowed for the session by an existing app is not asked again in it, and no other is affected [W9]', t => {
  const now = desk()
  now.requests.askPermission(shell('npm test'))
  t.same(now.requests.answer(forSession('run', ['Bash(npm test)'])), { choice: 'yes', stops: false })
  const completed = { status: 'approved', decision: 'approved_for_session', allowTools: ['Bash(npm test)'], rule: 'npm test' }
  t.match(now.state.completedRequests?.['run'], completed)
  t.match(openRules(now.home).read().rules, [{ on: 'command', pattern: 'npm test', folder: root, session: 's1' }])
  t.equal(now.requests.askPermission({ ...shell('npm test'), ask: 'again' }), 'yes')
  t.equal(now.requests.askPermission({ ...shell('npm run build'), ask: 'other' }), undefined)
  now.requests.answer(forSession('other', ['Bash(npm run:*)']))
  t.equal(now.requests.askPermission({ ...shell('npm run lint'), ask: 'more' }), 'yes')
  t.equal(now.requests.askPermission({ ...shell('npm run --script-shell=evil x'), ask: 'trick' }), undefined)
  now.approvals.end()
  t.equal(now.requests.askPermission({ ...shell('npm test'), ask: 'later' }), undefined, 'the session is over')
  t.end()
})

t.test('a tool allowed for the session by an existing app is not asked again in its folder, and no other tool is affected [W9]', t => {
  const now = desk()
  const edit = (ask: string, path: string, name = 'Edit') => {
    return now.requests.askPermission({
      ...asked,
      ask,
      step: { ...step, name, input: { file_path: path }, locations: [path], content: [] }
    })
  }
  edit('first', join(root, 'a.txt'))
  now.requests.answer(forSession('first', ['Edit']))
  t.match(now.state.completedRequests?.['first'], { decision: 'approved_for_session', allowTools: ['Edit'] })
  t.equal(edit('same', join(root, 'src', 'b.txt')), 'yes')
  t.equal(edit('written', join(root, 'c.txt'), 'Write'), undefined, 'another tool')
  t.equal(edit('outside', join(root, '..', 'd.txt')), undefined, 'another folder')
  t.equal(edit('secret', join(root, '.env')), undefined, 'what is risky')
  t.equal(edit('hook', join(root, '.git', 'hooks', 'pre-commit')), undefined, 'what runs by itself')
  t.end()
})

t.test('a request that an existing app cannot allow permanently is allowed once [W9]', t => {
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
    now.requests.askPermission(request)
    t.equal(now.requests.answer(forSession(request.ask, tools))?.choice, 'yes', tools.join())
    t.match(now.state.completedRequests?.[request.ask], { status: 'approved', decision: 'approved', allowTools: undefined })
    t.same(openRules(now.home).read().rules, [], tools.join())
  }
  const now = desk()
  now.requests.askPermission(shell('npm test'))
  now.requests.answer({ ...forSession('run', ['Bash(npm test)']), approved: false })
  t.same(openRules(now.home).read().rules, [], 'nor with a no')
  t.end()
})

t.test('a rule never answers requests that cannot be allowed just once, risky ones, or any while rules are paused [W9]', t => {
  const now = desk()
  const rules = openRules(now.home)
  rules.set({ on: 'command', pattern: 'npm *', folder: root })
  rules.set({ on: 'command', pattern: 'git push *', folder: root })
  const onlyAlways = asked.choices.filter(({ kind }) => kind !== 'allow_once')
  t.equal(now.requests.askPermission({ ...shell('npm test'), ask: 'a', choices: onlyAlways }), undefined)
  t.equal(now.requests.askPermission({ ...shell('npm publish'), ask: 'b' }), undefined)
  rules.pause(true)
  t.equal(now.requests.askPermission({ ...shell('npm test'), ask: 'c' }), undefined)
  rules.pause(false)
  t.equal(now.requests.askPermission({ ...shell('npm test'), ask: 'd' }), 'yes')
  t.end()
})

t.test("files that the agent changed itself are run only by a person's decision", t => {
  const now = desk()
  openRules(now.home).set({ on: 'command', pattern: 'npm test', folder: root })
  now.approvals.noteStep({ ...step, locations: ['package.json'], content: [] }, 'completed')
  t.equal(now.requests.askPermission(shell('npm test')), undefined)
  t.match(now.state.requests?.['run']?.risk, { level: 'risky', reasons: ['runs-edited'] })
  t.end()
})

t.test("a waiting command becomes as risky as the agent's changes meanwhile make it, and a yes to its earlier form is rejected", t => {
  const now = desk()
  now.requests.askPermission(shell('npm test'))
  const { risk, shown } = now.state.requests?.['run'] ?? {}
  t.match(risk, { level: 'plain', knowsEdits: true })
  now.requests.judgeAgain()
  t.equal(now.state.requests?.['run']?.shown, shown, 'what changes nothing asks nobody to look again')
  now.approvals.noteStep({ ...step, locations: ['package.json'], content: [] }, 'completed')
  now.requests.judgeAgain()
  t.match(now.state.requests?.['run'], { risk: { level: 'risky', reasons: ['runs-edited'] }, createdAt: 1000 })
  t.throws(() => now.requests.answer({ id: 'run', approved: true, shown }), /Look again/)
  t.equal(now.requests.open.length, 1)
  t.end()
})

t.test('a risky request is allowed once, whatever the agent offers and the answer requests', t => {
  const now = desk()
  now.requests.askPermission(shell('git push --force'))
  const { shown } = now.state.requests?.['run'] ?? {}
  const rule = { on: 'command' as const, pattern: 'git push --force', folder: root }
  t.throws(() => now.requests.answer({ id: 'run', approved: true, shown, choice: 'always' }), /only be allowed once/)
  t.throws(() => now.requests.answer({ id: 'run', approved: true, shown, rule }), /only be allowed once/)
  t.match(now.requests.answer({ id: 'run', approved: true, decision: 'approved_for_session' }), { choice: 'yes' })
  t.match(now.state.completedRequests?.['run'], { decision: 'approved' })
  t.end()
})

t.test('a request that changes while it waits is not answered by a rule while someone reads it', t => {
  const now = desk()
  openRules(now.home).set({ on: 'command', pattern: 'npm test', folder: root })
  const first = shell('npm run build')
  now.requests.askPermission(first)
  now.requests.update({ ...first.step, input: { command: 'npm test' }, title: 'npm test' })
  t.match(now.state.requests?.['run'], { arguments: { command: 'npm test' } })
  t.match(openRules(now.home).read().rules, [{ used: 0 }])
  t.end()
})

t.test("an existing app's answer to a plan, which names the next mode, chooses that mode [W11]", async t => {
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
    const { requests } = desk()
    requests.askPermission({ ...asked, choices })
    t.equal(requests.answer({ id: 'call-1', ...answer })?.choice, choice)
  }
})

const form: QuestionAsk = {
  ask: 'q',
  call: 'step-1',
  title: 'About the gate',
  kind: 'form',
  questions: [
    {
      id: 'colour',
      question: 'Which colour?',
      multiSelect: false,
      options: [
        { value: 'g', label: 'Green' },
        { value: 'r', label: 'Red' }
      ],
      allowsOther: true,
      isRequired: true
    },
    {
      id: 'tools',
      question: 'Which tools?',
      multiSelect: true,
      options: [{ value: 'oil', label: 'Oil' }],
      allowsOther: false,
      isRequired: false
    }
  ]
}

const yes = { id: 'q', approved: true }
const no = { id: 'q', approved: false }
/** As Happy's apps answer: by the texts of the questions and the labels of the options. */
const said = (answers: Record<string, string>) => ({ ...yes, decision: 'approved' as const, updatedInput: { answers } })

t.test("a question is a request in Claude Code's format, with its full form attached", t => {
  const now = desk()
  now.requests.askQuestion(form)
  t.match(now.state.requests?.['q'], {
    tool: 'AskUserQuestion',
    title: 'About the gate',
    call: 'step-1',
    shown: /^[\w-]{43}$/,
    form: { questions: form.kind === 'form' ? form.questions : [] }
  })
  t.strictSame(now.state.requests?.['q']?.arguments, {
    questions: [
      {
        question: 'Which colour?',
        header: 'Question',
        multiSelect: false,
        options: [
          { label: 'Green', description: '' },
          { label: 'Red', description: '' }
        ]
      },
      {
        question: 'Which tools?',
        header: 'Question',
        multiSelect: true,
        options: [
          { label: 'Oil', description: '' },
          { label: 'No answer', description: '' }
        ]
      }
    ]
  })
  t.equal(now.state.communications, undefined, "which Happy's app does not survive")
  t.notOk(now.state.requests?.['q']?.toolUseId, 'it is joined to no step that apps draw otherwise')
  now.requests.askQuestion({ ...form, ask: 'q2' }, true)
  t.equal(now.state.requests?.['q2']?.toolUseId, 'step-1')
  t.strictSame(now.requests.open, [
    { type: 'question', ask: 'q', title: 'About the gate' },
    { type: 'question', ask: 'q2', title: 'About the gate' }
  ])
  t.end()
})

t.test('an invalid answer is rejected, and the question stays open', t => {
  const now = desk()
  now.requests.askQuestion(form)
  const cases = [
    [{ colour: { values: ['g', 'r'] } }, /Choose one/],
    [{ colour: { values: ['blue'] } }, /no such answer/],
    [{ tools: { values: ['oil'] } }, /“Which colour\?” needs an answer/],
    [{ colour: { values: ['g'] }, tools: { values: [], other: 'a saw' } }, /an answer in your own words/],
    [{ colour: { values: [], other: '  ' } }, /needs an answer/]
  ] as const
  for (const [answers, says] of cases) {
    const given = Object.fromEntries(Object.entries(answers).map(([id, { values, ...rest }]) => [id, { values: [...values], ...rest }]))
    t.throws(() => now.answer({ ...yes, answers: given }, () => t.fail('it was given')), says)
  }
  t.throws(() => now.answer({ ...yes, answers: {}, shown: 'another' }, () => true), /changed/)
  t.throws(() => now.answer(yes, () => t.fail('it was given')), /instead of yes or no/, 'a bare yes says nothing')
  t.throws(() => now.answer(said({ 'Which tools?': 'Oil' }), () => t.fail('it was given')), /needs an answer/)
  const refusing = () => {
    throw new Error('the driver wants a number')
  }
  t.throws(() => now.answer({ ...yes, answers: { colour: { values: ['g'] } } }, refusing), /wants a number/)
  t.equal(now.requests.open.length, 1)
  t.end()
})

t.test('an answer counts once, whoever gives it', t => {
  const now = desk()
  now.requests.askQuestion(form)
  const given: unknown[] = []
  const give = (answers: unknown) => given.push(answers) > 0
  now.answer({ ...yes, answers: { colour: { values: ['r'], other: 'dark' }, tools: { values: ['oil'] } } }, give)
  t.strictSame(given, [{ colour: { values: ['r'], other: 'dark' }, tools: { values: ['oil'] } }])
  t.equal(now.answer(no, give), undefined, 'existing apps answer twice at times')
  t.throws(() => now.answer({ ...no, shown: 'it' }, give), /This question is closed\./)
  t.equal(given.length, 1)
  const answers = { 'Which colour?': 'Red, dark', 'Which tools?': 'Oil' }
  t.match(now.state, { requests: {}, completedRequests: { q: { status: 'approved', answers, arguments: { answers } } } })

  now.requests.askQuestion({ ...form, ask: 'q2' })
  now.requests.close('q2', { answers: { colour: { values: ['g'] } } })
  t.match(now.state.completedRequests?.['q2'], {
    status: 'approved',
    answeredBy: 'the terminal',
    answers: { 'Which colour?': 'Green' }
  })
  now.requests.close('q2')
  t.match(now.state.completedRequests?.['q2'], { status: 'approved' })
  t.end()
})

t.test("answers of Happy's apps are matched by their labels", t => {
  const options = [
    { value: 'a', label: 'Oil, linseed' },
    { value: 'b', label: 'Oil' },
    { value: 'c', label: 'Oil' }
  ]
  const questions: Question[] = [
    { id: 'many', question: 'Which?', multiSelect: true, options, allowsOther: true, isRequired: false },
    { id: 'same', question: 'Which?', multiSelect: false, options, allowsOther: true, isRequired: false },
    { id: 'words', question: 'How many days?', multiSelect: false, options: [], allowsOther: true, isRequired: true }
  ]
  const cases = [
    [
      { 'Which?': 'Oil, linseed, Oil', 'How many days?': '2' },
      { many: { values: ['a', 'b'] }, words: { values: [], other: '2' } }
    ],
    [
      { 'Which? (2)': 'Oil (2)', 'How many days?': '2' },
      { same: { values: ['c'] }, words: { values: [], other: '2' } }
    ],
    [
      { 'Which?': 'Oil, a saw', 'How many days?': '2' },
      { many: { values: ['b'], other: 'a saw' }, words: { values: [], other: '2' } }
    ],
    [
      { 'Which?': 'No answer', 'Which? (2)': 'Tar', 'How many days?': '2' },
      { same: { values: [], other: 'Tar' }, words: { values: [], other: '2' } }
    ],
    [{ 'Which?': 'Oil', 'How many days?': 'No answer' }, undefined]
  ] as const
  for (const [answers, expected] of cases) {
    const now = desk()
    now.requests.askQuestion({ ...form, kind: 'form', questions })
    now.answer(said({ ...answers }), given => {
      t.strictSame(given, expected)
      return true
    })
    t.equal(now.state.completedRequests?.['q']?.status, expected ? 'approved' : 'denied')
  }
  t.end()
})

t.test('a page to open is a question whether it was opened', t => {
  const page: QuestionAsk = { ask: 'q', title: 'Sign in', kind: 'link', url: 'https://example.org/' }
  const cases = [
    [said({ 'Sign in\n\nhttps://example.org/': 'I opened it' }), {}],
    [said({ 'Sign in\n\nhttps://example.org/': 'I will not open it' }), undefined],
    [{ ...yes, answers: {} }, {}],
    [no, undefined]
  ] as const
  for (const [answer, expected] of cases) {
    const now = desk()
    now.requests.askQuestion(page)
    t.match(now.state.requests?.['q'], { url: 'https://example.org/', arguments: { questions: [{ options: [{}, {}] }] } })
    now.answer(answer, given => {
      t.strictSame(given, expected)
      return true
    })
    t.equal(now.state.completedRequests?.['q']?.status, expected ? 'approved' : 'denied')
  }
  t.end()
})

t.test('answering a question that the agent abandoned meanwhile says that it is over', t => {
  const now = desk()
  now.requests.askQuestion(form)
  t.throws(() => now.answer(no, () => false), /closed/)
  t.match(now.state, { requests: {}, completedRequests: { q: { status: 'canceled' } } })
  t.end()
})

t.test('questions of a wrapper that is gone are cancelled, and old ones do not accumulate', t => {
  const now = desk()
  now.requests.askQuestion(form)
  t.match(cancelAll(now.state, 5), { requests: {}, completedRequests: { q: { status: 'canceled', completedAt: 5 } } })
  const older = { communications: { q: { kind: 'form', createdAt: 1, title: 'About the gate' } } }
  t.match(cancelAll(older, 5), { communications: {}, completedCommunications: { q: { status: 'cancelled', completedAt: 5 } } })
  for (let n = 0; n < 200; n++) {
    now.requests.askQuestion({ ...form, ask: `q${n}`, title: 'x'.repeat(300) })
    now.requests.close(`q${n}`)
  }
  t.equal(Object.keys(now.state.completedRequests ?? {}).length, 50)
  t.end()
})

t.test('long answers do not grow the state forever', t => {
  const now = desk()
  const long = '山'.repeat(100_000)
  const given: unknown[] = []
  for (let n = 0; n < 60; n++) {
    now.requests.askQuestion({ ...form, ask: `q${n}`, title: long })
    now.answer({ ...yes, id: `q${n}`, answers: { colour: { values: [], other: long } } }, answers => given.push(answers) > 0)
  }
  t.match(given.at(-1), { colour: { other: long } }, 'the agent has all of it')
  t.ok(JSON.stringify(now.state).length < 300_000)
  t.end()
})

async function askedOf(session: PhoneSession) {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [[id = '', question] = []] = Object.entries(session.state.requests ?? {})
  return { id, question }
}

t.test('a question of the agent is answered from the phone, for exactly what was shown, and once', async t => {
  const { session } = await demo(t)
  await session.say('ask me')
  const { id, question } = await askedOf(session)
  t.match(question, { tool: 'AskUserQuestion', title: /fix the gate/, shown: /^[\w-]{43}$/ })
  const answers = { color: { values: ['red'] }, days: { values: [], other: '4' } }
  const answer = { id, approved: true, answers }
  await t.rejects(session.call('permission', { ...answer, shown: 'something else' }), /changed/)
  await t.rejects(session.call('permission', { ...answer, answers: { color: { values: ['red'] } } }), /needs an answer/)
  await t.rejects(session.call('permission', { ...answer, answers: { ...answers, color: { values: ['gold'] } } }), /no such answer/)
  await t.rejects(session.call('permission', { ...answer, answers: { ...answers, days: { values: [], other: 'soon' } } }), /whole number/)
  t.equal(Object.keys(session.state.requests ?? {}).length, 1, 'and it still waits')
  await session.call('permission', { ...answer, shown: question?.shown, answeredBy: 'a test' })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['You answered:\n\n- color: red\n- days: 4'])
  await session.until(({ state }) => state.completedRequests?.[id] !== undefined)
  t.match(session.state.completedRequests?.[id], { status: 'approved', answeredBy: 'a test' })
  t.strictSame(Object.values(session.state.completedRequests?.[id]?.answers ?? {}), ['Red', '4'])
  t.strictSame(session.state.requests, {})
  await t.rejects(session.call('permission', { ...answer, shown: question?.shown }), /This question is closed\./)
  await session.call('permission', { id, approved: true, updatedInput: { answers: {} } })
})

t.test('an existing app answers by the texts of the questions and the labels of the options', async t => {
  const { session } = await demo(t)
  await session.say('ask me')
  const { id, question } = await askedOf(session)
  const text = new Map(question?.form?.questions.map(({ id, question }) => [id, question]))
  const answers = { [text.get('tools') ?? '']: 'Oil, Rope', [text.get('days') ?? '']: '2' }
  await session.call('permission', { id, approved: true, decision: 'approved', updatedInput: { answers } })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['You answered:\n\n- tools: oil, rope\n- days: 2'])
})

t.test('skipping a question lets the agent continue, and a question whose turn is stopped is over', async t => {
  const { session } = await demo(t)
  await session.say('ask me')
  const { id } = await askedOf(session)
  await session.call('permission', { id, approved: false, decision: 'denied' })
  await session.until(session => turnsEnded(session) === 1)
  t.match(texts(session), [/You did not answer/])
  await session.say('SCRIPT: ask https://example.org/')
  const link = await askedOf(session)
  t.match(link.question, { tool: 'AskUserQuestion', url: 'https://example.org/' })
  await session.call('abort', {})
  await session.until(({ state }) => state.completedRequests?.[link.id]?.status === 'canceled')
  await t.rejects(session.call('permission', { id: link.id, approved: true, answers: {}, shown: link.question?.shown }), /closed/)
})

t.test('models and reasoning levels change by call and with a message, and null restores the initial ones', async t => {
  const { session } = await demo(t)
  await session.until(({ metadata }) => metadata.models !== undefined)
  t.match(session.metadata, {
    models: [{ code: 'quick', value: 'Quick' }, { code: 'careful' }],
    currentModelCode: 'careful',
    thoughtLevels: [{ code: 'low' }, { code: 'medium' }, { code: 'high' }],
    currentThoughtLevelCode: 'medium'
  })
  for (const method of ['permission', 'setModel', 'setEffort', 'setMode', 'abort']) t.ok(session.metadata.methods?.includes(method), method)
  await t.rejects(session.call('setModel', { model: 'nonsense' }), /no such model/)
  t.match(await session.call('setModel', { model: 'quick' }), { model: 'quick' })
  await session.until(({ metadata }) => metadata.currentModelCode === 'quick' && metadata.thoughtLevels?.length === 2)
  await session.say('SCRIPT: text one', { model: null, effort: 'high' })
  await session.until(session => turnsEnded(session) === 1)
  await session.until(({ metadata }) => metadata.currentModelCode === 'careful' && metadata.currentThoughtLevelCode === 'high')
  await session.say('SCRIPT: text two')
  await session.until(session => turnsEnded(session) === 2)
  t.match(session.metadata, { currentModelCode: 'careful', currentThoughtLevelCode: 'high' }, 'a message that wishes nothing keeps both')
  await session.say('SCRIPT: text three', { model: 'nonsense', effort: null })
  await session.until(session => turnsEnded(session) === 3)
  await session.until(({ metadata }) => metadata.currentThoughtLevelCode === 'medium')
  t.ok(session.events().some(event => event.t === 'service' && /no model nonsense/.test(event.text)))
})

t.test('a change too large for the agent state is asked in shortened form, and its yes applies all of it [W12]', async t => {
  const { session, home } = await demo(t)
  const content = 'apple '.repeat(700_000)
  await session.say(`SCRIPT: tool write ${JSON.stringify({ path: 'large.txt', content })}`)
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [[id, request] = ['']] = Object.entries(session.state.requests ?? {})
  t.match(request, { risk: { level: 'risky', reasons: ['shortened'] }, arguments: { content: /see the rest on the computer/ } })
  const always = request?.choices?.find(({ kind }) => kind === 'allow_always')
  await t.rejects(session.call('permission', { id, approved: true, choice: always?.id, shown: request?.shown }), /only be allowed once/)
  await session.call('permission', { id, approved: true, shown: request?.shown })
  await session.until(session => turnsEnded(session) === 1)
  t.ok(readFileSync(join(home, 'demo', 'large.txt'), 'utf8') === content)
})

t.test('a request that cannot reach the devices is reported in the session and at the terminal [W12]', async t => {
  const { session, wrapper } = await demo(t)
  await session.say(`SCRIPT: ask https://example.org/?${'a'.repeat(4_500_000)}`)
  await session.until(({ events }) => events().some(event => event.t === 'service' && /may not show a pending decision/.test(event.text)))
  t.same(session.state.requests ?? {}, {})
  await wrapper.says(/Trouble:? .*“Please open this page\.”.*Stop the turn to continue/)
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 1)
  await session.say('SCRIPT: tool exec {"command": "true"}')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
})

t.test('what is decided elsewhere is completed and noted with who decided, and what merely ended with nobody', t => {
  for (const [approved, status, answer] of [
    [true, 'approved', 'allowed'],
    [false, 'denied', 'denied'],
    [undefined, 'canceled', 'ended']
  ] as const) {
    const now = desk()
    now.requests.askPermission(asked)
    now.requests.close('call-1', approved === undefined ? {} : { approved })
    const completed = now.state.completedRequests?.['call-1']
    t.match(completed, { status, answeredBy: approved === undefined ? undefined : 'the terminal' })
    t.equal(completed !== undefined && 'answeredBy' in completed, approved !== undefined)
    const [noted, ...others] = openDecisionLog(now.home).read()
    t.same([noted?.answer, noted?.by, others.length], [answer, approved === undefined ? undefined : 'the terminal', 0])
  }
  t.end()
})
