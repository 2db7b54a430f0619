import t from 'tap'
import type { MyAnswer } from '../../../../web/model/decisions/answers.ts'
import type { Since } from '../../../../web/model/decisions/closed-decisions.ts'
import type { Answered } from '../../../../web/model/decisions/decisions.ts'
import type { Notice } from '../../../../web/model/decisions/notices.ts'
import type { SessionFacts } from '../../../../web/model/session/facts.ts'
import { noticeWords } from '../../../../web/session/decide/notice-words.ts'

const facts = (presence: SessionFacts['presence']) => ({ presence, agentShort: 'Claude', path: '/home/mira' }) as SessionFacts
const request = { id: 'p1', createdAt: 1, tool: 'Bash', kind: 'execute', arguments: { command: 'ls' } } as const
const asked = {
  command: { type: 'permission', request },
  edit: { type: 'permission', request: { ...request, tool: 'x', kind: 'other', arguments: {} } }
}
const question = { type: 'question' }
const mine = {} as MyAnswer
const answered = (given: Partial<Answered>) => ({ outcome: 'denied', by: undefined, ...given }) as Answered
const gone = (since: Since[], isLookedUp = false) => ({ since, isLookedUp }) as unknown as Notice['gone']

/** In a session whose wrapper is connected, on a device named Pixel. */
function words(given: { [Name in keyof Notice]?: unknown }, presence: SessionFacts['presence'] = 'here') {
  const notice = { id: 'p1', asked: asked.command, mine: undefined, answered: undefined, at: 1, ...given }
  return noticeWords(notice as Notice, facts(presence), 'Pixel')
}

t.test('a decision made elsewhere says where, and how it was decided', t => {
  const cases: [given: { [Name in keyof Notice]?: unknown }, title: string, text?: string][] = [
    [{ answered: answered({}) }, 'Answered elsewhere', 'Denied'],
    [{ answered: answered({ by: 'Tablet' }) }, 'Answered on Tablet', 'Denied'],
    [{ answered: answered({ by: 'Pixel' }) }, 'Answered on another device', 'Denied'],
    [{ answered: answered({ by: 'Pixel' }), gone: gone([], true) }, 'Denied by you'],
    [{ answered: answered({ by: 'Tablet' }), gone: gone([], true) }, 'Answered on Tablet', 'Denied'],
    [{ answered: answered({ by: 'Pixel' }), mine }, 'Answered on Pixel', 'Your answer came second and changed nothing.'],
    [{ answered: answered({ outcome: 'allowed-once', rule: 'npm test' }) }, 'Allowed by rule npm test', 'Allowed once'],
    [{ answered: answered({ outcome: 'allowed-once', rule: 'x', by: 'Tablet' }) }, 'Answered on Tablet', 'Allowed once'],
    [{ answered: answered({ by: 'Tablet', said: { text: 'Vite' } }) }, 'Answered on Tablet', 'Answered: Vite'],
    [{ answered: answered({ said: { text: undefined } }) }, 'Answered elsewhere', 'You let it decide']
  ]
  for (const [given, title, text] of cases) t.strictSame(words(given), { title, ...(text !== undefined && { text }) })
  t.end()
})

t.test('a decision that ended without an answer says why, and that nothing ran', t => {
  t.strictSame(words({}), { title: 'Claude withdrew this', text: 'The command did not run.' })
  t.strictSame(words({ mine }), { title: 'Claude withdrew this', text: 'The command did not run.' })
  t.strictSame(words({ asked: asked.edit }), { title: 'Claude withdrew this', text: 'It did not run.' })
  t.strictSame(words({ asked: question }), { title: 'Claude withdrew this', text: 'Ended without an answer' })
  t.equal(words({ gone: gone(['stopped']) }).title, 'Session stopped')
  t.equal(words({}, 'ended').title, 'Session stopped')
  t.equal(words({ gone: gone(['stopped', 'ended-here']) }).title, 'You ended Claude')
  t.strictSame(words({ mine }, 'ended'), {
    ...{ title: 'Not applied', text: 'Claude stopped before it could read this. It did not run.', isBad: true }
  })
  t.end()
})
