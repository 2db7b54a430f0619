import { useEffect, useId } from 'preact/hooks'
import type { RulePattern, RuleTrial } from '../../../lib/protocol/sealed/decisions/rules.ts'
import { useAnswer } from '../../ui/behavior/answer.ts'
import { Field } from '../../ui/field.tsx'
import { visible } from '../../ui/visible-text.ts'
import { decide as words } from '../../words/decide.ts'
import { clockTime } from '../../words/time.ts'
import type { RuleText } from './rule-text.ts'

/** The content of a rule, and which earlier requests it would have decided. `onFault`: why the machine rejects it; undefined if it does not. */
export function RuleFields(props: {
  rule: RuleText
  onChange(rule: RuleText): void
  onTry(pattern: RulePattern): Promise<RuleTrial>
  onFault(fault: string | undefined): void
}) {
  const { rule, onChange } = props
  const tried = useTrial(rule, props.onTry, props.onFault)
  const name = useId()
  return (
    <>
      <Field
        label={words.pattern}
        hint={words.patternHint[rule.on]}
        error={tried?.type === 'fault' ? tried.says : undefined}
        value={rule.pattern}
        onInput={pattern => onChange({ ...rule, pattern })}
        isCode
      />
      <Field label={words.folder} value={rule.folder} onInput={folder => onChange({ ...rule, folder })} isCode />
      <fieldset class="rule-end">
        <legend>{words.ends}</legend>
        <div class="scopes">
          {(['hours', 'today', 'removed'] as const).map(end => (
            <label key={end} class="sc">
              <input type="radio" name={name} checked={rule.end === end} onChange={() => onChange({ ...rule, end })} />
              <span>{words.end[end]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <Trial tried={tried} />
    </>
  )
}

type Tried = { type: 'trial'; trial: RuleTrial } | { type: 'fault'; says: string }

const tryAfterMs = 250

function useTrial(
  { on, pattern, folder }: RulePattern,
  onTry: (pattern: RulePattern) => Promise<RuleTrial>,
  onFault: (fault: string | undefined) => void
): Tried | undefined {
  const attempt = async (): Promise<Tried> => {
    try {
      return { type: 'trial', trial: await onTry({ on, pattern: pattern.trim(), folder: folder.trim() }) }
    } catch (error) {
      return { type: 'fault', says: error instanceof Error ? error.message : String(error) }
    }
  }
  const { last: tried } = useAnswer(attempt, [on, pattern, folder], tryAfterMs)
  useEffect(() => {
    if (tried) onFault(tried.type === 'fault' ? tried.says : undefined)
  }, [tried])
  return tried
}

function Trial({ tried }: { tried: Tried | undefined }) {
  if (tried?.type === 'fault') return null
  if (tried === undefined) return <p class="hint">{words.trying}</p>
  const { passed, looked, entries } = tried.trial
  const denied = entries.filter(({ answer }) => answer === 'denied')
  return (
    <div class="trial" role="status">
      <p>
        <b>{words.would(passed, looked)}</b> {words.riskyNever}
      </p>
      {entries.length > 0 && (
        <details open={denied.length > 0}>
          <summary>{words.seeAll}</summary>
          <ul>
            {[...denied, ...entries.filter(({ answer }) => answer !== 'denied')].map(({ at, what, answer }) => (
              <li key={`${at} ${what}`}>
                <code>{visible(what)}</code>
                <small>
                  {clockTime(at, Date.now())}
                  {answer === 'denied' && <b>, {words.denied}</b>}
                </small>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
