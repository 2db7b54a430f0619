import t from 'tap'
import type { Answered } from '../../../../web/model/decisions/decisions.ts'
import { answerWords } from '../../../../web/session/transcript/answer-words.ts'

const answered: Answered = {
  ...{ id: 'p1', call: undefined, tool: 'Bash', args: {}, title: undefined, reason: undefined, at: 1 },
  ...{ outcome: 'allowed-once', by: undefined }
}
const grants = (lasts: 'always' | 'session') => ({ lasts, what: [{ type: 'edits', of: [] }] }) as unknown as Answered['grants']

const cases: [says: string, given: Partial<Answered>][] = [
  ['Allowed once', {}],
  ['Allowed once by you', { by: 'Pixel' }],
  ['Allowed once on Tablet', { by: 'Tablet' }],
  ['Denied', { outcome: 'denied' }],
  ['Denied and stopped in the terminal', { outcome: 'stopped', by: 'the terminal' }],
  ['Allowed by rule npm test', { rule: 'npm test' }],
  ['Allowed by you, from now on', { rule: 'npm test', by: 'Pixel' }],
  ['Allowed from now on, on Tablet', { rule: 'npm test', by: 'Tablet' }],
  ['Allowed by you for this session', { rule: 'npm test', by: 'Pixel', outcome: 'allowed-session' }],
  ['Allowed from now on: all edits', { grants: grants('always') }],
  ['Allowed by you for this session: all edits', { grants: grants('session'), by: 'Pixel', outcome: 'allowed-session' }],
  ['You answered: Vite', { said: { text: 'Vite' }, by: 'Pixel' }],
  ['Answered: Vite', { said: { text: 'Vite' }, by: 'Tablet' }],
  ['Answered: Vite', { said: { text: 'Vite' } }],
  ['You let it decide', { said: { text: undefined }, by: 'Pixel' }],
  ['Ended without an answer', { said: { text: undefined }, outcome: 'ended' }]
]

t.test('an answer is told with who gave it, and what it allows from then on', t => {
  for (const [says, given] of cases) t.equal(answerWords({ ...answered, ...given }, 'Pixel'), says, JSON.stringify(given))
  t.end()
})
