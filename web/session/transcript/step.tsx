import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { isOn } from '../../core/preferences.ts'
import { useTicking } from '../../core/ticking.ts'
import type { Answered } from '../../model/decisions/decisions.ts'
import type { Step } from '../../model/transcript/items.ts'
import { fetchedOf } from '../../model/transcript/web-fetch.ts'
import { ChangeCount } from '../../ui/change-count.tsx'
import { Icon, type IconName } from '../../ui/icons/icon.tsx'
import { lists } from '../../words/lists.ts'
import { session as words } from '../../words/session.ts'
import { bytes } from '../../words/size.ts'
import { duration } from '../../words/time.ts'
import { linesRead } from './line-range.ts'
import { AnsweredLine, Body, isYes } from './step-body.tsx'
import { foundBy } from './step-hits.tsx'
import { changesOf, resultOf, stepWordsOf, textOf } from './step-words.ts'

/** Common properties of the steps of a session. */
export interface StepContext {
  /** The folder of the session, to shorten paths. */
  readonly folder: string | undefined
  /** Tool calls that are waiting for a person. */
  readonly waiting: ReadonlySet<string>
  /** How permissions were answered, by tool call. */
  readonly answered: ReadonlyMap<string, Answered>
  /** The name of this device. */
  readonly me: string | undefined
}

/** One tool call on the trail. Collapsed it is a line; failed ones and small edits open automatically. */
export function StepRow({ step, context }: { step: Step; context: StepContext }) {
  const isWaiting = step.state === 'running' && context.waiting.has(step.call)
  const isRunning = step.state === 'running' && !isWaiting
  const wording = stepWordsOf(step, isWaiting ? 'wants' : isRunning ? 'running' : 'done', context.folder)
  const answered = context.answered.get(step.call)
  const verb = step.state === 'stopped' ? words.stoppedStep : step.state === 'denied' ? words.deniedStep : wording.verb
  return (
    <Foldable
      look={isWaiting ? 'wait' : isRunning ? 'run' : step.state === 'failed' ? 'err' : step.state === 'denied' ? 'no' : 'ok'}
      kind={step.kind === 'edit' || step.kind === 'execute' ? step.kind : ''}
      icon={wording.icon}
      title={
        <>
          {verb}{' '}
          {step.state === 'denied' ? (
            <del>
              <code>{wording.object}</code>
            </del>
          ) : (
            <code>{wording.object}</code>
          )}
        </>
      }
      hover={wording.whole}
      meta={<Meta step={step} isWaiting={isWaiting} since={Math.max(step.at, answered?.at ?? 0)} />}
      isOpen={opensItself(step, isWaiting) || (answered?.reason ?? '') !== ''}
      isRunning={isRunning}
      foot={answered?.by !== undefined && isYes(answered) && <AnsweredLine answered={answered} me={context.me} />}
      body={hasBody(step, answered) ? () => <Body step={step} answered={answered} whole={wording.whole} context={context} /> : undefined}
    />
  )
}

/** `since`: earlier time spent waiting for a person does not count. */
function Meta({ step, isWaiting, since }: { step: Step; isWaiting: boolean; since: number }) {
  const isRunning = step.state === 'running' && !isWaiting
  const now = useTicking(isRunning)
  if (isWaiting) return <>{words.stepBelow}</>
  if (isRunning) return <>{now - since >= 2000 ? duration(now - since) : ''}</>
  const changes = step.kind === 'edit' ? changesOf(step.content) : undefined
  const { exit, text } = resultOf(step, step.endedAt === undefined ? undefined : Math.max(0, step.endedAt - since))
  switch (step.state) {
    case 'failed':
      return <span class="bad">{exit === undefined ? [words.stepFailed, text].filter(part => part !== '').join(lists.comma) : text}</span>
    case 'stopped':
      return <>{text}</>
    case 'denied':
      return null
    default: {
      const hits = foundBy(step)
      if (hits !== undefined) {
        const count = hits.reduce((sum, file) => sum + file.hits.length, 0)
        return <>{[words.found(count, hits.length), text].filter(part => part !== '').join(lists.comma)}</>
      }
      const lines = step.kind === 'read' ? linesRead(step) : undefined
      if (lines !== undefined) return <>{[words.linesRead(...lines), text].filter(part => part !== '').join(lists.comma)}</>
      const fetched = step.kind === 'fetch' ? fetchedOf(step.content) : undefined
      if (fetched !== undefined) return <>{[String(fetched.status), bytes(fetched.bytes)].join(lists.comma)}</>
      if (step.inner !== undefined) return <>{[words.innerSteps(step.inner.steps), text].filter(part => part !== '').join(lists.comma)}</>
      if (changes !== undefined) return <ChangeCount added={changes.added} removed={changes.removed} />
      return <>{text}</>
    }
  }
}

const smallEdit = 12

function opensItself(step: Step, isWaiting: boolean): boolean {
  // An open request is shown in full in the dock, and not twice.
  if (isWaiting || isOn('compact')) return false
  if (step.state === 'failed') return true
  if (step.state === 'running' && step.kind === 'execute') return textOf(step.content) !== ''
  if (step.kind !== 'edit' || step.state === 'denied') return false
  const changes = changesOf(step.content)
  return changes !== undefined && changes.added + changes.removed <= smallEdit
}

function hasBody(step: Step, answered: Answered | undefined): boolean {
  return step.content.length > 0 || Object.keys(step.args).length > 0 || answered !== undefined || step.inner !== undefined
}

/** A line on the trail that opens. `body` is drawn only while open, and `foot` only while closed; without a body the line does not open. */
export function Foldable(props: {
  look: 'ok' | 'run' | 'err' | 'wait' | 'no'
  kind?: string
  icon: IconName
  title: ComponentChildren
  hover?: string
  meta?: ComponentChildren
  isOpen: boolean
  isRunning?: boolean
  foot?: ComponentChildren
  body: (() => ComponentChildren) | undefined
}) {
  const [chosen, choose] = useState<boolean>()
  // It may open automatically, but once open it closes only by hand: nothing moves under the reader.
  const [wasOpen, setWasOpen] = useState(props.isOpen)
  if (props.isOpen && !wasOpen) setWasOpen(true)
  const isOpen = chosen ?? (wasOpen || props.isOpen)
  const line = (
    <>
      <span class="node">
        {props.isRunning === true && (
          <svg class="node-ring" viewBox="0 0 28 28" aria-hidden="true">
            <circle class="ring-track" cx="14" cy="14" r="12.5" />
            <circle class="ring-arc" cx="14" cy="14" r="12.5" />
          </svg>
        )}
        <Icon name={props.icon} />
      </span>
      <span class="tool-t" title={props.hover}>
        {props.title}
      </span>
      <span class="tool-m">{props.meta}</span>
    </>
  )
  if (props.body === undefined) {
    return (
      <li class={`step ${props.look}`}>
        <div class="tool-s flat">{line}</div>
      </li>
    )
  }
  return (
    <li class={`step ${props.look} ${props.kind ?? ''} ${isOpen ? 'open' : ''}`}>
      <button type="button" class="tool-s" aria-expanded={isOpen} onClick={() => choose(!isOpen)}>
        {line}
        <Icon name="chevron-down" class="chev" />
      </button>
      {(isOpen || props.foot) && <div class="tool-b">{isOpen ? props.body() : props.foot}</div>}
    </li>
  )
}
