import t from 'tap'
import type { Item } from '../../../../web/model/transcript/items.ts'
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

t.test('thoughts, notes and ended steps are output too, with their times; what is blank is passed over', async t => {
  const at = (more: object) => ({ key: 'k', seq: 1, at: 5, ...more }) as Item
  const of = (items: Item[], ...partials: string[]) =>
    lastOutput({ items, partials: partials.map(text => ({ turn: 't', block: 'b', text, thinking: false, at: 9 })) })
  const content = [
    { type: 'text', text: 'a' },
    { type: 'diff', path: 'x', oldText: 'o', newText: 'n' },
    { type: 'text', text: 'b \n' }
  ]
  t.same(of([at({ type: 'thinking', text: ' Hm. ' })]), { text: ' Hm.', at: 5 })
  t.same(of([at({ type: 'note', text: 'Newer' })]), { text: 'Newer', at: 5 })
  t.same(of([at({ type: 'step', content, endedAt: 8 })]), { text: 'a\nb', at: 8 })
  t.same(of([at({ type: 'step', content, endedAt: undefined })]), { text: 'a\nb', at: 5 })
  const said = at({ type: 'prose', text: 'Done.' })
  t.same(of([said, at({ type: 'prose', text: ' ' }), at({ type: 'plan', entries: [], text: 'x' })], ' '), { text: 'Done.', at: 5 })
  t.same(of([said], 'one', 'And'), { text: 'And', at: 9 })
  t.equal(of([]), undefined)
})

t.test("a session with only the person's messages has no output", async t => {
  t.equal(lastOutput(tell().mine('Hello?').done()), undefined)
})
