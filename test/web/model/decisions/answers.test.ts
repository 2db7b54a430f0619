import t from 'tap'
import type { PermissionChoice } from '../../../../lib/protocol/sealed/session.ts'
import { answerParams, isOwnQuestion, lifeOf, type MyAnswer, verdictsOf } from '../../../../web/model/decisions/answers.ts'
import { answeredLike, decisionsOf, type OpenRequest, openRequests } from '../../../../web/model/decisions/decisions.ts'
import { subjectOf } from '../../../../web/session/decide/subject.ts'

const choices: PermissionChoice[] = [
  { id: 'a', label: 'Yes', kind: 'allow_once' },
  { id: 'b', label: 'Yes, always', kind: 'allow_always' },
  { id: 'c', label: 'No', kind: 'reject_once' }
]

function ask(more: Partial<OpenRequest> = {}): OpenRequest {
  return { id: 'p1', tool: 'Bash', arguments: { command: 'npm test' }, createdAt: 1, choices, shown: 'hash', kind: 'execute', ...more }
}

const completed = { tool: 'Bash', arguments: {}, createdAt: 1, completedAt: 2 }

t.test('an answer contains the choice, exactly what was shown, and who answers', async t => {
  const { once, session, deny } = verdictsOf({ choices }, 's1')
  t.same(once && answerParams(ask(), once, 'Phone'), {
    id: 'p1',
    approved: true,
    decision: 'approved',
    choice: 'a',
    shown: 'hash',
    answeredBy: 'Phone'
  })
  t.match(session && answerParams(ask(), session, 'Phone'), { approved: true, decision: 'approved_for_session', choice: 'b' })
  t.match(answerParams(ask(), { ...deny, reason: 'use clean' }, 'Phone'), {
    approved: false,
    decision: 'denied',
    choice: 'c',
    reason: 'use clean'
  })
  t.match(answerParams(ask(), { ...deny, kind: 'stop' }, 'Phone'), { approved: false, decision: 'abort' })
})

t.test('existing wrappers, which list no choices, can be answered in their format', async t => {
  const { once, session, deny } = verdictsOf({}, 's1')
  const { choices: _, shown: __, ...plain } = ask()
  t.same(once && answerParams(plain, once, undefined), { id: 'p1', approved: true, decision: 'approved' })
  t.equal(session?.kind, 'session')
  t.same(answerParams(plain, deny, undefined), { id: 'p1', approved: false, decision: 'denied' })
})

t.test('choices that the agent does not offer are not available', async t => {
  const { once, session, deny } = verdictsOf({ choices: [{ id: 'b', label: 'Always', kind: 'allow_always' }] }, 's1')
  t.equal(once, undefined)
  t.equal(session?.choice?.id, 'b')
  t.equal(deny.kind, 'stop')
})

t.test('if the agent offers only once, session and always are rules of the machine', async t => {
  const suggestedRule = { on: 'command' as const, pattern: 'npm test', folder: '/x' }
  const offered = choices.filter(({ kind }) => kind !== 'allow_always')
  const { session, always } = verdictsOf({ choices: offered, suggestedRule }, 's1')
  t.match(session && answerParams(ask(), session, 'Phone'), {
    decision: 'approved',
    choice: 'a',
    rule: { ...suggestedRule, session: 's1' },
    shown: 'hash'
  })
  t.match(always && answerParams(ask(), always, 'Phone'), { approved: true, decision: 'approved', choice: 'a', rule: suggestedRule })
  t.equal(verdictsOf({ choices: offered }, 's1').always, undefined, 'without a rule that the machine would take there is none')
  t.equal(verdictsOf({ choices, suggestedRule }, 's1').session?.rule, undefined, "the agent's own choice comes first")
})

t.test('an answer that waits for a link ends with its question', async t => {
  const answer: MyAnswer = { request: ask(), verdict: { kind: 'once' }, at: 1, state: { type: 'queued' } }
  t.equal(lifeOf(answer, undefined, true, 'Phone').type, 'queued')
  t.equal(lifeOf(answer, undefined, false, 'Phone').type, 'ended')
})

