import type { ComponentChildren } from 'preact'
import type { Answers, OpenQuestion } from '../../model/decisions/questions.ts'
import type { ReplyState } from '../../model/outbox/replies.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { session } from '../../words/session.ts'

export interface QuestionProps {
  readonly question: OpenQuestion
  readonly facts: SessionFacts
  /** Where it stands among all that waits, from 1. */
  readonly index: number
  readonly count: number
  readonly mine: ReplyState | undefined
  /** False while it is not certain that it is still open. */
  readonly isCurrent: boolean
  /** There is no link: answers wait here for one. */
  readonly isOffline?: boolean
  /** Undefined: the agent shall decide by itself. */
  onAnswer(answers: Answers | undefined): void
  onWithdraw?(): void
  onNext(): void
}

/** What all that is asked has in common: who asks, what, and the way to the next. */
export function AskDock(
  props: Pick<QuestionProps, 'index' | 'count' | 'onNext'> & {
    above: string
    title: string
    titleId: string
    /** It is counted itself: which of all that waits it is would be taken for that. */
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
