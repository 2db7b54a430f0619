import { useEffect, useRef, useState } from 'preact/hooks'
import type { Verdict } from '../../model/decisions/answers.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { useInert } from '../../ui/behavior/inert.ts'
import { denialReasons } from '../../words/denials.ts'
import { session as words } from '../../words/session.ts'

/** Ways to deny: with or without a reason, and whether the agent continues. */
export function DenyForm(props: {
  facts: SessionFacts
  isCommand: boolean
  deny: Verdict
  /** It was opened with a key, so the reason can be typed right away. */
  takesFocus: boolean
  onAnswer(verdict: Verdict): void
  onBack(): void
}) {
  const [chip, setChip] = useState<string>()
  const [text, setText] = useState('')
  const isInert = useInert('deny')
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (props.takesFocus) field.current?.focus({ preventScroll: true })
  }, [])
  const back = useRef(props.onBack)
  back.current = props.onBack
  useEffect(() => {
    const leave = (event: KeyboardEvent) => event.key === 'Escape' && !event.isComposing && !event.defaultPrevented && back.current()
    addEventListener('keydown', leave)
    return () => removeEventListener('keydown', leave)
  }, [])
  const reason = [chip, text.trim()].filter(part => part !== undefined && part !== '').join('. ')
  const answer = (kind: 'deny' | 'stop') => {
    if (!isInert) props.onAnswer({ ...props.deny, kind, reason })
  }
  return (
    <footer class="dock-f deny">
      <div class="deny-h">
        <h3>{props.isCommand ? words.denyTitle.execute : words.denyTitle.other}</h3>
        <button class="txt" type="button" onClick={props.onBack}>
          {words.keepOpen}
        </button>
      </div>
      <div class="chips">
        {denialReasons().map(each => (
          <button
            key={each}
            class="chip"
            type="button"
            aria-pressed={chip === each}
            onClick={() => setChip(chip === each ? undefined : each)}
          >
            {each}
          </button>
        ))}
      </div>
      <textarea
        class="deny-t"
        ref={field}
        rows={2}
        dir="auto"
        value={text}
        placeholder={words.denyReason}
        aria-label={words.denyReason}
        onInput={event => setText(event.currentTarget.value)}
      />
      <div class="acts two">
        <div>
          <button class="btn quiet lg" type="button" onClick={() => answer('stop')}>
            {words.denyStop}
          </button>
          {props.deny.kind === 'deny' && (
            <button class="btn quiet lg" type="button" onClick={() => answer('deny')}>
              {words.denyGoOn}
            </button>
          )}
        </div>
        {/* No button in the place that Allow has before and after. */}
        <p class="hint">{words.denyHint(props.facts.agentShort)}</p>
      </div>
    </footer>
  )
}
