import { useEffect, useState } from 'preact/hooks'
import { go } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { account, live } from '../model/account/account.ts'
import { type ClosedDecision, noteClosed } from '../model/decisions/closed-decisions.ts'
import { decisions } from '../model/groups.ts'
import { home, markSeen } from '../model/home.ts'
import { type OpenDecision, titleOf } from '../model/sessions.ts'
import { AllNotices } from '../session/decide/notices.tsx'
import { useSessionModel } from '../session/model.ts'
import { decisionTitle } from '../session/row/decision-card.tsx'
import { whereOf } from '../session/row/row.tsx'
import { rich } from '../session/text/lazy-rich.ts'
import { OpenSession } from '../session/view.tsx'
import { Bar } from '../ui/bar.tsx'
import { useSwipeAcross } from '../ui/behavior/swipe-across.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { homeWords } from '../words/home.ts'
import { words } from '../words/index.ts'

/** One decision after another, oldest first. A new one raises the counter and moves nothing. */
export function NeedsYouScreen({ request }: { request?: string | undefined }) {
  const waiting = decisions.value
  const link = live.value
  const here = account.value
  // The position of the last one read: its neighbour follows when it is decided.
  const [lastAt, setLastAt] = useState(0)
  const found = waiting.findIndex(({ id }) => id === request)
  const at = found < 0 ? Math.min(lastAt, waiting.length - 1) : found
  const decision = waiting[at]
  // Anyone who opens a completed decision sees its outcome.
  const over = found < 0 && request !== undefined ? overOf(request) : undefined
  useEffect(() => over && noteClosed(over), [over?.asked.id])
  const show = (index: number) => {
    const next = waiting[index]
    if (next === undefined) return
    setLastAt(index)
    go({ name: 'needs-you', request: next.id }, 'replace')
  }
  const area = useSwipeAcross<HTMLElement>({ onNext: () => show(at + 1), onBefore: () => show(at - 1) })
  return (
    <section class="screen chat needs-you" ref={area}>
      <Bar
        title={homeWords.needsYou.title}
        sub={decision && homeWords.needsYou.place(at + 1, waiting.length)}
        back={pathOf({ name: 'home' })}
        keepBack
      >
        {waiting.length > 1 && (
          <>
            <Step name={homeWords.needsYou.before} icon="chevron-left" look="needs-before" isOff={at <= 0} onPress={() => show(at - 1)} />
            <Step
              name={homeWords.needsYou.next}
              icon="chevron-right"
              look="needs-next"
              isOff={at >= waiting.length - 1}
              onPress={() => show(at + 1)}
            />
          </>
        )}
      </Bar>
      {link && <AllNotices link={link} me={here.type === 'here' ? here.deviceName : undefined} />}
      {decision ? (
        <One key={`${decision.session.id} ${decision.id}`} decision={decision} />
      ) : (
        <div class="scroll">
          <div class="col">
            <Empty title={homeWords.needsYou.empty} text={homeWords.needsYou.emptyText}>
              <ButtonLink look="quiet" href="/">
                {homeWords.needsYou.toHome}
              </ButtonLink>
            </Empty>
          </div>
        </div>
      )}
    </section>
  )
}

function overOf(id: string): ClosedDecision | undefined {
  for (const session of home.value.sessions.values()) {
    const state = session.agentState
    const request = state?.completedRequests?.[id]
    if (request === undefined) continue
    const beside = [state?.requests, state?.completedRequests].flatMap(each => Object.keys(each ?? {}))
    const { createdAt } = request
    const asked = { type: 'permission' as const, request: { ...request, id }, id, createdAt }
    return { session: session.id, asked, at: request.completedAt, beside, isLookedUp: true }
  }
  return undefined
}

/** A decision in its session: the messages before it, its origin, and its dock. */
function One({ decision }: { decision: OpenDecision }) {
  const { session } = decision
  const { model } = useSessionModel(session.id)
  const head = (
    <div class="needs-at">
      <a class="irow" href={`/s/${encodeURIComponent(session.id)}`}>
        <span>
          <b dir="auto">{titleOf(session) ?? words.session.untitled}</b>
          <small dir="auto">{whereOf(session)}</small>
        </span>
        <Icon name="chevron-right" class="chev" />
      </a>
    </div>
  )
  if (model?.facts.value && rich.get()) {
    return <OpenSession model={model} head={head} only={decision.id} onSeen={seq => markSeen(session.id, seq)} />
  }
  return (
    <>
      {head}
      <p class="lead">{decisionTitle(decision)}</p>
    </>
  )
}

function Step(props: { name: string; icon: 'chevron-left' | 'chevron-right'; look: string; isOff: boolean; onPress(): void }) {
  return (
    <button class={`ib ${props.look}`} type="button" aria-label={props.name} disabled={props.isOff} onClick={props.onPress}>
      <Icon name={props.icon} />
    </button>
  )
}
