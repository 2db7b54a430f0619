import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Live } from '../../model/account/live.ts'
import { type ClosedDecision, closedDecisions, forgetClosed, noteSince } from '../../model/decisions/closed-decisions.ts'
import { decisionsOf, openRequests } from '../../model/decisions/decisions.ts'
import { type Noticed, noticesOf } from '../../model/decisions/notices.ts'
import { answeredQuestions, openQuestions } from '../../model/decisions/questions.ts'
import { livesOf } from '../../model/decisions/sent-answers.ts'
import { waitingOf } from '../../model/decisions/waiting.ts'
import { home } from '../../model/home.ts'
import { replyKey } from '../../model/outbox/replies.ts'
import { factsIn, type SessionFacts } from '../../model/session/facts.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { toast } from '../../ui/toast.ts'
import { outcomes } from '../../words/outcomes.ts'
import { session as words } from '../../words/session.ts'
import { NoticeCard, whatOf } from './answer-state.tsx'

/** The outcomes of decisions that were read in this session, or answered without effect. */
export function Notices({ model, facts }: { model: SessionModel; facts: SessionFacts }) {
  const lives = model.lives.value
  const open = waitingOf(model.requests.value, model.questions.value)
  const cards = cardsOf({
    known: { facts, lives, answered: model.answered.value, open },
    me: model.me,
    gone: closedDecisions.value,
    isWorking: model.isWorking.value,
    onClose: id => (lives.has(id) ? model.dismiss(id) : forgetClosed(facts.id)),
    // The agent does not know that it was answered, so a message tells it to ask again.
    onAskAgain: facts.canResume
      ? what => {
          model.texts.send(outcomes.askAgain(what)).catch(() => toast(words.notKept))
          void model.resume()
        }
      : undefined
  })
  return <NoticeList cards={cards} />
}

/** The same for all sessions, where decisions are read one after another; `only`: for these, where nothing is read. */
export function AllNotices({ link, me, only }: { link: Live; me: string | undefined; only?: ReadonlySet<string> }) {
  const replies = link.queue.of('reply').filter(({ asked }) => only === undefined || only.has(asked.id))
  const gone = only === undefined ? closedDecisions.value : []
  const ids = new Set([...replies, ...gone].map(({ session }) => session))
  const cards = [...ids].flatMap(id => {
    const session = home.value.sessions.get(id)
    if (session === undefined) return []
    const state = session.agentState ?? undefined
    const answered = [...decisionsOf(state), ...answeredQuestions(state)]
    const requests = session.isActive ? openRequests(state) : []
    const lives = livesOf(
      replies.filter(reply => reply.session === id),
      { requests, answered },
      me
    )
    const facts = factsIn(session, home.value)
    return cardsOf({
      known: {
        facts,
        lives,
        answered,
        open: waitingOf(requests, session.isActive ? openQuestions(state) : [])
      },
      me,
      gone,
      isWorking: facts.isThinking,
      onClose: asked => (lives.has(asked) ? link.queue.dismiss(replyKey(id, asked)) : forgetClosed(id)),
      onAskAgain: undefined
    })
  })
  return <NoticeList cards={cards} />
}

function NoticeList({ cards }: { cards: readonly VNode[] }) {
  if (cards.length === 0) return null
  return (
    <div class="notices" role="status">
      {cards}
    </div>
  )
}

function cardsOf(props: {
  known: Noticed
  me: string | undefined
  gone: readonly ClosedDecision[]
  isWorking: boolean
  onClose(id: string): void
  onAskAgain: ((what: string) => void) | undefined
}): VNode[] {
  const { known, me, gone, isWorking, onClose, onAskAgain } = props
  const { facts } = known
  return noticesOf(known, gone).map(notice => (
    <PassingCard
      key={`${facts.id} ${notice.id}`}
      notice={notice}
      facts={facts}
      me={me}
      isWorking={isWorking}
      onAskAgain={
        onAskAgain &&
        (() => {
          onAskAgain(whatOf(notice, facts))
          onClose(notice.id)
        })
      }
      onClose={() => onClose(notice.id)}
    />
  ))
}

/** A notice for a request that was only read disappears once read, after its turn is over. */
function PassingCard({ isWorking, ...card }: Parameters<typeof NoticeCard>[0] & { isWorking: boolean }) {
  const { id, presence } = card.facts
  const isOfGone = card.notice.gone !== undefined
  useEffect(() => {
    if (!isOfGone) return
    if (presence === 'ended') noteSince(id, 'stopped')
    if (presence === 'ended' || (presence === 'here' && !isWorking)) noteSince(id, 'turn-over')
  }, [id, isOfGone, presence, isWorking])
  useEffect(() => (isOfGone ? whenRead(() => noteSince(id, 'read')) : undefined), [id, isOfGone, card.notice.id])
  return <NoticeCard {...card} />
}

/** Calls back once it was visible for long enough. Returns a function that cancels. */
function whenRead(onRead: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(timer)
    if (document.visibilityState === 'visible') timer = setTimeout(onRead, readTakesMs)
  }
  look()
  document.addEventListener('visibilitychange', look)
  return () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
  }
}

const readTakesMs = 10_000
