import t from 'tap'
import type { AgentEvent } from '../../../../../lib/wrapper/agents/agent.ts'
import { createPartialText } from '../../../../../lib/wrapper/agents/claude/terminal/turn.ts'

function said(...lines: readonly string[]) {
  const told: AgentEvent[] = []
  const live = createPartialText(event => void (event.type === 'text' && told.push(event)))
  for (const [index, delta] of lines.entries()) live.grow({ hook_event_name: 'MessageDisplay', message_id: 'm', index, delta })
  return { live, told }
}

t.test('growing text that was never recorded is sent as cut off, once', t => {
  const { live, told } = said('one\n', 'two\n')
  live.cut()
  live.cut()
  t.match(told, [{ type: 'text', block: 'live m 0', text: 'one\ntwo', isCut: true }])
  t.equal(told.length, 1)
  t.end()
})

t.test('of a message whose first block was recorded only the rest is cut off', t => {
  const { live, told } = said('one\n', 'two\n', 'three')
  t.equal(live.blockOf('one\ntwo'), 'live m 0')
  live.cut()
  t.match(told, [{ block: 'live m 1', text: 'three', isCut: true }])
  t.end()
})

t.test('text recorded in full, or written again, is not sent as cut off', t => {
  const whole = said('one\n', 'two\n')
  whole.live.blockOf('one\ntwo')
  whole.live.cut()
  const anew = said('one\n')
  anew.live.forget()
  anew.live.cut()
  t.strictSame([...whole.told, ...anew.told], [])
  t.end()
})
