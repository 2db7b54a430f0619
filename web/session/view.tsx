import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { closedDecisions, noteSince } from '../model/decisions/closed-decisions.ts'
import { waitingOf } from '../model/decisions/waiting.ts'
import { isOtherwiseSealed } from '../model/session/key-mismatch.ts'
import type { Queued } from '../model/session/message-queue.ts'
import type { SessionModel } from '../model/session/session.ts'
import type { Said } from '../model/transcript/fork-point.ts'
import { isSpacious } from '../ui/behavior/width.ts'
import { Sheet } from '../ui/sheet.tsx'
import { session as words } from '../words/session.ts'
import { SessionBar } from './bar.tsx'
import type { Offered } from './composer/composer.tsx'
import { useLastingQueue } from './composer/queue-bar.tsx'
import { SessionFoot } from './foot.tsx'
import { beside, deleted, docks, folder, modeSheet } from './lazy-parts.ts'
import { SessionEmpty } from './log/empty.tsx'
import { SessionLog } from './log/log.tsx'
import { SessionMenu, sheets } from './menu/menu.tsx'
import { Presence } from './presence/presence.tsx'
import { PlanList } from './transcript/trail.tsx'
import type { Work } from './work/work.ts'

/** An open session: bar, progress line, transcript, below it the dock while there is an open decision, and the composer. */
export function OpenSession(props: {
  model: SessionModel
  /** Shown above it in place of its bar. */
  head?: ComponentChildren
  /** The decision to show; without it one after the other. */
  only?: string
  work?: Work | undefined
  /** A text to insert into the draft; each new value once. */
  offered?: Offered | undefined
  onSeen(seq: number): void
}) {
  const { model, work, onSeen } = props
  const facts = model.facts.value
  const [sheet, setSheet] = useState<'mode' | 'plan' | 'end' | 'rename'>()
  const [forked, fork] = useState<Said>()
  const [offered, offer] = useState<Offered>()
  const [sentCount, countSent] = useState(0)
  useEffect(() => props.offered && offer(props.offered), [props.offered])
  // For someone who cannot write, queued messages are shown where they were sent.
  const isShut = isOtherwiseSealed(model.transcript.value.messages)
  const queue = useLastingQueue(isShut ? nothing : model.queue.value)
  if (facts === undefined) return null
  const feed = model.feed.value
  const isWorking = model.isWorking.value
  const requests = model.requests.value
  const open = waitingOf(requests, model.questions.value)
  const waiting = props.only === undefined ? open : open.filter(({ id }) => id === props.only)
  const { plan } = model.transcript.value
  const close = () => setSheet(undefined)
  const { Deleted } = (feed === 'deleted' && deleted.get()) || {}
  if (feed === 'deleted' || !facts.isReadable) {
    return (
      <section class="screen chat">
        <SessionBar facts={facts} />
        {feed === 'deleted' ? Deleted && <Deleted id={model.id} /> : <SessionEmpty title={words.sealedTitle} text={words.sealedHint} />}
      </section>
    )
  }
  const isStale = feed === 'stale' || feed === 'catching-up'
  const side = work && folder.get()
  const hasSide = plan !== undefined || side?.hasChanges(work) === true
  const hasDocks = waiting.length > 0 || model.lives.value.size > 0 || closedDecisions.value.some(({ session }) => session === model.id)
  const { Decisions, Notices, shownOf } = (hasDocks && docks.get()) || {}
  const shown = isSpacious.value ? shownOf?.(waiting) : undefined
  const { DecisionContext } = (shown?.type === 'permission' && beside.get()) || {}
  const { ModeSheet } = (sheet === 'mode' && modeSheet.get()) || {}
  const { ForkSheet } = (forked && sheets.get()) || {}
  const { EndSheet } = (sheet === 'end' && sheets.get()) || {}
  const { RenameSheet } = (sheet === 'rename' && sheets.get()) || {}
  return (
    <section class={`screen chat ${hasSide || DecisionContext ? 'has-side' : ''}`}>
      {props.head ?? (
        <SessionBar facts={facts} isStale={isStale} onRename={() => setSheet('rename')}>
          {side && <side.ChangesPill work={work} />}
          <SessionMenu model={model} facts={facts} onMode={() => setSheet('mode')} />
        </SessionBar>
      )}
      <div
        class="horizon"
        data-state={isStale ? 'stale' : waiting.length > 0 ? 'needs' : isWorking ? 'working' : 'quiet'}
        aria-hidden="true"
      />
      <Presence model={model} facts={facts} isStale={isStale} />
      <div class="chat-b">
        <SessionLog
          model={model}
          facts={facts}
          queue={queue}
          sentCount={sentCount}
          onSeen={onSeen}
          onEdit={message => offer({ ...message })}
          onFork={fork}
        />
        {/* Where one decision is shown, those of all sessions are above it. */}
        {Notices && props.only === undefined && <Notices model={model} facts={facts} />}
        {waiting.length > 0 && Decisions && (
          <Decisions model={model} facts={facts} waiting={waiting} isCurrent={!isStale} onUnsent={text => offer({ text })} />
        )}
        <SessionFoot
          model={model}
          facts={facts}
          isWorking={isWorking}
          isStale={isStale}
          isDeciding={waiting.length > 0}
          isShut={isShut}
          queue={queue}
          offered={offered}
          onMode={() => setSheet('mode')}
          onPlan={() => setSheet('plan')}
          onEnd={() => setSheet('end')}
          onSent={() => {
            countSent(count => count + 1)
            noteSince(model.id, 'said')
            if (facts.canResume) void model.resume()
          }}
        />
      </div>
      {(hasSide || DecisionContext) && (
        <aside
          class="chat-side"
          aria-label={DecisionContext ? words.needs : words.plan}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it is longer than the window at times, and scrolled with keys too
          tabIndex={0}
        >
          {DecisionContext && shown?.type === 'permission' && (
            <DecisionContext key={shown.id} model={model} facts={facts} request={shown.request} />
          )}
          {plan !== undefined && !DecisionContext && (
            <>
              <h2>
                {words.plan} <span>{words.planMeta(plan.filter(entry => entry.status === 'completed').length, plan.length)}</span>
              </h2>
              <PlanList entries={plan} />
            </>
          )}
          {side && <side.SideChanges work={work} />}
        </aside>
      )}
      {ModeSheet && (
        <ModeSheet facts={facts} asked={model.choices.value} onChoose={(name, code) => void model.choose(name, code)} onClose={close} />
      )}
      {EndSheet && <EndSheet model={model} facts={facts} onClose={close} />}
      {RenameSheet && <RenameSheet facts={facts} onClose={close} />}
      {ForkSheet && forked && <ForkSheet facts={facts} after={forked} onClose={() => fork(undefined)} />}
      {sheet === 'plan' && plan !== undefined && (
        <Sheet title={words.plan} onClose={close}>
          <PlanList entries={plan} />
        </Sheet>
      )}
    </section>
  )
}

const nothing: readonly Queued[] = []
