import { useState } from 'preact/hooks'
import type { Channel, NotificationContext, NotificationSettings } from '../model/notifications/notifications.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Choice, ChoiceGroup } from '../ui/choice.tsx'
import { Empty } from '../ui/empty.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { decide } from '../words/decide.ts'
import { notifications as words } from '../words/notifications.ts'
import { session } from '../words/session.ts'
import { nameOfChannel, othersOf } from './channel-words.ts'
import { chosenOf, sooner } from './escalation-order.ts'

type Escalation = NonNullable<NotificationSettings['escalation']>

const waits = [2, 5, 15] as const

/** Who else is notified of a decision that stays open, and when. */
export function EscalationSettings({ settings: { escalation }, channels, book }: NotificationContext) {
  const others = othersOf(channels)
  const [minutes, setMinutes] = useState(escalation?.afterMinutes)
  const chosen = chosenOf(others, escalation)
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
      <ChoiceGroup id="unanswered-h" title={words.unansweredWhen}>
        <Choice name="wait" title={words.unansweredOff} isChosen={minutes === undefined} onChoose={() => set(undefined, [])} />
        {waits.map(each => (
          <Choice
            key={each}
            name="wait"
            title={words.unansweredAfter(each)}
            isChosen={minutes === each}
            onChoose={() => set(each, chosen.length > 0 ? chosen.map(({ id }) => id) : first)}
          />
        ))}
      </ChoiceGroup>
      {minutes !== undefined && <Order others={others} chosen={chosen} minutes={minutes} onChange={to => set(minutes, to)} />}
      <DenyInSession />
    </>
  )
}

/** The channels that are notified, in order, followed by those that are not. */
function Order(props: { others: Channel[]; chosen: Channel[]; minutes: Escalation['afterMinutes']; onChange(to: string[]): void }) {
  const { others, chosen, minutes } = props
  const to = chosen.map(({ id }) => id)
  return (
    <section class="grp">
      <h2>{words.unansweredTo}</h2>
      <ul class="card tight">
        {[...chosen, ...others.filter(({ id }) => !to.includes(id))].map(channel => {
          const { id } = channel
          const at = to.indexOf(id)
          const name = nameOfChannel(channel)
          return (
            <li key={id} class="order-row">
              <label class="irow">
                <input
                  type="checkbox"
                  checked={at >= 0}
                  disabled={at >= 0 && to.length === 1}
                  onChange={({ currentTarget: { checked } }) => props.onChange(checked ? [...to, id] : to.filter(each => each !== id))}
                />
                <span>
                  <b dir="auto">{name}</b>
                  {at >= 0 && to.length > 1 && <small>{words.unansweredAfter((at + 1) * minutes)}</small>}
                </span>
              </label>
              {at > 0 && (
                <button class="ib" type="button" aria-label={words.unansweredSooner(name)} onClick={() => props.onChange(sooner(to, at))}>
                  <Icon name="chevron-up" />
                </button>
              )}
            </li>
          )
        })}
      </ul>
      <p class="hint">{to.length > 1 ? words.unansweredOrder : words.unansweredHint}</p>
    </section>
  )
}

/** Points to the other way to keep agents from waiting: a setting of the session. */
function DenyInSession() {
  return <p class="hint">{words.unansweredDeny(decide.unanswered.name, session.modeAndModel)}</p>
}