t.test('machine and device assess the risk independently, and the more careful one counts', async t => {
  const risk = (told: OpenRequest['risk'], command = 'npm test') =>
    subjectOf(ask({ arguments: { command }, ...(told && { risk: told }) }), '/x').risk
  t.match(risk({ level: 'risky', reasons: ['runs-edited', 'a-reason-of-tomorrow'] }), { level: 'risky', reasons: ['runs-edited'] })
  t.match(risk({ level: 'plain', reasons: [] }, 'git push --force'), { level: 'risky', reasons: ['rewrites-history', 'network'] })
  t.equal(subjectOf(ask(), '/x', ['/x/package.json']).risk.level, 'risky', 'this device knows the change, too')
})

t.test("choices beyond yes and no are shown in the agent's words", async t => {
  t.equal(isOwnQuestion(ask()), false)
  t.equal(isOwnQuestion(ask({ kind: 'plan', tool: 'ExitPlanMode' })), true)
  t.equal(isOwnQuestion(ask({ choices: [...choices, { id: 'd', label: 'Yes, for this folder', kind: 'allow_always' }] })), true)
})

t.test('an answer counts as applied only when the agent state says so, and as mine only when it names this device', async t => {
  const answer: MyAnswer = { request: ask(), verdict: { kind: 'once' }, at: 1, state: { type: 'delivered' } }
  const answered = (more: object) =>
    decisionsOf({ completedRequests: { p1: { ...completed, status: 'approved', decision: 'approved', ...more } } })[0]
  t.equal(lifeOf(answer, undefined, true, 'Phone').type, 'delivered')
  t.equal(lifeOf(answer, answered({ answeredBy: 'Phone' }), false, 'Phone').type, 'applied')
  t.equal(lifeOf(answer, answered({ answeredBy: 'Tablet' }), false, 'Phone').type, 'elsewhere')
  t.equal(lifeOf(answer, answered({}), false, 'Phone').type, 'applied', 'an existing wrapper does not say who answered')
  t.equal(lifeOf(answer, answered({ status: 'denied', decision: 'denied' }), false, 'Phone').type, 'elsewhere', 'it was decided otherwise')
  t.equal(lifeOf(answer, answered({ status: 'canceled' }), false, 'Phone').type, 'ended')
})

t.test('a failed answer leaves the question open, or ended if it is gone', async t => {
  const answer: MyAnswer = { request: ask(), verdict: { kind: 'once' }, at: 1, state: { type: 'failed', why: 'away', says: '' } }
  t.equal(lifeOf(answer, undefined, true, 'Phone').type, 'failed')
  t.equal(lifeOf(answer, undefined, false, 'Phone').type, 'ended')
})

t.test('an id among the completed ones hides the same id among the open ones, and the oldest comes first', async t => {
  const { id: _, ...request } = ask()
  const open = openRequests({
    requests: { p3: { ...request, createdAt: 3 }, p1: request, p2: { ...request, createdAt: 2 } },
    completedRequests: { p1: { ...completed, status: 'denied' } }
  })
  t.same(
    open.map(each => each.id),
    ['p2', 'p3']
  )
})

t.test('everything in a call is shown somewhere [acceptance 4]', async t => {
  const subject = subjectOf(
    ask({
      arguments: { command: ['bash', '-lc', 'npm test'], cwd: '/elsewhere', description: 'Run the tests', timeout: 5000, env: { A: 'b' } }
    }),
    '/home/mira'
  )
  t.match(subject, { command: 'npm test', directory: '/elsewhere', reason: 'Run the tests', fields: { timeout: 5000, env: { A: 'b' } } })
  t.equal(subjectOf(ask(), undefined).question, 'Run this command?')
})

t.test('the confirm button is labelled with what it allows, in short and with nothing hidden', t => {
  const named = (request: Partial<OpenRequest>) => subjectOf(ask(request), '/x').confirm
  t.equal(named({ arguments: { command: 'git push --force' } }), 'Confirm: run git push --force once')
  t.equal(named({ arguments: { command: 'rm -rf \u202egnp.exe\n  build' } }), 'Confirm: run rm -rf \\u{202e}gnp.exe build once')
  t.equal(
    named({ arguments: { command: `curl https://example.org/${'x'.repeat(80)}` } }),
    `Confirm: run curl https://example.org/${'x'.repeat(22)}… once`
  )
  t.equal(named({ tool: 'delete', kind: 'delete', locations: ['/x/old.ts'], arguments: {} }), 'Confirm: delete old.ts once')
  t.end()
})

