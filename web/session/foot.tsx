import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionFacts } from '../model/session/facts.ts'
import type { Queued } from '../model/session/message-queue.ts'
import type { SessionModel } from '../model/session/session.ts'
import { Problem } from '../ui/banner.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { compose } from '../words/compose.ts'
import { session as words } from '../words/session.ts'
import { Composer, type Offered } from './composer/composer.tsx'
import { placeholderOf } from './composer/placeholder.ts'
import { ActivityStrip } from './transcript/activity.tsx'

/**
 * The agent's activity, the stop button, and the composer. Next to an open decision it shrinks to one line, so that the decision
 * has the space; writing expands it.
 */
export function SessionFoot(props: {
  model: SessionModel
  facts: SessionFacts
  /** It is working, as far as known. */
  isWorking: boolean
  isStale: boolean
  isDeciding: boolean
  /** It is sealed with another key: nothing can be sent to it. */
  isShut: boolean
  queue: readonly Queued[]
  offered: Offered | undefined
  onMode(): void
  onPlan(): void
  onEnd(): void
  onSent(): void
}) {
  const { model, facts, queue, isDeciding, offered } = props
  const isRunning = props.isWorking && !props.isStale
  const [open, setOpen] = useState<'writing' | 'queue'>()
  const area = useRef<HTMLDivElement>(null)
  const isLine = isDeciding && open === undefined
  useEffect(() => {
    if (!isDeciding) setOpen(undefined)
  }, [isDeciding])
  useEffect(() => {
    if (offered !== undefined && isDeciding) setOpen('writing')
  }, [offered])
  useEffect(() => {
    const to = { writing: 'textarea', queue: '.queue-h' }[open ?? 'writing']
    if (open !== undefined) area.current?.querySelector<HTMLElement>(to)?.focus()
  }, [open])
  const fold = (): void => {
    setOpen(undefined)
    requestAnimationFrame(() => area.current?.querySelector<HTMLElement>('.line-w')?.focus())
  }
  useEffect(() => {
    const element = area.current
    if (element === null || !isDeciding || open === undefined) return
    const leave = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      event.preventDefault()
      fold()
    }
    element.addEventListener('keydown', leave)
    return () => element.removeEventListener('keydown', leave)
  }, [isDeciding, open])
  return (
    <div class="foot-area" ref={area}>
      {isLine && <FootLine {...props} isRunning={isRunning} onWrite={() => setOpen('writing')} onQueue={() => setOpen('queue')} />}
      <div hidden={isLine}>
        {isDeciding && (
          <button class="txt fold" type="button" onClick={fold}>
            <Icon name="chevron-down" />
            {words.foldWriting}
          </button>
        )}
        {isRunning && <ActivityStrip model={model} facts={facts} hasStop onPlan={props.onPlan} onEnd={props.onEnd} />}
        {props.isShut ? (
          <Problem title={words.otherKeyTitle} text={words.otherKeyText(facts.agentShort, facts.host)} />
        ) : (
          <Composer
            model={model}
            facts={facts}
            isWorking={props.isWorking}
            isShown={!isLine}
            queue={queue}
            showsQueue={open === 'queue'}
            offered={offered}
            onMode={props.onMode}
            onSent={() => {
              setOpen(undefined)
              props.onSent()
            }}
          />
        )}
      </div>
    </div>
  )
}

function FootLine(props: {
  model: SessionModel
  facts: SessionFacts
  isWorking: boolean
  isRunning: boolean
  isShut: boolean
  queue: readonly Queued[]
  onWrite(): void
  onQueue(): void
}) {
  const { model, facts, queue } = props
  const { stop } = model.asked.value
  return (
    <div class="foot-line">
      {props.isRunning && (
        <button
          class={`ib stop ${stop === undefined || stop.state === 'failed' ? '' : 'asked'}`}
          type="button"
          aria-label={stop === undefined ? words.stop : words.stopAgain}
          onClick={() => void model.stop()}
        >
          <Icon name="square" />
        </button>
      )}
      <button class="line-w" type="button" onClick={props.onWrite}>
        {placeholderOf(facts, props.isWorking)}
      </button>
      {queue.length > 0 && (
        <button class="line-q" type="button" onClick={props.onQueue}>
          <Icon name="list-end" />
          {compose.waits(queue.length)}
        </button>
      )}
      <span class="vh" role="status">
        {stop?.state === 'failed' ? words.stopFailed(facts.host) : stop !== undefined && words.stopping}
      </span>
    </div>
  )
}
