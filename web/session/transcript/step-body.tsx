import { route } from '../../core/router.ts'
import { pathOf } from '../../core/routes.ts'
import type { Answered } from '../../model/decisions/decisions.ts'
import type { Step } from '../../model/transcript/items.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { reasonHere } from '../../words/denials.ts'
import { session as words } from '../../words/session.ts'
import { clockTime } from '../../words/time.ts'
import { Diff } from '../text/diff.tsx'
import { Markdown, safeUrl } from '../text/markdown.tsx'
import { Raw } from '../text/raw.tsx'
import { answerWords } from './answer-words.ts'
import { foundBy, Hits } from './step-hits.tsx'
import { Output } from './step-output.tsx'
import { pathsOf, placeOf, textOf } from './step-words.ts'

/** The content of an open step. `folder` is that of the session; `me` is the name of this device. */
export function Body(props: {
  step: Step
  answered: Answered | undefined
  whole: string
  context: { readonly folder: string | undefined; readonly me: string | undefined }
}) {
  const { step, answered, whole, context } = props
  const diffs = step.content.filter(each => each.type === 'diff')
  // The only output of a denied step is the message to the model, which repeats the reason.
  const text = step.state === 'denied' && answered !== undefined ? '' : textOf(step.content)
  const hits = foundBy(step)
  const [file, ...others] = ['read', 'edit'].includes(step.kind) && step.state !== 'denied' ? pathsOf(step) : []
  return (
    <>
      {step.kind === 'execute' && isMore(whole) && (
        <pre class="cmd">
          <code>{whole}</code>
        </pre>
      )}
      {diffs.map((diff, index) => (
        <div key={index} class="fdiff">
          {diffs.length > 1 && (
            <b class="fdiff-n">
              <InFiles path={diff.path} folder={context.folder} says={diff.path} />
            </b>
          )}
          <Diff path={diff.path} oldText={diff.oldText} newText={diff.newText} />
        </div>
      ))}
      {step.kind === 'fetch' && <Address url={whole} />}
      {step.kind === 'plan' && text !== '' && <Markdown text={text} />}
      {hits !== undefined && <Hits files={hits} folder={context.folder} />}
      {step.kind !== 'plan' && hits === undefined && text !== '' && (diffs.length === 0 || step.state === 'failed') && (
        <Output text={text} />
      )}
      {file !== undefined && others.length === 0 && <InFiles path={file} folder={context.folder} />}
      {step.inner !== undefined && <Inner call={step.call} last={step.inner.last} />}
      {diffs.length === 0 && showsFields(step) && <Fields args={step.args} />}
      {step.kind === 'other' && <Raw text={JSON.stringify({ [step.name]: step.args }, null, 2)} what={words.call} />}
      {answered !== undefined && <AnsweredLine answered={answered} me={context.me} />}
    </>
  )
}

/** A link to a file of the folder; `says` is shown in any case. */
function InFiles({ path, folder, says }: { path: string; folder: string | undefined; says?: string }) {
  const here = route.value
  const place = placeOf(path, folder)
  if (place === undefined || here.name !== 'session') return <>{says}</>
  return (
    <a class="txt" href={pathOf({ name: 'session', id: here.id, view: ['files', ...place] })}>
      {says ?? words.openFile}
    </a>
  )
}

/** The last action of a subagent, and a link to all of them. */
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

/** The arguments of a call, each with its name. */
function Fields({ args }: { args: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="fields">
      {Object.entries(args).map(([name, value]) => (
        <div key={name}>
          <dt>{labelOf(name)}</dt>
          <dd>{fieldText(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

// issue_type and issueType are names for programs.
function labelOf(name: string): string {
  const spaced = name
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(/([a-z\d])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** A value as text: on one line if short. */
export function fieldText(value: unknown): string {
  if (typeof value === 'string') return value
  const short = JSON.stringify(value) ?? ''
  return short.length <= 60 ? short : JSON.stringify(value, null, 2)
}

/** Who answered a permission, how and when, with the reason below, if any. */
export function AnsweredLine({ answered, me }: { answered: Answered; me: string | undefined }) {
  const { at, reason } = answered
  const text = answerWords(answered, me)
  const isAllowed = isYes(answered)
  return (
    <p class={`tool-f ${isAllowed ? '' : 'no'}`}>
      <Icon name={isAllowed ? 'check' : 'x'} />
      <span>
        {words.at(text, clockTime(at, Date.now()))}
        {reason !== undefined && reason !== '' && <q dir="auto">{reasonHere(reason)}</q>}
      </span>
    </p>
  )
}

export function isYes({ outcome }: Answered): boolean {
  return outcome === 'allowed-once' || outcome === 'allowed-session'
}
