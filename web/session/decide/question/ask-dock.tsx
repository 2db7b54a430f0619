import type { ComponentChildren } from 'preact'
import type { Answers, OpenQuestion } from '../../../model/decisions/questions.ts'
import type { ReplyState } from '../../../model/outbox/replies.ts'
import type { SessionFacts } from '../../../model/session/facts.ts'
import { Icon } from '../../../ui/icons/icon.tsx'
import { session } from '../../../words/session.ts'

export interface QuestionProps {
  readonly question: OpenQuestion
  readonly facts: SessionFacts
  /** Its position among all open requests, from 1. */
  readonly index: number
  readonly count: number
  readonly mine: ReplyState | undefined
  /** False while it is uncertain whether it is still open. */
  readonly isCurrent: boolean
  /** Offline: answers are queued here. */
  readonly isOffline?: boolean
  /** Undefined: the agent decides itself. */
  onAnswer(answers: Answers | undefined): void
  onWithdraw?(): void
  onNext(): void
}

/** The common parts of all requests: who asks, what, and the way to the next. */
export function AskDock(
  props: Pick<QuestionProps, 'index' | 'count' | 'onNext'> & {
    above: string
    title: string
    titleId: string
    /** It has a count of its own, which its position among the open requests could be mistaken for. */
    hasParts?: boolean
    children: ComponentChildren
  }
) {
  return (
    <section class="dock" aria-labelledby={props.titleId}>
      <p class="vh" role="alert">
        {props.above}: {props.title}
      </p>
      <header class="dock-h">
        <span class="gl gl-needs big">
          <Icon name="message-circle-question-mark" />
        </span>
        <div>
          <p>{props.above}</p>
          <h2 id={props.titleId} dir="auto">
            {props.title}
          </h2>
        </div>
        {props.count > 1 && (
          <button class="nxt" type="button" onClick={props.onNext}>
            {props.hasParts === true ? (
              session.nextRequest
            ) : (
              <>
                {session.oneOf(props.index, props.count)}
                <span class="vh">. {session.nextRequest}</span>
              </>
            )}
            <Icon name="chevron-right" />
          </button>
        )}
      </header>
      {props.children}
    </section>
  )
}
