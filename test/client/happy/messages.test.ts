import t from 'tap'
import { eventsOf } from '../../../lib/client/happy/messages.ts'
import { agentMessage } from '../../../lib/protocol/sealed/messages.ts'
import * as v from '../../../lib/schema.ts'

const events = (content: object) =>
  eventsOf(v.parse(agentMessage, { role: 'agent', content })).map(({ role, turn, ev }) => ({
    role,
    ...(turn !== undefined && { turn }),
    ...ev
  }))

const line = (type: string, content: unknown, more: object = {}) => ({ type: 'output', data: { type, message: { content }, ...more } })

t.test('a transcript line is converted to what a current wrapper would send', t => {
  const blocks = [
    { type: 'thinking', thinking: 'Hm.' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'ls', description: 'List' } }
  ]
  t.match(events(line('assistant', blocks)), [
    { role: 'agent', t: 'text', text: 'Hm.', thinking: true },
    { role: 'agent', t: 'text', text: 'I look.' },
    { t: 'tool-call-start', call: 'c1', name: 'Bash', title: '', description: 'List', args: { command: 'ls' } }
  ])
  const { call, name, title, description, args } = { call: 'c1', name: 'Bash', title: '', description: 'List', args: blocks[2]?.input }
  t.same(events(line('assistant', blocks)).at(-1), {
    role: 'agent',
    t: 'tool-call-start',
    ...{ call, name, title, description, args },
    locations: []
  })
  t.match(events(line('user', [{ type: 'tool_result', tool_use_id: 'c1', content: 'a b', is_error: true }])), [
    { t: 'tool-call-end', call: 'c1', status: 'failed', content: [{ type: 'text', text: 'a b' }] }
  ])
  t.match(events(line('user', 'Go on')), [{ role: 'user', t: 'text', text: 'Go on' }])
  t.same(events(line('assistant', blocks, { isSidechain: true })), [], 'a subagent speaks elsewhere')
  t.same(events(line('user', 'x', { isMeta: true })), [])
  t.same(events(line('system', 'x')), [])
  t.end()
})

t.test('Codex and ACP use the same messages', t => {
  for (const family of [{ type: 'codex' }, { type: 'acp', provider: 'gemini' }]) {
    const of = (data: object) => events({ ...family, data })
    t.match(of({ type: 'task_started', id: 'turn' }), [{ t: 'turn-start', turn: 'turn' }])
    t.match(of({ type: 'turn_aborted', id: 'turn' }), [{ t: 'turn-end', status: 'cancelled', turn: 'turn' }])
    t.match(of({ type: 'tool-result', callId: 'c', output: { stdout: 'out' } }), [
      { t: 'tool-call-end', call: 'c', status: 'completed', content: [{ type: 'text', text: 'out' }] }
    ])
    t.match(of({ type: 'file-edit', id: 'c', filePath: '/a', oldContent: 'b', newContent: 'c' }), [
      { t: 'tool-call-start', kind: 'edit', locations: ['/a'], content: [{ type: 'diff', oldText: 'b', newText: 'c' }] },
      { t: 'tool-call-end', call: 'c' }
    ])
    t.same(of({ type: 'token_count' }), [])
  }
  t.end()
})

t.test('what Happy sends only as events keeps its meaning', t => {
  const of = (data: object) => events({ type: 'event', id: 'e', data })
  t.match(of({ type: 'ready' }), [{ t: 'turn-end', status: 'completed' }])
  t.match(of({ type: 'message', message: 'Hello' }), [{ t: 'service', text: 'Hello' }])
  t.match(of({ type: 'switch', mode: 'local' }), [{ t: 'control', to: 'terminal' }])
  t.match(of({ type: 'switch', mode: 'remote' }), [{ t: 'control', to: 'app' }])
  t.match(of({ type: 'limit-reached', endsAt: 1_700_000_000 }), [{ t: 'limit', endsAt: 1_700_000_000_000 }], 'seconds count as such')
  t.match(of({ type: 'limit-reached', endsAt: 1_700_000_000_000 }), [{ t: 'limit', endsAt: 1_700_000_000_000 }])
  t.match(of({ type: 'limit-reached', endsAt: 99_999_999_999 }), [{ endsAt: 99_999_999_999_000 }])
  t.match(of({ type: 'limit-reached', endsAt: 100_000_000_000 }), [{ endsAt: 100_000_000_000 }])
  for (const endsAt of ['soon', Number.POSITIVE_INFINITY, undefined])
    t.same(of({ type: 'limit-reached', endsAt }), [{ role: 'agent', t: 'limit', endsAt: undefined }], 'nobody knows when')
  t.end()
})

