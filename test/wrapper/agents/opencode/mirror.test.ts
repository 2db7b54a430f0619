import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createMirror } from '../../../../lib/wrapper/agents/opencode/mirror.ts'
import { history, serverEvent } from '../../../../lib/wrapper/agents/opencode/shapes.ts'

t.test('a turn that started while disconnected continues until its conversation is idle', t => {
  const told: AgentEvent['type'][] = []
  const mirror = createMirror({ emit: ({ type }) => told.push(type), async post() {} })
  mirror.follow('c', 0)
  mirror.beginTurn()
  mirror.catchUp({ history: v.parse(history, [asked('look, then do it'), answered('I looked')]), isIdle: false, waiting: undefined })
  t.notOk(told.includes('turn-ended'), 'its first message is whole, and the next one comes')
  mirror.take({ type: 'session.idle', properties: { sessionID: 'c' } })
  t.equal(told.at(-1), 'turn-ended')
  t.end()
})

t.test('of an answer that failed while disconnected only the last text is marked', t => {
  const told: AgentEvent[] = []
  const mirror = createMirror({ emit: event => told.push(event), async post() {} })
  mirror.follow('c', 0)
  const { info, parts } = answered('half')
  const first = { ...parts[0], id: 'p1', text: 'whole' }
  const failed = { info: { ...info, error: { name: 'APIError', data: { message: 'No more.' } } }, parts: [first, ...parts] }
  mirror.catchUp({ history: v.parse(history, [asked('look'), failed]), isIdle: true, waiting: undefined })
  t.strictSame(
    told.flatMap(event => (event.type === 'text' ? [[event.text, event.isStopped]] : [])),
    [
      ['whole', undefined],
      ['half', true]
    ]
  )
  t.strictSame(told.at(-1), { type: 'turn-ended', reason: 'failed', error: 'No more.' })
  t.end()
})

t.test('a question rejected at the terminal is closed without answers', t => {
  const told: AgentEvent[] = []
  const mirror = createMirror({ emit: event => told.push(event), async post() {} })
  mirror.follow('c', 0)
  const question = { id: 'q', sessionID: 'c', questions: [{ question: 'Which?', options: [] }] }
  mirror.take(v.parse(serverEvent, { type: 'question.asked', properties: question }))
  mirror.take(v.parse(serverEvent, { type: 'question.rejected', properties: { requestID: 'q' } }))
  t.strictSame(told.at(-1), { type: 'question-closed', ask: 'q' })
  t.end()
})

t.test('the next attempt is reported with its reason, as far as opencode says', t => {
  const cases: [status: object, retry: object][] = [
    [{}, { attempt: 1, inMs: 0, why: 'other' }],
    [
      { attempt: 3, next: 1, message: 'Overloaded' },
      { attempt: 3, inMs: 0, why: 'overloaded' }
    ],
    [{ message: 'Too many requests' }, { why: 'limit' }],
    [{ message: 'Usage limit reached' }, { why: 'limit' }],
    [{ message: 'Invalid API key' }, { why: 'sign-in' }],
    [{ message: 'Socket hang up' }, { why: 'unreachable' }]
  ]
  for (const [about, retry] of cases) {
    const told: AgentEvent[] = []
    const mirror = createMirror({ emit: event => told.push(event), async post() {} })
    mirror.follow('c', 0)
    const retrying = (sessionID: string) =>
      v.parse(serverEvent, { type: 'session.status', properties: { sessionID, status: { type: 'retry', ...about } } })
    mirror.take(retrying('another'))
    mirror.take(retrying('c'))
    t.match(told.slice(1), [{ type: 'retrying', ...retry }])
    t.equal(told.length, 2)
  }
  t.end()
})

t.test('a turn that never started has no end', async t => {
  const told: AgentEvent[] = []
  const mirror = createMirror({ emit: event => told.push(event), async post() {} })
  mirror.follow('c', 0)
  mirror.beginTurn()
  const ended = mirror.turnEnded
  mirror.forgetTurn()
  await ended
  t.equal(mirror.turnEnded, undefined)
  mirror.forgetTurn()
  mirror.endTurn({ reason: 'cancelled' })
  t.strictSame(told, [{ type: 'history-read', upTo: { file: 'c', offset: 0 } }])
})

function asked(text: string) {
  const info = { id: 'm1', sessionID: 'c', role: 'user', time: { created: 1 } }
  return { info, parts: [{ id: 'p1', sessionID: 'c', messageID: 'm1', type: 'text', text }] }
}

function answered(text: string) {
  const info = { id: 'm2', sessionID: 'c', role: 'assistant', time: { created: 2, completed: 3 } }
  return { info, parts: [{ id: 'p2', sessionID: 'c', messageID: 'm2', type: 'text', text, time: { start: 2, end: 3 } }] }
}
