import t from 'tap'
import { newEnvelope, newSessionMessage, newUserText } from '../../../../lib/client/index.ts'
import { messageBody, type SessionEvent } from '../../../../lib/protocol/sealed/messages.ts'
import * as v from '../../../../lib/schema.ts'
import { endedIn, lineOf } from '../../../../web/model/transcript/last-line.ts'
import { words } from '../../../../web/words/index.ts'

t.test('a row shows the last line that matters to a person', async t => {
  const rows: [SessionEvent, string | undefined][] = [
    [{ t: 'text', text: '\n## Done\nAll **tests** pass' }, 'Done'],
    [{ t: 'text', text: 'All **tests** pass in `src`' }, 'All tests pass in src'],
    [{ t: 'text', text: 'hm', thinking: true }, undefined],
    [{ t: 'tool-call-start', call: 'c', name: 'Bash', title: 'npm test', description: '', args: {} }, 'npm test'],
    [{ t: 'tool-call-end', call: 'c' }, undefined],
    [
      {
        t: 'plan',
        entries: [
          { content: 'a', status: 'completed' },
          { content: 'b', status: 'pending' }
        ]
      },
      'Plan, 1 of 2'
    ],
    [{ t: 'turn-start' }, undefined],
    [{ t: 'turn-end', status: 'completed' }, undefined],
    [{ t: 'turn-end', status: 'failed' }, 'Stopped with an error'],
    [{ t: 'turn-end', status: 'cancelled' }, 'Stopped'],
    [{ t: 'file', ref: 'r', name: 'tree.png', size: 3 }, words.session.file('tree.png')],
    [{ t: 'service', text: ' Codex\nis newer' }, 'Codex'],
    [{ t: 'service', text: ' ' }, undefined],
    [{ t: 'read', localId: 'l' }, undefined],
    [
      {
        ...{ t: 'tool-call-start', call: 'c', name: 'TodoWrite', title: 'x', description: '' },
        args: { todos: [{ content: 'a', status: 'completed' }] }
      },
      'Plan, 1 of 1'
    ],
    [{ t: 'tool-call-start', call: 'c', name: 'mcp__trees', title: '', description: '', args: {} }, 'mcp__trees']
  ]
  for (const [ev, text] of rows) t.equal(lineOf(newSessionMessage(newEnvelope(ev, { role: 'agent', turn: 't' })))?.text, text, ev.t)
})

t.test('the end of a turn that did not complete, and a limit, say so', async t => {
  const ended = (status: 'completed' | 'failed' | 'cancelled') =>
    lineOf(newSessionMessage(newEnvelope({ t: 'turn-end', status }, { role: 'agent', turn: 't' })))?.end
  t.same([ended('completed'), ended('failed'), ended('cancelled')], [undefined, 'failed', 'cancelled'])
  const older = (data: object) => v.parse(messageBody, { role: 'agent', content: { type: 'event', data } })
  t.same(lineOf(older({ type: 'limit-reached', endsAt: 5 })), { text: 'Usage limit reached', end: 'failed' })
})

t.test('of a message with several statements, the last that a person understands counts', async t => {
  const blocks = [
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'x', name: 'Bash', input: { command: 'ls' } },
    { type: 'thinking', thinking: 'Hm.' }
  ]
  const body = { role: 'agent', content: { type: 'output', data: { type: 'assistant', message: { content: blocks } } } }
  t.match(lineOf(v.parse(messageBody, body)), { command: { call: 'x', hasRun: false } })
  t.same(endedIn(v.parse(messageBody, body)), [])
})

t.test("a person's message is marked as theirs, and a long text is cut", async t => {
  t.equal(lineOf(newUserText('Fix it\nplease'))?.text, 'You: Fix it')
  t.equal(lineOf(newUserText('x'.repeat(200)))?.text, `You: ${'x'.repeat(200)}`)
  t.equal(lineOf(newUserText('x'.repeat(201)))?.text, `You: ${'x'.repeat(199)}…`)
})

t.test('subagent output is not shown', async t => {
  const ev: SessionEvent = { t: 'text', text: 'inside' }
  t.equal(lineOf(newSessionMessage(newEnvelope(ev, { role: 'agent', turn: 't', subagent: 's' }))), undefined)
})

t.test('a command is shown with its call, and its end says whether it ran', async t => {
  const told = (ev: SessionEvent) => newSessionMessage(newEnvelope(ev, { role: 'agent', turn: 't' }))
  const begun: SessionEvent = { t: 'tool-call-start', call: 'c', name: 'Bash', title: 'npm test', description: '', args: {} }
  t.same(lineOf(told(begun)), { text: 'npm test', command: { call: 'c', hasRun: false } })
  t.same(lineOf(told({ ...begun, name: 'Read', title: 'Read a.ts' })), { text: 'Read a.ts' }, 'a title that has its verb')
  const ways = [
    ['completed', true],
    ['failed', true],
    ['denied', false],
    ['cancelled', false]
  ] as const
  for (const [status, hasRun] of ways) t.same(endedIn(told({ t: 'tool-call-end', call: 'c', status })), [{ call: 'c', hasRun }], status)
})
