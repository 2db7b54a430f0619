import { useId, useState } from 'preact/hooks'
import type { PermissionChoice } from '../../../lib/protocol/sealed/session.ts'
import { useInert } from '../../ui/behavior/inert.ts'
import { visible } from '../../ui/visible-text.ts'
import { session as words } from '../../words/session.ts'
import { refusal, verdictOf } from './agent-verdicts.ts'
import { type Answerable, failureWords } from './answer-state.tsx'

/** The agent's own choices in its words, for questions that are more than yes or no. Nothing is preselected. */
export function AgentChoices({ request, facts, isCurrent, mine, onAnswer }: Answerable) {
  const [chosen, choose] = useState<PermissionChoice>()
  const isInert = useInert(`${request.id} ${request.shown ?? ''}`)
  const name = useId()
  const isOff = isInert || !isCurrent || chosen === undefined
  return (
    <footer class="dock-f">
      <div class="opts" role="radiogroup" aria-label={words.choose}>
        {(request.choices ?? []).map(choice => (
          <label key={choice.id} class="opt">
            <input type="radio" name={name} checked={chosen?.id === choice.id} onChange={() => choose(choice)} />
            <span dir="auto">
              <b>{visible(choice.label)}</b>
            </span>
          </label>
        ))}
      </div>
      {mine?.life.type === 'failed' && <p class="problem">{failureWords(mine.life, facts)}</p>}
      <div class="acts two">
        <button
          class="btn quiet lg"
          type="button"
          onClick={() => !isInert && isCurrent && onAnswer({ kind: 'stop', ...refusal(request.choices) })}
        >
          {words.denyStop}
        </button>
        <button
          class="btn primary lg"
          type="button"
          disabled={chosen === undefined}
          aria-disabled={isOff ? true : undefined}
          onClick={() => !isOff && onAnswer(verdictOf(chosen))}
        >
          {words.answer}
        </button>
      </div>
      <p class="dock-s">{isCurrent ? words.nothingRuns : words.stillOpen}</p>
    </footer>
  )
}
