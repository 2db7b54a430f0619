import { useMemo, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { Button } from '../parts/button.tsx'
import { silentAfterMs } from '../parts/row.tsx'
import { useTicking } from '../parts/ticking.ts'
import { go, route } from '../router.ts'
import { absenceOf } from '../state/absence.ts'
import { happenedSince } from '../state/happened.ts'
import { isGone, linkedMessage } from '../state/linked-message.ts'
import type { SessionModel } from '../state/session.ts'
import { lists as words } from '../words/lists.ts'
import { lasting } from '../words/time.ts'

/** What came about since somebody last looked, for who was away for long. Worked out on this device. */
export function WhileAway({ model }: { model: SessionModel }) {
  const absence = absenceOf(model.id)
  const [isClosed, setClosed] = useState(false)
  const transcript = model.transcript.value
  const since = absence?.seq
  const hasOlder = model.older.value !== 'none'
  const asked = { requests: model.requests.value, questions: model.questions.value, answered: model.answered.value }
  const tellsFailures = model.facts.value?.agent === 'Claude Code'
  const happened = useMemo(
    () => (since === undefined ? undefined : happenedSince(transcript, since, { hasOlder, tellsFailures, asked })),
    [transcript.items, since, hasOlder, ...Object.values(asked)]
  )
  if (isClosed || !absence || !happened || happened.first === undefined || model.feed.value !== 'live') return null
  const told = [
    happened.files > 0 && words.awayFiles(happened.files),
    happened.commands > 0 && words.awayCommands(happened.commands),
    happened.tests !== undefined && words.awayTests[happened.tests],
    happened.failed > 0 && words.awayFailed(happened.failed),
    happened.decisions > 0 && words.awayDecisions(happened.decisions),
    happened.questions > 0 && words.awayQuestions(happened.questions),
    happened.messages > 0 && words.awayMessages(happened.messages)
  ].filter(part => part !== false)
  if (told.length === 0) return null
  const { first } = happened
  return (
    <aside class="while-away" aria-label={words.whileAway}>
      <p>
        <b>{words.whileAway}</b>
        <span>
          {words.awayFor(lasting(absence.forMs))}
          {!happened.isWhole && words.awayAtLeast}
          {told.join(words.comma)}
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

/** For who came by a link to a message that is not there. */
export function LinkedGone({ model }: { model: SessionModel }) {
  const seq = linkedMessage(route.value)
  if (seq === undefined || !isGone(seq, model.transcript.value.messages, model)) return null
  return (
    <div class="while-away">
      <p role="status">{words.notFoundHere}</p>
      <button class="ib" type="button" aria-label={words.done} onClick={() => go({ name: 'session', id: model.id, view: [] }, 'replace')}>
        <Icon name="x" />
      </button>
    </div>
  )
}

/** An agent that works and has said nothing for minutes: no error, and worth a look. */
export function Silence({ model }: { model: SessionModel }) {
  const isWorking = model.isWorking.value
  const now = useTicking(isWorking)
  const { items, partials, turn } = model.transcript.value
  const heardAt = Math.max(items.at(-1)?.at ?? 0, turn?.startedAt ?? 0, ...partials.map(({ at }) => at))
  const isAsking = model.requests.value.length + model.questions.value.length > 0
  if (!isWorking || isAsking || heardAt === 0 || now - heardAt < silentAfterMs) return null
  return (
    <div class="silence">
      <p role="status">
        <b>{words.silentFor(lasting(now - heardAt))}</b>
        <span>{words.silentText}</span>
      </p>
      <Button look="quiet" onClick={() => go({ name: 'session', id: model.id, view: ['info'] })}>
        {words.look}
      </Button>
      <Button look="quiet" onClick={() => void model.stop()}>
        {words.stopIt}
      </Button>
    </div>
  )
}
