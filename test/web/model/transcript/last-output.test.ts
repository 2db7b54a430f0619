import t from 'tap'
import { lastOutput } from '../../../../web/model/transcript/last-output.ts'
import { type StepStart, tell } from '../../stories/fixtures.ts'

const command = (text = ''): StepStart => ({
  kind: 'execute',
  args: { command: 'npm test' },
  content: text === '' ? [] : [{ type: 'text', text }]
})

t.test('the last output of an agent is that of its running command, or else its last text', async t => {
  const said = tell().mine('Test it').turn().say('I test it.')
  t.equal(lastOutput(said.done())?.text, 'I test it.')
  t.equal(lastOutput(said.step(command()).done())?.text, 'I test it.')
  const lines = Array.from({ length: 9 }, (_, at) => `line ${at}`).join('\n')
  t.equal(lastOutput(said.step(command(`${lines}\n\n`)).done())?.text, 'line 3\nline 4\nline 5\nline 6\nline 7\nline 8')
  const growing = { turn: 't', block: 'b', text: 'And now', thinking: false, at: 7 }
  t.same(lastOutput({ ...said.done(), partials: [growing] }), { text: 'And now', at: 7 })
})

t.test("a session with only the person's messages has no output", async t => {
  t.equal(lastOutput(tell().mine('Hello?').done()), undefined)
})
