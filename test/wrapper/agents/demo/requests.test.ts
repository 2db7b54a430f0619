import t from 'tap'
import { asked, retell } from '../../../../lib/wrapper/agents/demo/requests.ts'

t.test('it asks with its form, for a page to be opened, or for words', t => {
  const link = 'https://example.org/in'
  t.strictSame(asked('s', link), { mode: 'url', sessionId: 's', elicitationId: link, message: 'Please open this page.', url: link })
  for (const words of ['Which color?', 'see https://example.org', 'http:', 'file:///a']) {
    t.strictSame(asked('s', words), {
      mode: 'form',
      sessionId: 's',
      message: words,
      requestedSchema: {
        type: 'object',
        required: ['answer'],
        properties: { answer: { type: 'string', title: 'Answer', description: words } }
      }
    })
  }
  const form = asked('s', undefined)
  t.match(form, { mode: 'form', sessionId: 's', requestedSchema: { required: ['days'] } })
  t.end()
})

t.test('it says what it was answered', t => {
  const cases: [response: Parameters<typeof retell>[0], says: string][] = [
    [
      { action: 'accept', content: { color: 'red', tools: ['Oil', 'Rope'], days: 5 } },
      'You answered:\n\n- color: red\n- tools: Oil, Rope\n- days: 5'
    ],
    [{ action: 'accept', content: {} }, 'Thank you.'],
    [{ action: 'accept' }, 'Thank you.'],
    [{ action: 'decline' }, 'You did not answer. I continue without it.'],
    [{ action: 'cancel' }, 'Nobody answered.']
  ]
  for (const [response, says] of cases) t.equal(retell(response), says)
  t.end()
})
