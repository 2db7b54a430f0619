import { useId } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import type { Verdicts } from '../state/session-answers.ts'
import type { SessionFacts } from '../state/session-facts.ts'
import { decide } from '../words/decide.ts'
import { session as words } from '../words/session.ts'

export type Scope = 'once' | 'session'

/** For how long a yes counts. What is risky counts once, whatever the agent offers. */
export function ScopeChoice(props: {
  verdicts: Verdicts
  isRisky: boolean
  scope: Scope
  facts: SessionFacts
  onScope(scope: Scope): void
  onAlways(): void
}) {
  const { verdicts, isRisky, scope } = props
  const name = useId()
  if (isRisky) {
    return (
      <p class="scope">
        <Icon name="lock" />
        <span>
          <b>{words.justOnce}</b> {words.justOnceWhy}
        </span>
      </p>
    )
  }
  const { once, session, always } = verdicts
  if (once === undefined || (session === undefined && always === undefined)) return null
  const label = session?.rule === undefined ? session?.choice?.label : undefined
  return (
    <>
      <fieldset class="scopes">
        <legend class="vh">{words.howLong}</legend>
        {(['once', 'session'] as const).map(
          each =>
            verdicts[each] !== undefined && (
              <label key={each} class="sc">
                <input type="radio" name={name} checked={scope === each} onChange={() => props.onScope(each)} />
                <span>{words.scope[each]}</span>
              </label>
            )
        )}
        {always !== undefined && (
          <button class="sc" type="button" aria-haspopup="dialog" onClick={props.onAlways}>
            <span>{decide.always}</span>
          </button>
        )}
      </fieldset>
      {scope === 'session' && session?.rule !== undefined && <p class="hint">{decide.sessionRule}</p>}
      {scope === 'session' && label !== undefined && (
        <p class="hint" dir="auto">
          {words.agentCallsIt(props.facts.agentShort, label)}
        </p>
      )}
    </>
  )
}
