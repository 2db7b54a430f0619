import t from 'tap'
import type { AgentEvent } from '../../../../../lib/wrapper/agents/agent.ts'
import { createTranslator } from '../../../../../lib/wrapper/agents/claude/transcript/history.ts'
import { readRow } from '../../../../../lib/wrapper/agents/claude/transcript/rows.ts'
import { fetchedOf } from '../../../../../web/model/transcript/web-fetch.ts'

/** How a use of a tool ends that says this beside its result. */
function endOf(name: string, toolUseResult: unknown) {
  const events: AgentEvent[] = []
  const translator = createTranslator({ emit: event => events.push(event), isOurs: () => false })
  const content = [{ type: 'tool_result', tool_use_id: 'c1', content: 'The page.' }]
  translator.begin('c1', name, {})
  const line = JSON.stringify({ type: 'user', uuid: 'u1', message: { content }, toolUseResult })
  for (const row of readRow(line, 0)) if (row.type === 'block') translator.take(row)
  const ended = events.find(event => event.type === 'step-ended')
  if (ended === undefined) throw new Error('It did not end.')
  return ended.step.content
}

t.test('a web fetch has its status and size, as the app reads them', async t => {
  const told = endOf('WebFetch', { bytes: 48213, code: 200, codeText: 'OK', result: 'The page.', url: 'https://example.org' })
  t.same(told, [{ type: 'text', text: 'HTTP 200, 48213 bytes\n\nThe page.' }])
  t.same(fetchedOf(told), { status: 200, bytes: 48213 })
})

t.test('output of other tools in that field is not mistaken for a web response', async t => {
  for (const told of [undefined, 'Error: no', [1], { stdout: '' }, { code: 'x', bytes: 1 }])
    t.same(endOf('WebFetch', told), [{ type: 'text', text: 'The page.' }])
  t.same(endOf('Bash', { code: 200, bytes: 1 }), [{ type: 'text', text: 'The page.' }])
  t.equal(fetchedOf([{ type: 'text', text: 'It says: HTTP 200, 12 bytes' }]), undefined)
})
