import t from 'tap'
import { newEnvelope, newSessionMessage, newUserText } from '../../../../lib/client/index.ts'
import type { SessionEvent } from '../../../../lib/protocol/sealed/messages.ts'
import { endedIn, lineOf } from '../../../../web/model/transcript/last-line.ts'

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
    [{ t: 'turn-end', status: 'cancelled' }, 'Stopped']
  ]
  for (const [ev, text] of rows) t.equal(lineOf(newSessionMessage(newEnvelope(ev, { role: 'agent', turn: 't' })))?.text, text, ev.t)
})

t.test("a person's message is marked as theirs, and a long text is cut", async t => {
  t.equal(lineOf(newUserText('Fix it\nplease'))?.text, 'You: Fix it')
  t.ok((lineOf(newUserText('x'.repeat(5000)))?.text.length ?? 0) < 250)
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
