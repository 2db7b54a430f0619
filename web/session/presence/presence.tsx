import { useState } from 'preact/hooks'
import { now } from '../../core/clock.ts'
import { go, route } from '../../core/router.ts'
import { pathOf } from '../../core/routes.ts'
import { useTicking } from '../../core/ticking.ts'
import { absenceOf } from '../../model/session/absence.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { limitedUntil } from '../../model/session/usage-limit.ts'
import { isGone, linkedMessage } from '../../model/transcript/linked-message.ts'
import { Banner } from '../../ui/banner.tsx'
import { useBusy } from '../../ui/behavior/busy.ts'
import { onUse } from '../../ui/behavior/on-use.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { lists } from '../../words/lists.ts'
import { session as words } from '../../words/session.ts'
import { clockTime, lasting } from '../../words/time.ts'
import { silentAfterMs } from '../row/row.tsx'
import { endedText } from './ended-text.ts'

// Loaded on demand.
const limit = onUse(() => import('./limit.tsx'))
const whileAway = onUse(() => import('./while-away.tsx'))
const resuming = onUse(() => import('../machine/resume-log.tsx'))
const troubles = onUse(() => import('../machine/trouble.tsx'))
/** Before taking control from a terminal in which something is running. */
const takingOver = onUse(() => import('./take-over.tsx'))

/** The state of an absent agent: its machine offline, ended, or used at the terminal. */
export function Presence({ model, facts, isStale }: { model: SessionModel; facts: SessionFacts; isStale: boolean }) {
  // Offline, the state of the machine is unknown.
  if (isStale) return null
  return (
    <div class="presence">
      {facts.presence !== 'here' && <Absence model={model} facts={facts} />}
      {facts.presence === 'here' && facts.isInTerminal && <InTerminal model={model} facts={facts} />}
      {facts.diskTrouble !== undefined && (
        <Banner
          icon="triangle-alert"
          title={words.disk[facts.diskTrouble.why].title(facts.host)}
          text={words.disk[facts.diskTrouble.why].text(facts.agentShort)}
          needs
        />
      )}
      {!facts.isStateReadable && facts.presence !== 'ended' && (
        <Banner icon="lock" title={words.stateClosedTitle(facts.agentShort)} text={words.stateClosedHint(facts.host)} />
      )}
      {facts.compromisedAt !== undefined && <Banner icon="triangle-alert" title={words.compromisedTitle} text={words.compromisedHint} />}
      {facts.diskTrouble === undefined && <Silence model={model} />}
      <Limit model={model} facts={facts} />
      <Away model={model} />
      <LinkedGone model={model} />
    </div>
  )
}

function Away({ model }: { model: SessionModel }) {
  const absence = absenceOf(model.id)
  const shown = absence && whileAway.get()
  return absence && shown ? <shown.WhileAway model={model} absence={absence} /> : null
}

function Limit({ model, facts }: { model: SessionModel; facts: SessionFacts }) {
  const endsAt = limitedUntil(model.transcript.value, facts, now.value)
  const shown = endsAt === undefined ? undefined : limit.get()
  return endsAt !== undefined && shown ? <shown.LimitCard id={facts.id} host={facts.host} endsAt={endsAt} /> : null
}

