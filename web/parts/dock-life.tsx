import { Ring } from '../icons/glyph.tsx'
import { Icon } from '../icons/icon.tsx'
import type { Life, MyAnswer } from '../state/session-answers.ts'
import type { SessionFacts } from '../state/session-facts.ts'
import { decide } from '../words/decide.ts'
import { session as words } from '../words/session.ts'
import { clockTime } from '../words/time.ts'
import { subjectOf } from './dock-subject.ts'
import { visible } from './visible.ts'

/** Where an answer is on its way: sent, on the machine, applied. */
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
  const stages = [words.life.sent, words.life.on(facts.host), words.life.applied]
  return (
    <>
      <ol class="life" aria-label={words.life.where}>
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
        {life.type === 'delivered' ? words.life.hasIt(facts.host, facts.agentShort) : ' '}
      </p>
    </>
  )
}

/** How an answer of this device ended, when that is not what the person meant to do. Stays until it was read. */
export function AnswerNotice({ answer, life, facts, onClose }: { answer: MyAnswer; life: Life; facts: SessionFacts; onClose(): void }) {
  const told = noticeOf(life, facts)
  if (told === undefined) return null
  const subject = subjectOf(answer.request, facts.path)
  return (
    <article class={`ans ${told.isBad ? 'bad' : ''}`}>
      <header>
        <b>{told.title}</b>
        <time>{clockTime(told.at ?? answer.at, Date.now())}</time>
      </header>
      <code>{visible(subject.command ?? subject.heading)}</code>
      <p>{told.text}</p>
      <div class="acts">
        <button class="btn quiet" type="button" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </article>
  )
}

function noticeOf(life: Life, facts: SessionFacts): { title: string; text: string; at?: number; isBad?: boolean } | undefined {
  switch (life.type) {
    case 'elsewhere': {
      const { by, at } = life.answered
      return { title: by === undefined ? words.answeredElsewhere : words.answeredOn(by), text: words.tapSecond, at }
    }
    case 'ended':
      return facts.presence === 'here'
        ? { title: words.withdrew(facts.agentShort), text: words.didNotRun }
        : { title: words.notApplied, text: words.notAppliedWhy.stopped(facts.agentShort), isBad: true }
    case 'queued':
    case 'failed':
    case 'sending':
    case 'delivered':
    case 'applied':
      return undefined
  }
}

export function failureWords({ why, says }: Extract<Life, { type: 'failed' }>, facts: SessionFacts): string {
  const told = words.notAppliedWhy
  switch (why) {
    case 'not-connected':
      return told['not-connected']
    case 'failed':
      return says.startsWith('This request changed') ? decide.changed : told.failed(facts.host, says)
    case 'away':
    case 'no-answer':
    case 'unreadable':
      return told[why](facts.host)
  }
}
