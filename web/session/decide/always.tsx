import { useState } from 'preact/hooks'
import type { Level } from '../../../lib/protocol/sealed/decisions/risk.ts'
import type { RuleDraft, RulePattern, RuleTrial } from '../../../lib/protocol/sealed/decisions/rules.ts'
import { trueNow } from '../../core/clock.ts'
import { useInert } from '../../ui/behavior/inert.ts'
import { closeLayer } from '../../ui/behavior/layers.ts'
import { Button } from '../../ui/button.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { decide as words } from '../../words/decide.ts'
import { lists } from '../../words/lists.ts'
import { session } from '../../words/session.ts'
import { RuleFields } from './rule-fields.tsx'
import { draftOf, type RuleText } from './rule-text.ts'

/** Creates a rule from a decision. Sensitive ones are confirmed again, since no one is asked from then on. */
export function AlwaysSheet(props: {
  suggested: RuleDraft
  level: Level
  onTry(pattern: RulePattern): Promise<RuleTrial>
  onAllow(rule: RuleDraft): void
  onClose(): void
}) {
  const { on, pattern, folder } = props.suggested
  const [rule, setRule] = useState<RuleText>({ on, pattern, folder, end: 'removed' })
  const [fault, setFault] = useState<string>()
  const [isSure, setSure] = useState(false)
  const isInert = useInert(String(isSure))
  const allow = () => {
    if (isInert) return
    if (props.level === 'careful' && !isSure) return setSure(true)
    props.onAllow(draftOf(rule, trueNow()))
    closeLayer()
  }
  const change = (next: RuleText) => {
    setRule(next)
    setSure(false)
  }
  return (
    <Sheet title={words.ruleTitle} onClose={props.onClose}>
      <RuleFields rule={rule} onChange={change} onTry={props.onTry} onFault={setFault} />
      {isSure && (
        <p class="sure" role="alert">
          <span>
            <b>{lists.sentence(words.sureTitle)}</b> {words.sureText}
          </span>
        </p>
      )}
      <div class="acts two">
        <Button look="quiet" isLarge onClick={closeLayer}>
          {session.cancel}
        </Button>
        <Button look="primary" isLarge isOff={fault !== undefined || rule.pattern.trim() === ''} onClick={allow}>
          {isSure ? words.sure : words.allowUntil[rule.end]}
        </Button>
      </div>
    </Sheet>
  )
}