t.test('an edit shows its full diff, in every format', async t => {
  const given = subjectOf(
    ask({ tool: 'Edit', kind: 'edit', arguments: {}, content: [{ type: 'diff', path: '/x/a.ts', oldText: 'a', newText: 'b' }] }),
    '/x'
  )
  const older = subjectOf(
    ask({ tool: 'Edit', kind: undefined, arguments: { file_path: '/x/a.ts', old_string: 'a', new_string: 'b' } }),
    '/x'
  )
  const listed = subjectOf(
    ask({ tool: 'edit', kind: undefined, arguments: [{ type: 'diff', path: '/x/a.ts', oldText: 'a', newText: 'b' }] }),
    '/x'
  )
  t.same(listed.fields, {}, 'and nothing of it a second time')
  for (const subject of [given, older, listed]) {
    t.equal(subject.question, 'Edit a.ts?')
    t.same(subject.diffs, [{ type: 'diff', path: '/x/a.ts', oldText: 'a', newText: 'b' }])
    t.equal(subject.risk.level, 'plain')
  }
  const hidden = subjectOf(
    ask({ tool: 'Edit', kind: 'edit', content: [{ type: 'diff', path: '/x/a.ts', oldText: 'a', newText: 'b\u202e' }] }),
    '/x'
  )
  t.equal(hidden.risk.level, 'risky', 'a change that hides something is risky')
})

t.test('similar earlier answers are those of the same program, latest first', async t => {
  const state = (command: string, completedAt: number, status: 'approved' | 'denied' | 'canceled' = 'approved') => ({
    ...completed,
    arguments: { command },
    completedAt,
    status
  })
  const answered = decisionsOf({
    completedRequests: {
      a: state('npm run lint', 2),
      b: state('git push', 3),
      c: state('npm  test', 4, 'denied'),
      d: state('npm ci', 5, 'canceled')
    }
  })
  t.strictSame(
    answeredLike(ask(), answered).map(({ id }) => id),
    ['c', 'a']
  )
})

t.test('an answer that names nobody is this one if it says the same', async t => {
  const said = {
    once: { status: 'approved', decision: 'approved' },
    session: { status: 'approved', decision: 'approved_for_session' },
    deny: { status: 'denied', decision: 'denied' },
    stop: { status: 'denied', decision: 'abort' }
  } as const
  const rows: [MyAnswer['verdict']['kind'], (keyof typeof said)[]][] = [
    ['once', ['once']],
    ['always', ['once']],
    ['session', ['session']],
    ['deny', ['deny', 'stop']],
    ['stop', ['deny', 'stop']]
  ]
  for (const [kind, same] of rows) {
    const answer: MyAnswer = { request: ask(), at: 1, verdict: { kind }, state: { type: 'delivered' } }
    for (const [outcome, request] of Object.entries(said)) {
      const [answered] = decisionsOf({ completedRequests: { p1: { ...completed, ...request } } })
      const expected = same.some(each => each === outcome) ? 'applied' : 'elsewhere'
      t.equal(lifeOf(answer, answered, false, 'Phone').type, expected, `${kind}, then ${outcome}`)
    }
  }
})

t.test('open requests are listed oldest first, those of one moment always in the same order', async t => {
  const at = (createdAt: number) => ({ tool: 'Bash', arguments: {}, createdAt })
  const ids = (requests: Record<string, ReturnType<typeof at>>) => openRequests({ requests }).map(({ id }) => id)
  t.same(ids({ a: at(2), b: at(1) }), ['b', 'a'])
  t.same(ids({ b: at(1), a: at(1), c: at(1) }), ['a', 'b', 'c'])
  t.same(ids({ c: at(1), b: at(1), a: at(1) }), ['a', 'b', 'c'])
})

t.test('a rule is not offered to an agent that cannot allow once, nor a question of its own without choices', async t => {
  const suggestedRule = { on: 'command' as const, pattern: 'npm test', folder: '/x' }
  const { once, session, always } = verdictsOf({ choices: [{ id: 'c', label: 'No', kind: 'reject_once' }], suggestedRule }, 's1')
  t.same([once, session, always], [undefined, undefined, undefined])
  t.match(verdictsOf({ choices: [], suggestedRule }, 's1'), { once: { kind: 'once' }, session: { kind: 'session' }, always: undefined })
  const [plan] = choices
  t.equal(isOwnQuestion(ask({ kind: 'plan', choices: [plan as PermissionChoice] })), true)
  t.equal(isOwnQuestion(ask({ kind: 'plan', choices: [] })), false)
  t.equal(isOwnQuestion(ask({ kind: 'plan', choices: undefined })), false)
  const twice = (kind: PermissionChoice['kind']) => ['a', 'b'].map(id => ({ id, label: id, kind }))
  t.equal(isOwnQuestion(ask({ choices: twice('reject_once') })), false, 'two ways to deny are no question')
  t.equal(isOwnQuestion(ask({ choices: twice('allow_once') })), true)
})

