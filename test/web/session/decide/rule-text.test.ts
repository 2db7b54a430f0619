import t from 'tap'
import type { ApprovalRule } from '../../../../lib/protocol/sealed/decisions/rules.ts'
import { draftOf, type RuleText, ruleTextOf } from '../../../../web/session/decide/rule-text.ts'

const now = new Date(2026, 0, 31, 15, 30).getTime()
const midnight = new Date(2026, 1, 1).getTime()
const rule = (endsAt?: number): ApprovalRule => ({
  ...{ id: 'r1', on: 'read', pattern: 'src/**', folder: '/home/mira', madeAt: 1, used: 0 },
  ...(endsAt !== undefined && { endsAt })
})

t.test('a rule ends after two hours, at midnight, or only when it is removed', t => {
  const text: RuleText = { on: 'command', pattern: ' npm test ', folder: ' /home/mira ', end: 'removed' }
  const draft = { on: 'command', pattern: 'npm test', folder: '/home/mira' }
  t.strictSame(draftOf(text, now), draft)
  t.strictSame(draftOf({ ...text, end: 'hours' }, now), { ...draft, endsAt: now + 7_200_000 })
  t.strictSame(draftOf({ ...text, end: 'today' }, now), { ...draft, endsAt: midnight })
  t.end()
})

t.test('a rule to be edited says how it ends, a new one begins in the home folder', t => {
  t.strictSame(ruleTextOf(undefined, '/home/mira', now), { on: 'command', pattern: '', folder: '/home/mira', end: 'removed' })
  t.equal(ruleTextOf(undefined, undefined, now).folder, '')
  t.strictSame(ruleTextOf(rule(), '/', now), { on: 'read', pattern: 'src/**', folder: '/home/mira', end: 'removed' })
  t.equal(ruleTextOf(rule(midnight), '/', now).end, 'today')
  for (const other of [midnight - 1, midnight + 1]) t.equal(ruleTextOf(rule(other), '/', now).end, 'hours')
  t.end()
})
