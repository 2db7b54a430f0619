import t from 'tap'
import { Refused, Unreachable } from '../../../../lib/client/link/refusals.ts'
import { signInProblem } from '../../../../web/model/account/sign-in-problem.ts'

const secret = new Uint8Array(32)

t.test('a failed sign-in is explained by what a person can do about it', async t => {
  const rows = [
    [new Unreachable('network'), 'unreachable'],
    [new Refused(403, 'setup-code-required'), 'needs-setup-code'],
    [new Refused(403, 'invite-required'), 'needs-invite'],
    [new Refused(403, 'This server accepts no new accounts.'), 'signup-closed'],
    [new Refused(429, 'Too many requests'), 'locked'],
    [new Refused(400, 'Error'), 'other']
  ] as const
  for (const [error, type] of rows) t.equal(signInProblem(error, secret).type, type)
})

t.test('after too many attempts the time of the next possible one is shown, if the server gives it', async t => {
  const before = Date.now()
  const problem = signInProblem(new Refused(429, 'Too many requests', 240_000), secret)
  t.ok(problem.type === 'locked' && problem.nextAt !== undefined && problem.nextAt - before >= 240_000)
  t.match(signInProblem(new Refused(429, 'Too many requests'), secret), { type: 'locked', nextAt: undefined })
})
