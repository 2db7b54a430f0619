import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Icon, type IconName } from '../icons/icon.tsx'
import { route } from '../router.ts'
import { pathOf } from '../routes.ts'
import { isOn } from '../state/preferences.ts'
import { type FileHits, hitsOf } from '../state/search-hits.ts'
import type { Answered } from '../state/session-decisions.ts'
import type { Step } from '../state/transcript.ts'
import { decide } from '../words/decide.ts'
import { session as words } from '../words/session.ts'
import { clockTime, duration } from '../words/time.ts'
import { ChangeCount } from './change-count.tsx'
import { Diff } from './diff.tsx'
import { Markdown, safeUrl } from './markdown.tsx'
import { Hits } from './step-hits.tsx'
import { Output } from './step-output.tsx'
import { changesOf, resultOf, textOf, wordsOf } from './step-words.ts'
import { useTicking } from './ticking.ts'

/** What the steps of a session have in common. */
export interface StepContext {
  /** The folder of the session, so that paths are short. */
  readonly folder: string | undefined
  /** Tool calls that wait for a person right now. */
  readonly waiting: ReadonlySet<string>
  /** How permissions were answered, by tool call. */
  readonly answered: ReadonlyMap<string, Answered>
  /** This device, as it names itself. */
  readonly me: string | undefined
}

/** One tool call on the trail. Closed it is a line; failed ones and small edits open by themselves. */
export function StepRow({ step, context }: { step: Step; context: StepContext }) {
  const isWaiting = step.state === 'running' && context.waiting.has(step.call)
  const isRunning = step.state === 'running' && !isWaiting
  const told = wordsOf(step, isWaiting ? 'wants' : isRunning ? 'running' : 'done', context.folder)
  const answered = context.answered.get(step.call)
  const verb = step.state === 'stopped' ? words.stoppedStep : step.state === 'denied' ? words.deniedStep : told.verb
  return (
    <Fold
      look={isWaiting ? 'wait' : isRunning ? 'run' : step.state === 'failed' ? 'err' : step.state === 'denied' ? 'no' : 'ok'}
      kind={step.kind === 'edit' || step.kind === 'execute' ? step.kind : ''}
      icon={told.icon}
      title={
        <>
          {verb}{' '}
          {step.state === 'denied' ? (
            <del>
              <code>{told.object}</code>
            </del>
          ) : (
            <code>{told.object}</code>
          )}
        </>
      }
      hover={told.whole}
      meta={<Meta step={step} isWaiting={isWaiting} />}
      isOpen={opensItself(step, isWaiting) || (answered?.reason ?? '') !== ''}
      isRunning={isRunning}
      body={hasBody(step, answered) ? () => <Body step={step} answered={answered} whole={told.whole} context={context} /> : undefined}
    />
  )
}

function Meta({ step, isWaiting }: { step: Step; isWaiting: boolean }) {
  const isRunning = step.state === 'running' && !isWaiting
  const now = useTicking(isRunning)
  if (isWaiting) return <>{words.stepBelow}</>
  if (isRunning) return <>{now - step.at >= 2000 ? duration(now - step.at) : ''}</>
  const changes = step.kind === 'edit' ? changesOf(step.content) : undefined
  const { exit, text } = resultOf(step, step.endedAt === undefined ? undefined : step.endedAt - step.at)
  switch (step.state) {
    case 'failed':
      return <span class="bad">{exit === undefined ? [words.stepFailed, text].filter(part => part !== '').join(', ') : text}</span>
    case 'stopped':
      return <>{text}</>
    case 'denied':
      return null
    default: {
      const hits = foundBy(step)
      if (hits !== undefined) {
        const count = hits.reduce((sum, file) => sum + file.hits.length, 0)
        return <>{[words.found(count, hits.length), text].filter(part => part !== '').join(', ')}</>
      }
      if (step.inner !== undefined) return <>{[words.innerSteps(step.inner.steps), text].filter(part => part !== '').join(', ')}</>
      if (changes !== undefined) return <ChangeCount added={changes.added} removed={changes.removed} />
      return <>{text}</>
    }
  }
}

function foundBy(step: Step): readonly FileHits[] | undefined {
  return step.kind === 'search' && step.state === 'ok' ? hitsOf(textOf(step.content)) : undefined
}

const smallEdit = 12

