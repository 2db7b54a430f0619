import { go, route } from '../core/router.ts'
import { useTicking } from '../core/ticking.ts'
import type { SessionModel } from '../model/session/session.ts'
import { isGone, linkedMessage } from '../model/transcript/linked-message.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { lists as words } from '../words/lists.ts'
import { lasting } from '../words/time.ts'
import { silentAfterMs } from './row/row.tsx'

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
