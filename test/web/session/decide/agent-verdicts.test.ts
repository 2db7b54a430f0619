import t from 'tap'
import type { PermissionChoice } from '../../../../lib/protocol/sealed/session.ts'
import { refusal, verdictOf } from '../../../../web/session/decide/agent-verdicts.ts'

const choice = (kind: PermissionChoice['kind'], id = 'c'): PermissionChoice => ({ id, kind, label: 'Sure, go ahead' })

t.test("an agent's choice counts as what it is, not as what it is called", t => {
  const kinds = { allow_once: 'once', allow_always: 'session', reject_once: 'deny', reject_always: 'deny' } as const
  for (const kind of ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const) {
    t.strictSame(verdictOf(choice(kind)), { kind: kinds[kind], choice: choice(kind) })
  }
  t.end()
})

t.test('stopping the agent answers with its own refusal, if it has one', t => {
  const yes = choice('allow_once')
  for (const kind of ['reject_once', 'reject_always'] as const) {
    const no = choice(kind, 'first')
    t.strictSame(refusal([yes, no, choice('reject_once', 'second')]), { choice: no })
  }
  for (const none of [undefined, [], [yes, choice('allow_always')]]) t.strictSame(refusal(none), {})
  t.end()
})