function opensItself(step: Step, isWaiting: boolean): boolean {
  // What waits is shown whole in the dock, and not twice.
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

function Body(props: { step: Step; answered: Answered | undefined; whole: string; context: StepContext }) {
  const { step, answered, whole, context } = props
  const diffs = step.content.filter(each => each.type === 'diff')
  const text = textOf(step.content)
  const hits = foundBy(step)
  return (
    <>
      {step.kind === 'execute' && isMore(whole) && (
        <pre class="cmd">
          <code>{whole}</code>
        </pre>
      )}
      {diffs.map((diff, index) => (
        <div key={index} class="fdiff">
          {diffs.length > 1 && <b class="fdiff-n">{diff.path}</b>}
          <Diff path={diff.path} oldText={diff.oldText} newText={diff.newText} />
        </div>
      ))}
      {step.kind === 'fetch' && <Address url={whole} />}
      {step.kind === 'plan' && text !== '' && <Markdown text={text} />}
      {hits !== undefined && <Hits files={hits} folder={context.folder} />}
      {step.kind !== 'plan' && hits === undefined && text !== '' && (diffs.length === 0 || step.state === 'failed') && (
        <Output text={text} />
      )}
      {step.inner !== undefined && <Inner call={step.call} last={step.inner.last} />}
      {diffs.length === 0 && showsFields(step) && <Fields args={step.args} />}
      {answered !== undefined && <AnsweredLine answered={answered} me={context.me} />}
    </>
  )
}

/** What a subagent did last, and the way to all of it. */
function Inner({ call, last }: { call: string; last: readonly string[] }) {
  const here = route.value
  return (
    <>
      <ul class="mini">
        {last.map((title, index) => (
          <li key={index}>{title}</li>
        ))}
      </ul>
      {here.name === 'session' && (
        <a class="txt" href={pathOf({ name: 'session', id: here.id, view: ['sub', call] })}>
          {words.subagentAll}
        </a>
      )}
    </>
  )
}

function showsFields(step: Step): boolean {
  return ['other', 'agent', 'move', 'delete', 'think'].includes(step.kind) || (step.kind === 'edit' && step.content.length === 0)
}

function isMore(command: string): boolean {
  return command.includes('\n') || command.length > 40
}

function Address({ url }: { url: string }) {
  const safe = safeUrl(url)
  if (safe === undefined) return <p class="fields-v">{url}</p>
  return (
    <p class="fields-v">
      <a href={safe.href} rel="noopener noreferrer" target="_blank">
        {url}
      </a>
    </p>
  )
}

/** The arguments of a call, each under its name. */
export function Fields({ args }: { args: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="fields">
      {Object.entries(args).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{fieldText(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A value as text: on one line when it is short. */
export function fieldText(value: unknown): string {
  if (typeof value === 'string') return value
  const short = JSON.stringify(value) ?? ''
  return short.length <= 60 ? short : JSON.stringify(value, null, 2)
}

function answerWords({ outcome, by, rule, said }: Answered, me: string | undefined): string {
  if (said !== undefined) {
    if (outcome === 'ended') return decide.leftOpen
    if (said.text === undefined) return decide.letItDecide
    return by === me ? decide.youAnswered(said.text) : decide.answered(said.text)
  }
  if (rule !== undefined && by === undefined) return decide.byRule(rule)
  const says = words.outcome[outcome]
  if (by === undefined) return says.unknown
  if (rule !== undefined && outcome === 'allowed-once') return by === me ? decide.alwaysBy.me : decide.alwaysBy.other(by)
  return by === me ? says.me : says.other(by)
}

/** Who answered a permission, how and when; the reason below when there was one. */
export function AnsweredLine({ answered, me }: { answered: Answered; me: string | undefined }) {
  const { outcome, at, reason } = answered
  const text = answerWords(answered, me)
  const isYes = outcome === 'allowed-once' || outcome === 'allowed-session'
  return (
    <p class={`tool-f ${isYes ? '' : 'no'}`}>
      <Icon name={isYes ? 'check' : 'x'} />
      <span>
        {words.at(text, clockTime(at, Date.now()))}
        {reason !== undefined && reason !== '' && <q dir="auto">{reason}</q>}
      </span>
    </p>
  )
}

/** A line on the trail that opens. `body` is drawn only while open; without one the line does not open. */
export function Fold(props: {
  look: 'ok' | 'run' | 'err' | 'wait' | 'no'
  kind?: string
  icon: IconName
  title: ComponentChildren
  hover?: string
  meta?: ComponentChildren
  isOpen: boolean
  isRunning?: boolean
  body: (() => ComponentChildren) | undefined
}) {
  const [chosen, choose] = useState<boolean>()
  // It may open by itself, but what was once open closes only by hand: nothing moves under the reader.
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
      {isOpen && <div class="tool-b">{props.body()}</div>}
    </li>
  )
}
