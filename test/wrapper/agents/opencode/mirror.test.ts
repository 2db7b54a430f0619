import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createMirror } from '../../../../lib/wrapper/agents/opencode/mirror.ts'
import { history } from '../../../../lib/wrapper/agents/opencode/shapes.ts'

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

function asked(text: string) {
  const info = { id: 'm1', sessionID: 'c', role: 'user', time: { created: 1 } }
  return { info, parts: [{ id: 'p1', sessionID: 'c', messageID: 'm1', type: 'text', text }] }
}

function answered(text: string) {
  const info = { id: 'm2', sessionID: 'c', role: 'assistant', time: { created: 2, completed: 3 } }
  return { info, parts: [{ id: 'p2', sessionID: 'c', messageID: 'm2', type: 'text', text, time: { start: 2, end: 3 } }] }
}
