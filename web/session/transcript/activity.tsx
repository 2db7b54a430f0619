import type { ComponentChildren } from 'preact'
import type { ModelWait } from '../../../lib/protocol/sealed/session.ts'
import { useTicking } from '../../core/ticking.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import type { SessionModel } from '../../model/session/session.ts'
import type { Step } from '../../model/transcript/items.ts'
import type { Transcript } from '../../model/transcript/transcript.ts'
import { Ring } from '../../ui/icons/glyph.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { compose } from '../../words/compose.ts'
import { session as words } from '../../words/session.ts'
import { duration } from '../../words/time.ts'
import { stepWordsOf } from './step-words.ts'

/** The agent's current activity, the progress of its plan, and the stop button. Only while it works. */
export function ActivityStrip({
  model,
  facts,
  hasStop,
  onPlan,
  onEnd
}: {
  model: SessionModel
  facts: SessionFacts
  hasStop: boolean
  onPlan(): void
  /** Asks whether to end the process. */
  onEnd(): void
}) {
  const transcript = model.transcript.value
  const { stop } = model.asked.value
  const now = useTicking(true)
  const plan = transcript.plan
  const at = plan?.findIndex(entry => entry.status !== 'completed') ?? -1
  const startedAt = transcript.turn?.startedAt
  const stopTakes = stop === undefined ? 0 : now - stop.at
  const isStillRunning = stopTakes > stillRunningAfterMs
  const isAsking = stop?.state === 'asking' && stop.isRepeated === true
  return (
    <div class="strip">
      <p>
        <span class="s-ring">
          <Ring />
        </span>
        {/* The activity is announced together with the transcript, not step by step. */}
        {stop === undefined && facts.modelWait === undefined && <b>{doing(transcript, facts)}</b>}
        {stop === undefined && facts.modelWait !== undefined && <Waiting wait={facts.modelWait} now={now} />}
        <span role="status">
          {stop !== undefined && <b>{isStillRunning ? words.stillRunning : words.stopping}</b>}
          {stop?.state === 'failed' && <span class="s-meta bad">{words.stopFailed(facts.host)}</span>}
        </span>
      </p>
      <span class="s-more">
        {plan !== undefined && at >= 0 && (
          <button class="s-plan" type="button" onClick={onPlan}>
            {words.stepOf(at + 1, plan.length)}
            <span class="vh">. {words.showPlan}</span>
          </button>
        )}
        {startedAt !== undefined && now - startedAt >= 2000 && (
          <span class="s-time" aria-hidden="true">
            {duration(now - startedAt)}
          </span>
        )}
        <ContextMeter transcript={transcript} />
      </span>
      {hasStop && isStillRunning && (
        <span class="s-acts">
          <button
            class="btn quiet"
            type="button"
            aria-disabled={isAsking ? true : undefined}
            onClick={() => !isAsking && void model.stop()}
          >
            {isAsking ? compose.interrupting : compose.interrupt}
          </button>
          {stopTakes > mayEndAfterMs && (
            <button class="btn danger" type="button" aria-haspopup="dialog" onClick={onEnd}>
              {compose.end}
            </button>
          )}
        </span>
      )}
      {hasStop && !isStillRunning && (
        <button
          class={`ib stop ${stop?.state === 'asking' || stop?.state === 'asked' ? 'asked' : ''}`}
          type="button"
          aria-label={stop === undefined ? words.stop : words.stopAgain}
          onClick={() => void model.stop()}
        >
          <Icon name="square" />
        </button>
      )}
    </div>
  )
}

/** The model is silent. Announced once per attempt, not every second. */
function Waiting({ wait: { since, retry }, now }: { wait: ModelWait; now: number }) {
  if (retry === undefined) {
    return <b>{words.modelSilent(duration(Math.max(0, now - since)))}</b>
  }
  // The computer's clock may differ.
  const leftMs = Math.min(retry.inMs, retry.at - now)
  const attempt = retry.attempt === undefined ? words.triesAgain : words.attempt(retry.attempt, retry.of)
  return (
    <span class="s-wait">
      <b role="status">
        {words.modelRefused[retry.why]}
        <span class="vh">. {attempt}</span>
      </b>
      <span class="s-meta" aria-hidden="true">
        {leftMs > 0 ? words.nextAttempt(attempt, duration(leftMs + 499)) : attempt}
      </span>
    </span>
  )
}

const stillRunningAfterMs = 5_000
// More than twice as long before an end that interrupts the output.
const mayEndAfterMs = 15_000

function doing(transcript: Transcript, facts: SessionFacts): ComponentChildren {
  const step = transcript.items.findLast((item): item is Step => item.type === 'step' && item.state === 'running')
  if (step !== undefined) {
    const { verb, object } = stepWordsOf(step, 'running', facts.path)
    return (
      <>
        {verb} <code>{object}</code>
      </>
    )
  }
  const partial = transcript.partials.at(-1)
  if (partial !== undefined) return partial.thinking ? words.thinks : words.writes
  return words.works
}

/** How full the model's context is, if the agent reports it. */
function ContextMeter({ transcript }: { transcript: Transcript }) {
  const { usage } = transcript
  if (usage?.context_window === undefined || usage.context_window <= 0) return null
  const used = usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)
  const percent = Math.min(100, Math.round((used / usage.context_window) * 100))
  return (
    <span class="ctxm">
      <svg viewBox="0 0 28 5" aria-hidden="true">
        <rect class="ctx-all" width="28" height="5" rx="2.5" />
        <rect class="ctx-used" width={Math.max(2.5, (28 * percent) / 100)} height="5" rx="2.5" />
      </svg>
      {words.contextUsed(percent)}
      <span class="vh"> {words.contextUsedLong}</span>
    </span>
  )
}
