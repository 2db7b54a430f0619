import { useId } from 'preact/hooks'
import { agentOf, folderName, type OpenDecision, projectOf, titleOf } from '../../model/sessions.ts'
import { commandOf, kindOf, pathOf, urlOf } from '../../model/transcript/steps.ts'
import { isWide } from '../../ui/behavior/width.ts'
import { decisionIcon, Glyph } from '../../ui/icons/glyph.tsx'
import type { IconName } from '../../ui/icons/icon.tsx'
import { visible } from '../../ui/visible-text.ts'
import { decide } from '../../words/decide.ts'
import { homeWords } from '../../words/home.ts'
import { words } from '../../words/index.ts'
import { ago, clockTime, fullTime } from '../../words/time.ts'
import { onCards } from './lazy-decide.ts'
import { fitsCard } from './size.ts'

/**
 * A decision in a list. A plain one shown in full can be allowed once; any other is read in its session, so "Review" opens
 * that. A command is shown in full, or not at all if it is too long for a card. `place`: the neighbours of the card.
 */
export function DecisionCard({
  decision,
  isCurrent,
  isStale,
  at,
  place
}: {
  decision: OpenDecision
  isCurrent: boolean
  isStale: boolean
  at: number
  place: string
}) {
  const { session, createdAt } = decision
  const href = `/s/${encodeURIComponent(session.id)}`
  const command = decision.type === 'permission' ? commandOf(argsOf(decision)) : undefined
  const heading = useId()
  const held = decision.type === 'permission' && !isWide.value ? onCards.get() : undefined
  if (isToAnswer(decision)) return <QuestionCard {...{ decision, isCurrent, isStale, at, href }} />
  const toRead = (
    <>
      {command !== undefined && fitsCard(command) && (
        <pre class="cmd">
          <code>{visible(command)}</code>
        </pre>
      )}
      <a class="btn beacon wide" href={href}>
        {homeWords.review}
        <span class="vh">: {decisionTitle(decision)}</span>
      </a>
    </>
  )
  return (
    <article class="ask" aria-labelledby={heading} aria-current={isCurrent ? 'true' : undefined}>
      <header class="ask-h">
        <Glyph state="needs" icon={decisionGlyph(decision)} />
        <div>
          <h3 id={heading}>
            <a href={href}>{decisionTitle(decision)}</a>
          </h3>
          <p dir="auto">{contextOf(decision)}</p>
        </div>
        <time dateTime={new Date(createdAt).toISOString()} title={fullTime(createdAt)}>
          {isStale ? clockTime(createdAt, at) : ago(createdAt, at)}
        </time>
      </header>
      {held && decision.type === 'permission' ? (
        <held.CardDecision decision={decision} mayDecide={mayHold(decision, isStale)} place={place} toRead={toRead} />
      ) : (
        toRead
      )}
    </article>
  )
}

// Beside a main pane a card is only a link. Outdated requests cannot be decided.
function mayHold(decision: OpenDecision, isStale: boolean): boolean {
  return decision.type === 'permission' && decision.request.risk?.level === 'plain' && !isStale && !isWide.value
}

/** A question of an agent, with a way to answer it. */
function QuestionCard(props: { decision: OpenDecision; isCurrent: boolean; isStale: boolean; at: number; href: string }) {
  const { decision, isStale, at, href } = props
  const { createdAt } = decision
  const heading = useId()
  return (
    <article class="ask question" aria-labelledby={heading} aria-current={props.isCurrent ? 'true' : undefined}>
      <header class="ask-h">
        <Glyph state="needs" icon={decisionGlyph(decision)} />
        <div>
          <h3 id={heading}>
            <a href={href}>{decisionTitle(decision)}</a>
          </h3>
          <p dir="auto">
            {contextOf(decision)} ·{' '}
            <time dateTime={new Date(createdAt).toISOString()} title={fullTime(createdAt)}>
              {isStale ? clockTime(createdAt, at) : ago(createdAt, at)}
            </time>
          </p>
        </div>
      </header>
      <a class="btn beacon" href={href}>
        {homeWords.answer}
        <span class="vh">: {decisionTitle(decision)}</span>
      </a>
    </article>
  )
}

function isToAnswer(decision: OpenDecision): boolean {
  return decision.type === 'question' && decision.question.type !== 'link'
}

/** A short description of the request. */
export function decisionTitle(decision: OpenDecision): string {
  if (decision.type === 'question') return questionTitle(decision)
  const args = argsOf(decision)
  const path = pathOf(args) ?? decision.request.locations?.[0]
  const file = path === undefined ? undefined : folderName(path)
  const kind = decisionKind(decision)
  switch (kind) {
    case 'execute':
    case 'search':
    case 'move':
    case 'think':
    case 'plan':
      return words.decision[kind]
    case 'edit':
    case 'delete':
    case 'read':
      return words.decision[kind](file)
    case 'fetch':
      return words.decision.fetch(hostOfUrl(urlOf(args)))
    case 'other':
      return words.decision.other(visible(decision.request.title ?? decision.request.tool))
  }
}

/** The icon of the request. */
export function decisionGlyph(decision: OpenDecision): IconName {
  return decision.type === 'question' ? 'message-circle-question-mark' : decisionIcon(decisionKind(decision))
}

function questionTitle({ question, session }: Extract<OpenDecision, { type: 'question' }>): string {
  if (question.type === 'link') return decide.linkTitle
  const [first] = question.questions
  return visible(first?.question ?? question.title ?? decide.questionCard(agentOf(session) ?? ''))
}

type Permission = Extract<OpenDecision, { type: 'permission' }>

function decisionKind({ request }: Permission) {
  return request.kind ?? kindOf(request.tool)
}

function argsOf({ request }: Permission): Record<string, unknown> {
  return typeof request.arguments === 'object' && request.arguments !== null ? { ...request.arguments } : {}
}

function contextOf({ session }: OpenDecision): string {
  const folder = session.metadata && projectOf(session.metadata)
  return [...new Set([titleOf(session), folder])].filter(part => part !== undefined).join(' · ')
}

function hostOfUrl(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).host : undefined
}
