import { useState } from 'preact/hooks'
import { ButtonLink } from '../parts/button.tsx'
import { Choice, Choices } from '../parts/choice.tsx'
import { Empty } from '../parts/empty.tsx'
import type { NotificationSettings } from '../state/notifications.ts'
import { decide } from '../words/decide.ts'
import { locale } from '../words/language.ts'
import { notifications as words } from '../words/notifications.ts'
import { session } from '../words/session.ts'
import type { Told } from './notifications.tsx'
import { nameOfChannel, othersOf } from './notifications-channels.tsx'

type Escalation = NonNullable<NotificationSettings['escalation']>

const waits = [2, 5, 15] as const

/** Who else hears of a decision that stays open, and when. */
export function Unanswered({ settings: { escalation }, channels, book }: Told) {
  const others = othersOf(channels)
  const [minutes, setMinutes] = useState(escalation?.afterMinutes)
  const chosen = others.filter(({ id }) => escalation?.to.includes(id)).map(({ id }) => id)
  const set = (afterMinutes: Escalation['afterMinutes'] | undefined, to: string[]) => {
    setMinutes(afterMinutes)
    void book.change(() => ({ escalation: afterMinutes !== undefined && to.length > 0 ? { afterMinutes, to } : null }))
  }
  if (others.length === 0) {
    return (
      <Empty title={words.unansweredNobody} text={words.unansweredNobodyText}>
        <ButtonLink look="primary" href="/settings/notifications/ntfy">
          {words.addNtfy}
        </ButtonLink>
        <ButtonLink look="quiet" href="/settings/notifications/webhook">
          {words.addWebhook}
        </ButtonLink>
        <DenyInSession />
      </Empty>
    )
  }
  const first = others.slice(0, 1).map(({ id }) => id)
  return (
    <>
      <Choices id="unanswered-h" title={words.unansweredWhen}>
        <Choice name="wait" title={words.unansweredOff} isChosen={minutes === undefined} onChoose={() => set(undefined, [])} />
        {waits.map(each => (
          <Choice
            key={each}
            name="wait"
            title={words.unansweredAfter(each)}
            isChosen={minutes === each}
            onChoose={() => set(each, chosen.length > 0 ? chosen : first)}
          />
        ))}
      </Choices>
      {minutes !== undefined && (
        <section class="grp">
          <h2>{words.unansweredTo}</h2>
          <div class="card tight">
            {others.map(channel => (
              <label key={channel.id} class="irow">
                <input
                  type="checkbox"
                  checked={chosen.includes(channel.id)}
                  disabled={chosen.length === 1 && chosen.includes(channel.id)}
                  onChange={({ currentTarget: { checked } }) =>
                    set(minutes, checked ? [...chosen, channel.id] : chosen.filter(id => id !== channel.id))
                  }
                />
                <span>
                  <b dir="auto">{nameOfChannel(channel)}</b>
                </span>
              </label>
            ))}
          </div>
          <p class="hint">{words.unansweredHint}</p>
        </section>
      )}
      <DenyInSession />
    </>
  )
}

/** The other way not to be waited for is chosen where the agent works. */
function DenyInSession() {
  return <p class="hint">{words.unansweredDeny(decide.unanswered.name, session.modeAndModel)}</p>
}

/** What the row says that leads here. */
export function unansweredSummary({ settings: { escalation }, channels }: Pick<Told, 'settings' | 'channels'>): string {
  const to = othersOf(channels).filter(({ id }) => escalation?.to.includes(id))
  if (!escalation || to.length === 0) return words.unansweredOff
  return words.unansweredAlso(escalation.afterMinutes, new Intl.ListFormat(locale()).format(to.map(nameOfChannel)))
}