t.test('an envelope means the same bare and wrapped', t => {
  const envelope = { id: 'e', time: 1, role: 'agent' as const, turn: 't', ev: { t: 'text' as const, text: 'Hello' } }
  t.same(eventsOf({ role: 'session', content: envelope }), [envelope])
  t.same(eventsOf({ role: 'session', content: { type: 'session', data: envelope } }), [envelope])
  t.end()
})

t.test('thoughts, terminal output and the end of a turn are told in all their forms', t => {
  const of = (data: object) => events({ type: 'codex', data })
  t.same(of({ type: 'message', message: 'I look.' }), [{ role: 'agent', t: 'text', text: 'I look.' }])
  t.same(of({ type: 'reasoning', message: 'Hm.' }), [{ role: 'agent', t: 'text', text: 'Hm.', thinking: true }])
  t.same(of({ type: 'thinking', text: 'Hm.' }), [{ role: 'agent', t: 'text', text: 'Hm.', thinking: true }])
  t.same(of({ type: 'task_complete', id: 'turn' }), [{ role: 'agent', turn: 'turn', t: 'turn-end', status: 'completed' }])
  const ended = (status: string, ...texts: string[]) => [
    { role: 'agent', t: 'tool-call-end', call: 'c', status, content: texts.map(text => ({ type: 'text', text })) }
  ]
  t.same(of({ type: 'terminal-output', callId: 'c', data: 'out', isError: true }), ended('completed', 'out'))
  t.same(
    of({ type: 'tool-call-result', callId: 'c', output: [{ text: 'one' }, { text: 'two' }, {}], isError: true }),
    ended('failed', 'one\ntwo\n')
  )
  t.same(of({ type: 'tool-result', callId: 'c', output: null }), ended('completed'))
  t.same(of({ type: 'tool-result', callId: 'c', output: { exit: 1 } }), ended('completed', '{\n  "exit": 1\n}'), 'an unknown shape in full')
  t.end()
})

t.test('a call and an edited file are told with all that is known of them', t => {
  const of = (data: object) => events({ type: 'codex', data })
  const called = (name: string, args: object, description = '') => [
    { role: 'agent', t: 'tool-call-start', call: 'c', name, title: '', description, args, locations: [] }
  ]
  const input = { command: 'ls', description: 'List' }
  t.same(of({ type: 'tool-call', callId: 'c', name: 'Bash', input }), called('Bash', input, 'List'))
  for (const input of [['ls'], 'ls', null, undefined])
    t.same(of({ type: 'tool-call', callId: 'c', name: 'Bash', input }), called('Bash', {}))
  const edited = (content: object[], title: string) => [
    {
      ...{ role: 'agent', t: 'tool-call-start', call: 'c', kind: 'edit', name: 'edit', title, description: '', args: {} },
      ...{ locations: ['/a'], content }
    },
    { role: 'agent', t: 'tool-call-end', call: 'c' }
  ]
  t.same(
    of({ type: 'file-edit', id: 'c', filePath: '/a', description: 'Make it', newContent: 'x' }),
    edited([{ type: 'diff', path: '/a', oldText: null, newText: 'x' }], 'Make it')
  )
  t.same(of({ type: 'file-edit', id: 'c', filePath: '/a' }), edited([], ''))
  t.end()
})

t.test('the output of a call is its text, under whichever name an agent gives it', t => {
  const shown = (output: unknown) =>
    events({ type: 'codex', data: { type: 'tool-result', callId: 'c', output } }).flatMap(ev =>
      ev.t === 'tool-call-end' ? ev.content : []
    )
  for (const name of ['output', 'stdout', 'formatted_output', 'aggregated_output', 'content', 'text', 'message'])
    t.same(shown({ exit: 0, [name]: 'done' }), [{ type: 'text', text: 'done' }], name)
  t.same(shown({ output: 'first', message: 'last' }), [{ type: 'text', text: 'first' }])
  t.same(shown({ output: 1, text: 'done' }), [{ type: 'text', text: 'done' }], 'only if it is text')
  t.same(shown(7), [{ type: 'text', text: '7' }])
  t.same(shown([{ text: { content: 'deep' } }, 'bare']), [{ type: 'text', text: 'deep\n' }])
  t.end()
})

t.test('a string is a text block, and anything that is neither text nor blocks says nothing', t => {
  t.same(events(line('assistant', 'Done')), [{ role: 'agent', t: 'text', text: 'Done' }])
  for (const content of [undefined, null, 7, {}, [null, 'x', [], { type: 'image' }]]) {
    t.same(events(line('assistant', content)), [])
    t.same(events(line('user', content)), [])
  }
  t.same(events(line('assistant', 'x', { isCompactSummary: true })), [])
  t.same(events(line('user', [{ type: 'text', text: 7 }])), [{ role: 'user', t: 'text', text: '' }])
  t.end()
})
