import { useId } from 'preact/hooks'
import type { Verdicts } from '../../model/decisions/answers.ts'
import { brief, lastingWords } from '../../model/decisions/grant-words.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { decide } from '../../words/decide.ts'
import { session as words } from '../../words/session.ts'

export type Scope = 'once' | 'session'

/** How long a permission lasts. A risky one applies once, regardless of the agent's choices. */
export function ScopeChoice(props: { verdicts: Verdicts; isRisky: boolean; scope: Scope; onScope(scope: Scope): void; onAlways(): void }) {
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
  const says = session === undefined ? '' : lastingWords(session)
  const lasts = session?.choice?.grants?.lasts
  return (
    <>
      <fieldset class="scopes">
        <legend class="vh">{words.howLong}</legend>
        {(['once', 'session'] as const).map(
          each =>
            verdicts[each] !== undefined && (
              <label key={each} class="sc">
                <input type="radio" name={name} checked={scope === each} onChange={() => props.onScope(each)} />
                <span>{each === 'session' && lasts === 'always' ? words.fromNowOn : words.scope[each]}</span>
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
      {scope === 'session' && brief(says) !== says && (
        <p class="hint" dir="auto">
          {says}
        </p>
      )}
    </>
  )
}
