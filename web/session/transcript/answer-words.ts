import type { Answered } from '../../model/decisions/decisions.ts'
import { grantWords } from '../../model/decisions/grant-words.ts'
import { decide } from '../../words/decide.ts'
import { session as words } from '../../words/session.ts'

/** Who answered, and how. `me`: the name of this device. */
export function answerWords({ outcome, by, rule, said, grants }: Answered, me: string | undefined): string {
  if (said !== undefined) {
    if (outcome === 'ended') return decide.leftOpen
    if (said.text === undefined) return decide.letItDecide
    return by === me ? decide.youAnswered(said.text) : decide.answered(said.text)
  }
  if (rule !== undefined && by === undefined) return decide.byRule(rule)
  const isFromNowOn = grants?.lasts === 'always' || (rule !== undefined && outcome === 'allowed-once')
  const says = isFromNowOn ? decide.alwaysBy : words.outcome[outcome]
  const text = by === undefined ? says.unknown : by === me ? says.me : says.other(by)
  return grants === undefined ? text : words.grants.outcome(text, grantWords(grants))
}
