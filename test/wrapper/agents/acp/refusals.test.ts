import t from 'tap'
import { endOfTurn, explain } from '../../../../lib/wrapper/agents/acp/refusals.ts'

t.test('a turn that stopped early says why', async t => {
  const failed = (error: string) => ({ reason: 'failed', error })
  t.strictSame(endOfTurn('end_turn'), { reason: 'done' })
  t.strictSame(endOfTurn('unheard of'), { reason: 'done' })
  t.strictSame(endOfTurn('cancelled'), { reason: 'cancelled' })
  t.strictSame(endOfTurn('refusal'), failed('The agent refused to continue.'))
  t.strictSame(endOfTurn('max_tokens'), failed('The answer exceeded the output limit of the model.'))
  t.strictSame(endOfTurn('max_turn_requests'), failed('The turn exceeded the request limit of the agent.'))
})

t.test('an error is explained by the data beside it, if that says something', async t => {
  const error = (data?: unknown) => Object.assign(new Error('Internal error'), { data })
  const cases: [error: unknown, sentence: string][] = [
    [error('No more.'), 'No more.'],
    [error({ details: 'Details.', message: 'Message.', error: 'Error.' }), 'Details.'],
    [error({ details: '', message: 'Message.', error: 'Error.' }), 'Message.'],
    [error({ message: 5, error: 'Error.' }), 'Error.'],
    [error({ other: 'Other.' }), 'Internal error'],
    [error(''), 'Internal error'],
    [error(null), 'Internal error'],
    [error(5), 'Internal error'],
    [new Error('Broken.'), 'Broken.'],
    ['odd', 'odd']
  ]
  for (const [given, sentence] of cases) t.equal(explain(given), sentence)
})
