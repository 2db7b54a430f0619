import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { account, live } from '../../model/account/account.ts'
import type { Live } from '../../model/account/live.ts'
import { type Verdict, verdictsOf } from '../../model/decisions/answers.ts'
import { decisionsOf } from '../../model/decisions/decisions.ts'
import { livesOf } from '../../model/decisions/sent-answers.ts'
import { home } from '../../model/home.ts'
import { giveReply, replyKey } from '../../model/outbox/replies.ts'
import { factsIn, type SessionFacts } from '../../model/session/facts.ts'
import type { OpenDecision } from '../../model/sessions.ts'
import { useInert } from '../../ui/behavior/inert.ts'
import { escaped } from '../../ui/escaped.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { homeWords } from '../../words/home.ts'
import { session as words } from '../../words/session.ts'
import { AnswerLife, failureWords } from '../decide/answer-state.tsx'
import { Command } from '../decide/command.tsx'
import { Where } from '../decide/location.tsx'
import { type DecisionSubject, subjectOf } from '../decide/subject.ts'
import { Diff } from '../text/diff.tsx'
import { rich } from '../text/lazy-rich.ts'
import { insidePath } from '../transcript/step-words.ts'
import { holdsWhole } from './card-fit.ts'
import { decidedOnCards } from './decided-on-cards.ts'
import { fitsCard } from './size.ts'

type Permission = Extract<OpenDecision, { type: 'permission' }>

/**
 * A decision that can be allowed in a card: plain, by the machine and this device, and shown in full. Any other shows
 * its risks, or `toRead`. `place`: its neighbours; when they change, the button is disabled until its position is stable.
 */
export function CardDecision(props: { decision: Permission; mayDecide: boolean; place: string; toRead: ComponentChildren }) {
  const { decision, place } = props
  const { session, request } = decision
  const link = live.value
  const here = account.value
  const me = here.type === 'here' ? here.deviceName : undefined
  const facts = factsIn(session, home.value)
  const subject = subjectOf(request, facts.path)
  const once = props.mayDecide && holdsWhole(request, subject, rich.get()?.diffFile) ? verdictsOf(request, session.id).once : undefined
  const isInert = useInert(`${place} ${request.shown}`)
  const card = useRef<HTMLDivElement>(null)
  useEffect(() => () => handFocusOn(card.current?.closest('.ask')), [])
  if (link === undefined || once === undefined) return <ToReview subject={subject} session={session.id} toRead={props.toRead} />
  const lives = livesOf(
    link.queue.of('reply').filter(reply => reply.session === session.id),
    { requests: [request], answered: decisionsOf(session.agentState ?? undefined) },
    me
  )
  const life = lives.get(request.id)?.life
  const isSent = life !== undefined && life.type !== 'failed'
  return (
    <div class="ask-b" ref={card}>
      <Whole subject={subject} facts={facts} />
      {life?.type === 'failed' && (
        <p class="problem" role="alert">
          <Icon name="circle-alert" />
          <span>{failureWords(life, facts)}</span>
        </p>
      )}
      {isSent ? (
        <AnswerLife life={life} facts={facts} onWithdraw={() => void link.queue.withdraw(replyKey(session.id, request.id))} />
      ) : (
        <div class="acts two">
          <a class="btn quiet" href={`/s/${encodeURIComponent(session.id)}`}>
            {homeWords.review}
            <span class="vh">: {subject.question}</span>
          </a>
          <button
            class="btn primary"
            type="button"
            aria-disabled={isInert ? true : undefined}
            onClick={({ currentTarget }) => {
              if (isInert) return
              // The button disappears: focus moves to the name of the decided request.
              currentTarget.closest('.ask')?.querySelector<HTMLElement>('h3 a')?.focus({ preventScroll: true })
              give(link, decision, once)
            }}
          >
            {words.allow.once}
            <span class="vh">: {subject.question}</span>
          </button>
        </div>
      )}
    </div>
  )
}

/** Risky requests are marked, and read in their session. */
function ToReview({ subject, session, toRead }: { subject: DecisionSubject; session: string; toRead: ComponentChildren }) {
  const { command, risk, question } = subject
  const [first] = risk.reasons
  if (first === undefined) return <>{toRead}</>
  const [what, more] = words.risk[first]
  const others = risk.reasons.length - 1
  return (
    <div class="ask-b">
      {command !== undefined && fitsCard(command) && <Command text={command} marks={risk.marks} />}
      <p class={`ask-r ${risk.level}`}>
        <Icon name="octagon-alert" />
        <span>{others > 0 ? homeWords.andRisks(what, others) : [what, more].filter(Boolean).join(' ')}</span>
      </p>
      <a class="btn beacon wide" href={`/s/${encodeURIComponent(session)}`}>
        {homeWords.review}
        <span class="vh">: {question}</span>
      </a>
    </div>
  )
}

function give({ queue }: Live, { session, request }: Permission, verdict: Verdict): void {
  decidedOnCards.value = new Set(decidedOnCards.value).add(request.id)
  void giveReply(queue, { type: 'permission', session: session.id, asked: request, verdict, at: Date.now() }, true)
}

/** The full content of the request. */
function Whole({ subject, facts }: { subject: DecisionSubject; facts: SessionFacts }) {
  const { command, diffs } = subject
  return (
    <>
      {command !== undefined && <Command text={command} marks={[]} />}
      {diffs.map(diff => (
        <figure key={diff.path} class="dock-d">
          <figcaption>
            <code>{escaped(insidePath(diff.path, facts.path))}</code>
          </figcaption>
          <Diff path={diff.path} oldText={diff.oldText} newText={diff.newText} isDecision />
        </figure>
      ))}
      <Where facts={facts} />
    </>
  )
}

// A decided request leaves the list; focus moves to the next one, or to the top.
function handFocusOn(card: Element | null | undefined): void {
  if (!card?.contains(document.activeElement)) return
  const next = card.nextElementSibling ?? card.previousElementSibling
  const to = next?.querySelector<HTMLElement>('a') ?? document.querySelector<HTMLElement>('.home h1')
  queueMicrotask(() => to?.focus({ preventScroll: true }))
}
