import type { Life, MyAnswer, Verdict } from '../../model/decisions/answers.ts'
import type { OpenRequest } from '../../model/decisions/decisions.ts'
import type { Notice } from '../../model/decisions/notices.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { Ring } from '../../ui/icons/glyph.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { visible } from '../../ui/visible-text.ts'
import { decide } from '../../words/decide.ts'
import { outcomes } from '../../words/outcomes.ts'
import { session as words } from '../../words/session.ts'
import { clockTime } from '../../words/time.ts'
import { noticeWords } from './notice-words.ts'
import { subjectOf } from './subject.ts'

/** A request answered here, and the state of the answer. */
export interface Answerable {
  readonly request: OpenRequest
  readonly facts: SessionFacts
  readonly mine: { readonly answer: MyAnswer; readonly life: Life } | undefined
  /** False while it is uncertain whether the request is still open. */
  readonly isCurrent: boolean
  onAnswer(verdict: Verdict): void
}

/** The progress of an answer: sent, on the machine, applied. */
export function AnswerLife({ life, facts, onWithdraw }: { life: Life; facts: SessionFacts; onWithdraw(): void }) {
  if (life.type === 'queued') {
    return (
      <div class="life">
        <span class="dock-s" role="status">
          <Icon name="clock-3" />
          {decide.queued}
        </span>
        <button class="btn quiet" type="button" onClick={onWithdraw}>
          {decide.withdraw}
        </button>
      </div>
    )
  }
  const reached = life.type === 'sending' ? 0 : life.type === 'delivered' ? 1 : 2
  const stages = [outcomes.life.sent, outcomes.life.on(facts.host), outcomes.life.applied]
  return (
    <>
      <ol class="life" aria-label={outcomes.life.where}>
        {stages.map((stage, index) => {
          const look = index < reached ? 'd' : index === reached ? 'c' : ''
          return (
            <li key={stage} class={look} aria-current={index === reached ? 'step' : undefined}>
              {look === 'd' ? (
                <Icon name="check" />
              ) : look === 'c' ? (
                <span class="s-ring">
                  <Ring />
                </span>
              ) : (
                <Icon name="circle" />
              )}
              {stage}
            </li>
          )
        })}
      </ol>
      <p class="dock-s" role="status">
        {life.type === 'delivered' ? outcomes.life.hasIt(facts.host, facts.agentShort) : ' '}
      </p>
    </>
  )
}

/** How a request ended that was read or answered here, if not as the reader intended. */
export function NoticeCard(props: {
  notice: Notice
  facts: SessionFacts
  me: string | undefined
  onAskAgain: (() => void) | undefined
  onClose(): void
}) {
  const { notice, facts } = props
  const what = whatOf(notice, facts)
  const wording = noticeWords(notice, facts, props.me)
  return (
    <article class={`ans ${wording.isBad ? 'bad' : ''}`}>
      <header>
        <b>{wording.title}</b>
        <time>{clockTime(notice.at, Date.now())}</time>
      </header>
      <code>{visible(what)}</code>
      {wording.text !== undefined && <p>{wording.text}</p>}
      <div class="acts">
        {wording.isBad && props.onAskAgain && (
          <button class="btn quiet" type="button" onClick={props.onAskAgain}>
            <Icon name="play" />
            {outcomes.resumeAndAsk}
          </button>
        )}
        <button class="btn quiet" type="button" onClick={props.onClose}>
          {words.close}
        </button>
      </div>
    </article>
  )
}

/** The command, or a short description of another subject. */
export function whatOf({ asked }: Pick<Notice, 'asked'>, facts: SessionFacts): string {
  if (asked.type === 'question') return asked.question.title ?? decide.questionCard(facts.agentShort)
  const subject = subjectOf(asked.request, facts.path)
  return subject.command ?? subject.heading
}

export function failureWords({ why, says }: Extract<Life, { type: 'failed' }>, facts: SessionFacts): string {
  const texts = outcomes.notAppliedWhy
  switch (why) {
    case 'not-connected':
      return texts['not-connected']
    case 'failed':
      return says.startsWith('This request changed') ? decide.changed : texts.failed(facts.host, says)
    case 'away':
    case 'no-answer':
    case 'unreadable':
    case 'astray':
      return texts[why](facts.host)
  }
}
