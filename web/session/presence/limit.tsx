import { now } from '../../core/clock.ts'
import { pathOf } from '../../core/routes.ts'
import { live } from '../../model/account/account.ts'
import { home } from '../../model/home.ts'
import { type Choices, readChoices } from '../../model/machine-choices.ts'
import { newContinuation } from '../../model/outbox/continuations.ts'
import { freeAgents } from '../../model/session/free-agents.ts'
import { useAnswer } from '../../ui/behavior/answer.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { locale } from '../../words/language.ts'
import { session as words } from '../../words/session.ts'
import { clockTime } from '../../words/time.ts'

/** The agent is paused by its limit: until when, whether it continues automatically then, and which agents can work meanwhile. */
export function LimitCard({ id, host, endsAt }: { id: string; host: string; endsAt: number }) {
  const link = live.value
  const asked = link?.queue.of('continuation').find(({ session }) => session === id)
  const time = clockTime(endsAt, now.value)
  return (
    <>
      <div class="terminal-note">
        <Icon name="clock-3" />
        <span role="status">
          <b>{words.limitUntil(time)}</b> {asked ? words.goesOn(time) : words.limitWaits}
        </span>
        {link && (
          <Button
            look="quiet"
            onClick={() => void (asked ? link.queue.withdraw(asked.key) : link.queue.put(newContinuation(id, endsAt, words.goOnText)))}
          >
            {asked ? words.goOnNot : words.goOnThen}
          </Button>
        )}
      </div>
      <Meanwhile id={id} host={host} />
    </>
  )
}

function Meanwhile({ id, host }: { id: string; host: string }) {
  const metadata = home.value.sessions.get(id)?.metadata
  const agents = freeAgents(useAgents(metadata?.machineId), id, home.value, now.value)
  if (metadata?.machineId === undefined || agents.length === 0) return null
  const names = new Intl.ListFormat(locale()).format(agents.map(({ title }) => title))
  return (
    <div class="terminal-note">
      <Icon name="bot" />
      <span>{words.limitFree(host, names)}</span>
      <ButtonLink look="quiet" href={pathOf({ name: 'new', machine: metadata.machineId, folder: metadata.path })}>
        {words.limitNew}
      </ButtonLink>
    </div>
  )
}

function useAgents(machine: string | undefined): Choices['agents'] {
  const link = live.value
  const { last: known } = useAnswer(machine !== undefined && link && (() => readChoices(link, machine)), [link, machine])
  return known?.type === 'choices' ? known.choices.agents : []
}