t.test('a permanent refusal of the agent denies where it knows no other', async t => {
  const of = (...kinds: PermissionChoice['kind'][]) =>
    verdictsOf({ choices: kinds.map(kind => ({ id: kind, label: kind, kind })) }, 's1').deny
  t.match(of('allow_once', 'reject_always'), { kind: 'deny', choice: { id: 'reject_always' } })
  t.match(of('reject_always', 'reject_once'), { kind: 'deny', choice: { id: 'reject_once' } })
  t.same(of('allow_once'), { kind: 'stop' })
})

t.test('an answer says only what was given', async t => {
  const params = (more: object) => answerParams(ask(), { kind: 'once', ...more }, undefined)
  t.same(params({ reason: '' }), { id: 'p1', approved: true, decision: 'approved', shown: 'hash' })
  t.match(params({ mode: 'acceptEdits' }), { mode: 'acceptEdits' })
})

t.test('how permissions ended is listed with who decided, why and what it allows from then on', async t => {
  const grants = { lasts: 'session' as const, what: [{ type: 'edits' as const, of: [] }] }
  const all = {
    ...{ toolUseId: 'c1', title: 'Run it', answeredBy: 'Phone', reason: 'go on', rule: 'npm test', status: 'approved' as const, grants },
    ...{ tool: 'Bash', arguments: { command: 'npm test' }, createdAt: 1, completedAt: 2 }
  }
  t.strictSame(decisionsOf({ completedRequests: { p1: all } }), [
    {
      ...{ id: 'p1', call: 'c1', tool: 'Bash', args: { command: 'npm test' }, title: 'Run it', outcome: 'allowed-once' },
      ...{ reason: 'go on', by: 'Phone', rule: 'npm test', grants, at: 2 }
    }
  ])
  const outcome = (status: 'approved' | 'denied' | 'canceled', decision?: string) =>
    decisionsOf({ completedRequests: { p1: { ...completed, status, decision } as never } })[0]?.outcome
  t.same(
    [
      outcome('approved'),
      outcome('approved', 'approved_for_session'),
      outcome('denied'),
      outcome('denied', 'abort'),
      outcome('canceled', 'abort')
    ],
    ['allowed-once', 'allowed-session', 'denied', 'stopped', 'ended']
  )
  t.strictSame([decisionsOf(undefined), openRequests(undefined), decisionsOf({ completedRequests: null })], [[], [], []])
  const [bare] = decisionsOf({ completedRequests: { p1: { ...completed, status: 'denied', reason: null } } })
  t.equal(bare?.reason, undefined)
  t.notOk(bare && 'grants' in bare)
})

t.test('of similar earlier answers the last eight are shown, and only of the same tool', async t => {
  const state = (index: number, more: object = {}) => [
    `p${index}`,
    { ...completed, completedAt: index, status: 'approved', arguments: { command: ' npm run x' }, ...more }
  ]
  const answered = (...rows: ReturnType<typeof state>[]) =>
    answeredLike(ask(), decisionsOf({ completedRequests: Object.fromEntries(rows) }))
  const nine = Array.from({ length: 9 }, (_, index) => state(index))
  t.strictSame(
    answered(...nine).map(({ id }) => id),
    ['p8', 'p7', 'p6', 'p5', 'p4', 'p3', 'p2', 'p1']
  )
  t.strictSame(answered(state(1, { tool: 'Edit' }), state(2, { arguments: {} }), state(3, { arguments: null })), [])
  const edit = ask({ tool: 'Edit', arguments: { file_path: '/x' } })
  const edits = decisionsOf({
    completedRequests: Object.fromEntries([state(1, { tool: 'Edit', arguments: { file_path: '/y' } }), state(2)])
  })
  t.strictSame(
    answeredLike(edit, edits).map(({ id }) => id),
    ['p1'],
    'without a command, the tool is enough'
  )
})
