import t from 'tap'
import type { AgentState } from '../../lib/protocol/sealed/session.ts'
import type { PermissionAsk, Step } from '../../lib/wrapper/agents/agent.ts'
import { cancelAll, createDecisions } from '../../lib/wrapper/decisions.ts'

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

function desk() {
  let state: AgentState = { controlledByUser: false }
  let time = 1000
  const decisions = createDecisions(
    change => (state = change(state)),
    () => time++
  )
  return {
    decisions,
    get state() {
      return state
    }
  }
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
  t.strictSame(now.decisions.open, [{ ask: 'call-1', title: 'Edit a.txt' }])
  t.end()
})

t.test('each way to answer picks the choice it means', t => {
  const ways = [
    [{ approved: true, choice: 'always' }, 'always', 'approved', 'approved_for_session', false],
    [{ approved: true }, 'yes', 'approved', 'approved', false],
    [{ approved: true, decision: 'approved_for_session' as const }, 'always', 'approved', 'approved_for_session', false],
    [{ approved: false }, 'no', 'denied', 'denied', false],
    [{ approved: false, decision: 'denied' as const }, 'no', 'denied', 'denied', false],
    [{ approved: false, decision: 'abort' as const, reason: 'wait' }, 'no', 'denied', 'abort', true]
  ] as const
  for (const [answer, choice, status, decision, stops] of ways) {
    const now = desk()
    now.decisions.ask(asked)
    t.strictSame(now.decisions.answer({ id: 'call-1', ...answer }), { choice, stops }, JSON.stringify(answer))
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
