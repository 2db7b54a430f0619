import type { PermissionChoice } from '../../../lib/protocol/sealed/session.ts'
import type { Verdict } from '../../model/decisions/answers.ts'

/** What choosing this means, whatever the agent calls it. */
export function verdictOf(choice: PermissionChoice): Verdict {
  switch (choice.kind) {
    case 'allow_once':
      return { kind: 'once', choice }
    case 'allow_always':
      return { kind: 'session', choice }
    case 'reject_once':
    case 'reject_always':
      return { kind: 'deny', choice }
  }
}

/** The agent's own way to say no, if it has one. */
export function refusal(choices: readonly PermissionChoice[] | undefined): { choice?: PermissionChoice | undefined } {
  const choice = choices?.find(each => each.kind === 'reject_once' || each.kind === 'reject_always')
  return choice === undefined ? {} : { choice }
}
