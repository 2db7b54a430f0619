import { useMemo, useState } from 'preact/hooks'
import { clockOff } from '../../core/clock.ts'
import { go } from '../../core/router.ts'
import type { Absence } from '../../model/session/absence.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { summarySince } from '../../model/transcript/summary.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { lists as words } from '../../words/lists.ts'
import { lasting } from '../../words/time.ts'

/** A summary of what happened during a long absence. Computed on this device. */
export function WhileAway({ model, absence }: { model: SessionModel; absence: Absence }) {
  const [isClosed, setClosed] = useState(false)
  const transcript = model.transcript.value
  const since = absence.seq
  const until = absence.endedAt - clockOff.value
  const hasOlder = model.older.value !== 'none'
  const asked = { requests: model.requests.value, questions: model.questions.value, answered: model.answered.value }
  const tellsFailures = model.facts.value?.agent === 'Claude Code'
  const happened = useMemo(
    () => summarySince(transcript, since, { until, hasOlder, tellsFailures, asked }),
    [transcript.items, since, until, hasOlder, ...Object.values(asked)]
  )
  if (isClosed || happened.first === undefined || model.feed.value !== 'live') return null
  const parts = [
    happened.files > 0 && words.awayFiles(happened.files),
    happened.commands > 0 && words.awayCommands(happened.commands),
    happened.tests !== undefined && words.awayTests[happened.tests],
    happened.failed > 0 && words.awayFailed(happened.failed),
    happened.decisions > 0 && words.awayDecisions(happened.decisions),
    happened.questions > 0 && words.awayQuestions(happened.questions),
    happened.messages > 0 && words.awayMessages(happened.messages)
  ].filter(part => part !== false)
  if (parts.length === 0) return null
  const { first } = happened
  return (
    <aside class="while-away" aria-label={words.whileAway}>
      <p>
        <b>{words.whileAway}</b>
        <span>
          {words.awayFor(lasting(absence.forMs))}
          {!happened.isWhole && words.awayAtLeast}
          {parts.join(words.comma)}
        </span>
      </p>
      <button
        class="txt"
        type="button"
        onClick={() => {
          setClosed(true)
          go({ name: 'session', id: model.id, view: ['m', String(first)] })
        }}
      >
        {words.jumpToNew}
      </button>
      <button class="ib" type="button" aria-label={words.done} onClick={() => setClosed(true)}>
        <Icon name="x" />
      </button>
    </aside>
  )
}