function Absence({ model, facts }: { model: SessionModel; facts: SessionFacts }) {
  const { resume } = model.asked.value
  const at = clockTime(facts.activeAt, Date.now())
  const isAway = facts.presence === 'away' && !facts.canResume
  const { ResumeLog } = (resume === 'asking' && resuming.get()) || {}
  const trouble = resume === 'asking' ? undefined : resume
  const { TroubleCard } = (trouble && troubles.get()) || {}
  return (
    <>
      <Banner
        icon={isAway ? 'moon' : facts.isUnlinked ? 'log-out' : 'circle-check'}
        isAway
        title={
          resume === 'asking'
            ? words.startingTitle(facts.agentShort, facts.host)
            : facts.isUnlinked
              ? words.unlinkedTitle(facts.host)
              : isAway
                ? words.awayTitle(facts.host)
                : words.endedTitle(facts.agentShort)
        }
        text={
          resume === 'asking'
            ? words.keptText
            : isAway
              ? words.awaySince(at)
              : facts.isUnlinked
                ? words.unlinkedText(facts.host)
                : endedText(facts, at)
        }
      >
        {facts.canResume && (
          <Button look="quiet" icon="play" onClick={() => void model.resume()} busy={resume === 'asking' && words.resuming}>
            {words.resume}
          </Button>
        )}
        {facts.isUnlinked && resume !== 'asking' && (
          // That screen has the command to run there.
          <ButtonLink look="quiet" icon="link" href={pathOf({ name: 'scan' })}>
            {words.linkAgain}
          </ButtonLink>
        )}
      </Banner>
      {ResumeLog && <ResumeLog id={facts.id} host={facts.host} />}
      {trouble && TroubleCard && (
        <div class="presence-trouble">
          <TroubleCard title={words.notResumed(facts.agentShort)} trouble={trouble} host={facts.host} />
        </div>
      )}
    </>
  )
}

function InTerminal({ model, facts }: { model: SessionModel; facts: SessionFacts }) {
  const { takeOver } = model.asked.value
  const [running, ask] = useState<readonly string[]>()
  const { TakeOverSheet } = (running && takingOver.get()) || {}
  const { isBusy, run } = useBusy()
  const start = async () => {
    const { runningThere } = await takingOver.load()
    const found = await runningThere(facts.id)
    if (found.length > 0) ask(found)
    else void model.takeOver()
  }
  return (
    <div class="terminal-note">
      <Icon name="square-terminal" />
      <span role="status">
        <b>{lists.sentence(words.terminalTitle(facts.host))}</b>{' '}
        {takeOver === 'failed' ? words.takeOverFailed(facts.host) : words.terminalHint}
      </span>
      <Button look="quiet" onClick={() => void run(start)} busy={(isBusy || takeOver === 'asking') && words.takingOver}>
        {words.takeOver}
      </Button>
      {TakeOverSheet && running && (
        <TakeOverSheet facts={facts} running={running} onTake={() => void model.takeOver()} onClose={() => ask(undefined)} />
      )}
    </div>
  )
}

/** For a link to a message that does not exist. */
function LinkedGone({ model }: { model: SessionModel }) {
  const seq = linkedMessage(route.value)
  if (seq === undefined || !isGone(seq, model.transcript.value.messages, model)) return null
  return (
    <div class="while-away">
      <p role="status">{lists.notFoundHere}</p>
      <button class="ib" type="button" aria-label={lists.done} onClick={() => go({ name: 'session', id: model.id, view: [] }, 'replace')}>
        <Icon name="x" />
      </button>
    </div>
  )
}

/** A working agent without output for minutes: not an error, but worth a look. */
function Silence({ model }: { model: SessionModel }) {
  const isWorking = model.isWorking.value
  const now = useTicking(isWorking)
  const { items, partials, turn } = model.transcript.value
  const heardAt = Math.max(items.at(-1)?.at ?? 0, turn?.startedAt ?? 0, ...partials.map(({ at }) => at))
  const isAsking = model.requests.value.length + model.questions.value.length > 0
  if (!isWorking || isAsking || heardAt === 0 || now - heardAt < silentAfterMs) return null
  return (
    <div class="silence">
      <p role="status">
        <b>{lists.silentFor(lasting(now - heardAt))}</b>
        <span>{lists.silentText}</span>
      </p>
      <Button look="quiet" onClick={() => go({ name: 'session', id: model.id, view: ['info'] })}>
        {lists.look}
      </Button>
      <Button look="quiet" onClick={() => void model.stop()}>
        {lists.stopIt}
      </Button>
    </div>
  )
}
