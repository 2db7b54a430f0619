import { useState } from 'preact/hooks'
import { ActivityStrip } from '../parts/activity.tsx'
import { Composer } from '../parts/composer.tsx'
import { DecisionDock } from '../parts/dock.tsx'
import { AnswerNotice } from '../parts/dock-life.tsx'
import { ModeSheet } from '../parts/mode-sheet.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { PlanList } from '../parts/trail.tsx'
import type { SessionModel } from '../state/session.ts'
import type { OpenRequest } from '../state/session-decisions.ts'
import type { SessionFacts } from '../state/session-facts.ts'
import type { Transcript } from '../state/transcript.ts'
import { session as words } from '../words/session.ts'
import { SessionBar } from './session-bar.tsx'
import { SessionEmpty } from './session-empty.tsx'
import { SessionLog } from './session-log.tsx'
import { SessionMenu } from './session-menu.tsx'
import { Presence } from './session-presence.tsx'

/** An open session: bar, horizon, transcript, and below it the dock while something is to be decided, else the composer. */
export function SessionView({ model, onSeen }: { model: SessionModel; onSeen(seq: number): void }) {
  const facts = model.facts.value
  const [sheet, setSheet] = useState<'mode' | 'plan'>()
  const [offered, offer] = useState<{ text: string }>()
  const [sentCount, countSent] = useState(0)
  if (facts === undefined) return null
  const feed = model.feed.value
  const isWorking = model.isWorking.value
  const requests = model.requests.value
  const { plan } = model.transcript.value
  const close = () => setSheet(undefined)
  if (feed === 'deleted' || !facts.isReadable) {
    return (
      <section class="screen chat">
        <SessionBar facts={facts} />
        {feed === 'deleted' ? (
          <SessionEmpty title={words.deletedTitle} text={words.deletedHint} />
        ) : (
          <SessionEmpty title={words.sealedTitle} text={words.sealedHint} />
        )}
      </section>
    )
  }
  const isStale = feed === 'stale' || feed === 'catching-up'
  return (
    <section class={`screen chat ${plan === undefined ? '' : 'has-side'}`}>
      <SessionBar facts={facts} isStale={isStale}>
        <SessionMenu model={model} facts={facts} />
      </SessionBar>
      <div
        class="horizon"
        data-state={isStale ? 'stale' : requests.length > 0 ? 'needs' : isWorking ? 'working' : 'quiet'}
        aria-hidden="true"
      />
      <Presence model={model} facts={facts} isStale={isStale} />
      <div class="chat-b">
        <SessionLog
          model={model}
          facts={facts}
          sentCount={sentCount}
          onSeen={onSeen}
          onEdit={text => {
            offer({ text })
          }}
        />
        <Notices model={model} facts={facts} />
        {requests.length > 0 ? (
          <Decisions model={model} facts={facts} requests={requests} isCurrent={!isStale} />
        ) : (
          <div class="foot-area">
            {isWorking && !isStale && <ActivityStrip model={model} facts={facts} hasStop onPlan={() => setSheet('plan')} />}
            <Composer
              texts={model.texts}
              facts={facts}
              isWorking={isWorking}
              queued={isWorking ? queuedIn(model.transcript.value) : 0}
              offered={offered}
              mode={{ onOpen: () => setSheet('mode'), asking: model.asked.value.mode }}
              onSent={() => {
                countSent(count => count + 1)
                if (facts.canResume) void model.resume()
              }}
            />
          </div>
        )}
      </div>
      {plan !== undefined && (
        <aside class="chat-side" aria-label={words.plan}>
          <h2>
            {words.plan} <span>{words.planMeta(plan.filter(entry => entry.status === 'completed').length, plan.length)}</span>
          </h2>
          <PlanList entries={plan} />
        </aside>
      )}
      {sheet === 'mode' && <ModeSheet facts={facts} onChoose={code => void model.setMode(code)} onClose={close} />}
      {sheet === 'plan' && plan !== undefined && (
        <Sheet title={words.plan} onClose={close}>
          <PlanList entries={plan} />
        </Sheet>
      )}
    </section>
  )
}

/** One decision at a time, oldest first; a new one never takes the place of the one that is being read. */
function Decisions(props: { model: SessionModel; facts: SessionFacts; requests: readonly OpenRequest[]; isCurrent: boolean }) {
  const { model, facts, requests } = props
  const [chosen, choose] = useState<string>()
  const found = requests.findIndex(request => request.id === chosen)
  const index = Math.max(0, found)
  const request = requests[index]
  if (request === undefined) return null
  return (
    <DecisionDock
      key={request.id}
      request={request}
      facts={facts}
      index={index + 1}
      count={requests.length}
      mine={model.lives.value.get(request.id)}
      isCurrent={props.isCurrent}
      onAnswer={verdict => void model.answer(request, verdict)}
      onNext={() => choose(requests[(index + 1) % requests.length]?.id)}
    />
  )
}

function Notices({ model, facts }: { model: SessionModel; facts: SessionFacts }) {
  const shown = [...model.lives.value].filter(([, { life }]) => life.type === 'elsewhere' || life.type === 'ended')
  if (shown.length === 0) return null
  return (
    <div class="notices" role="status">
      {shown.map(([id, { answer, life }]) => (
        <AnswerNotice key={id} answer={answer} life={life} facts={facts} onClose={() => model.dismiss(id)} />
      ))}
    </div>
  )
}

// What was sent after the turn began is read when it ends; a text before it is what it began with.
function queuedIn(transcript: Transcript): number {
  const startedAt = transcript.turn?.startedAt
  if (startedAt === undefined) return 0
  let count = 0
  for (let i = transcript.items.length - 1; i >= 0; i--) {
    const item = transcript.items[i]
    if (item === undefined || item.at < startedAt) break
    if (item.type === 'mine' && item.from === 'app') count++
  }
  return count
}
