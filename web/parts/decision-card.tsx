import { useId } from 'preact/hooks'
import { decisionIcon, Glyph } from '../icons/glyph.tsx'
import type { IconName } from '../icons/icon.tsx'
import { agentOf, folderOf, type OpenDecision, titleOf } from '../state/sessions.ts'
import { commandOf, kindOf, pathOf, urlOf } from '../state/transcript-steps.ts'
import { decide } from '../words/decide.ts'
import { words } from '../words/index.ts'
import { ago, clockTime, fullTime } from '../words/time.ts'
import { makeVisible } from './visible.ts'

/**
 * A decision in a list. It never decides: whoever has read the whole of it does that in its session, so "Review" leads there.
 * A command is shown in full, or not at all when it is too long for a card.
 */
export function DecisionCard({
  decision,
  isCurrent,
  isStale,
  at
}: {
  decision: OpenDecision
  isCurrent: boolean
  isStale: boolean
  at: number
}) {
  const { session, createdAt } = decision
  const href = `/s/${encodeURIComponent(session.id)}`
  const command = decision.type === 'permission' ? commandOf(argsOf(decision)) : undefined
  const heading = useId()
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
      {command !== undefined && isShort(command) && (
        <pre class="cmd">
          <code>{visible(command)}</code>
        </pre>
      )}
      <a class="btn beacon wide" href={href}>
        {words.home.review}
        <span class="vh">: {decisionTitle(decision)}</span>
      </a>
    </article>
  )
}

/** What is to be decided, in a few words. */
export function decisionTitle(decision: OpenDecision): string {
  if (decision.type === 'question') return questionTitle(decision)
  const args = argsOf(decision)
  const path = pathOf(args) ?? decision.request.locations?.[0]
  const file = path === undefined ? undefined : folderOf(path)
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

/** The icon of what is to be decided. */
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
  const folder = session.metadata && folderOf(session.metadata.path)
  return [...new Set([titleOf(session), folder])].filter(part => part !== undefined).join(' · ')
}

function visible(text: string): string {
  return makeVisible(text)
    .map(span => span.text)
    .join('')
}

function isShort(command: string): boolean {
  return command.length <= 240 && command.split('\n').length <= 6
}

function hostOfUrl(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).host : undefined
}
