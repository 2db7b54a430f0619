import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { RulePattern, RuleTrial } from '../../../lib/protocol/sealed/decisions/rules.ts'
import { useTicking } from '../../core/ticking.ts'
import { isOwnQuestion, isPlan, type Verdict, verdictsOf } from '../../model/decisions/answers.ts'
import type { OpenRequest } from '../../model/decisions/decisions.ts'
import { brief, lastingWords } from '../../model/decisions/grant-words.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { useInert } from '../../ui/behavior/inert.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { decide } from '../../words/decide.ts'
import { session as words } from '../../words/session.ts'
import { lasting } from '../../words/time.ts'
import { HoldButton } from '../mode/hold.tsx'
import { LockRefused, useStepUp } from '../mode/step-up.tsx'
import { AgentChoices } from './agent-choices.tsx'
import { AlwaysSheet } from './always.tsx'
import { type Answerable, AnswerLife, failureWords } from './answer-state.tsx'
import { DecisionBody } from './body.tsx'
import { DenyForm } from './deny.tsx'
import { PlanButtons } from './plan.tsx'
import { type Scope, ScopeChoice } from './scope.tsx'
import { type DecisionSubject, subjectOf } from './subject.ts'

interface DockProps extends Answerable {
  /** Its position among the open ones, from 1. */
  readonly index: number
  readonly count: number
  /** Offline: a decision that is not risky is queued here. */
  readonly isOffline?: boolean
  /** Files that the agent changed before, as far as this device knows. */
  readonly edited?: readonly string[]
  onWithdraw?(): void
  /** Without it no rule can be created. */
  onTry?(pattern: RulePattern): Promise<RuleTrial>
  onNext(): void
}

/** A decision, in place of the composer: everything about it, and the buttons below. */
export function DecisionDock(props: DockProps) {
  const { request, facts, mine } = props
  const subject = subjectOf(request, facts.path, props.edited)
  const title = useId()
  const dock = useRef<HTMLElement>(null)
  useFlow(dock)
  const isOwn = isOwnQuestion(request)
  const isSent = mine !== undefined && ['queued', 'sending', 'delivered'].includes(mine.life.type)
  return (
    <section class={`dock ${subject.risk.level}`} aria-labelledby={title} ref={dock}>
      <p class="vh" role="alert">
        {words.needs}: {subject.question}
      </p>
      <header class="dock-h">
        <span class="gl gl-needs big">
          <Icon name={subject.icon} />
        </span>
        <div>
          <p>{subject.kind === 'plan' ? words.planNeeds(facts.agentShort) : words.needs}</p>
          <h2 id={title}>{subject.question}</h2>
        </div>
        {props.count > 1 && (
          <button class="nxt" type="button" onClick={props.onNext}>
            {words.oneOf(props.index, props.count)}
            <span class="vh">. {words.nextRequest}</span>
            <Icon name="chevron-right" />
          </button>
        )}
      </header>
      <DecisionBody subject={subject} facts={facts} titleId={title} />
      {isSent ? (
        <footer class="dock-f">
          <AnswerLife life={mine.life} facts={facts} onWithdraw={() => props.onWithdraw?.()} />
        </footer>
      ) : isPlan(request) ? (
        <PlanButtons {...props} />
      ) : isOwn ? (
        <AgentChoices {...props} />
      ) : (
        <Buttons {...props} subject={subject} titleId={title} />
      )}
    </section>
  )
}

function Buttons(props: DockProps & { subject: DecisionSubject; titleId: string }) {
  const { request, facts, subject } = props
  const verdicts = verdictsOf(request, facts.id)
  const isRisky = subject.risk.level === 'risky'
  // Requests that are not risky can be decided offline: the answer is bound to what was shown, and rejected if that has changed.
  const isCurrent = props.isCurrent || (props.isOffline === true && !isRisky)
  const [scope, setScope] = useState<Scope>(verdicts.once === undefined ? 'session' : 'once')
  const [denying, setDenying] = useState<'by-key' | 'by-tap'>()
  const denyButton = useRef<HTMLButtonElement>(null)
  const wasDenying = useRef(false)
  useEffect(() => {
    if (denying !== undefined) wasDenying.current = true
    else if (wasDenying.current && isCurrent) {
      // After canceling the denial, focus returns to where it was.
      wasDenying.current = false
      denyButton.current?.focus({ preventScroll: true })
    }
  }, [denying, isCurrent])
  const [isMakingRule, setMakingRule] = useState(false)
  const footer = useRef<HTMLElement>(null)
  const isInert = useInert(`${request.id} ${request.shown ?? JSON.stringify(request.arguments)}`)
  const hold = useId()
  const rest = useRest(footer, request)
  const { isRefused, surely } = useStepUp()
  const latest = useRef<{ request: OpenRequest; verdict: Verdict | undefined; isOff: boolean } | undefined>(undefined)
  if (denying !== undefined) {
    return (
      <DenyForm
        facts={facts}
        takesFocus={denying === 'by-key'}
        isCommand={subject.command !== undefined}
        deny={verdicts.deny}
        onAnswer={props.onAnswer}
        onBack={() => setDenying(undefined)}
      />
    )
  }
  // A risky one is only ever allowed once, regardless of the agent's choices.
  const verdict = isRisky || scope === 'once' ? verdicts.once : verdicts.session
  const isOff = isInert || !isCurrent || verdict === undefined || rest.isLeft
  latest.current = { request, verdict, isOff }
  // Unlocking takes time: the state afterwards counts, and only for the request that was on screen.
  const allowRisky = async () => {
    if (isOff) return
    await surely(() => {
      const now = latest.current
      if (now?.verdict === undefined || now.isOff || now.request.id !== request.id || now.request.shown !== request.shown) return
      props.onAnswer(now.verdict)
    })
  }
  // A click not made by a pointer has no count.
  const deny = ({ detail }: MouseEvent) => {
    if (!isInert && isCurrent) setDenying(detail === 0 ? 'by-key' : 'by-tap')
  }
  return (
    <footer class={`dock-f ${rest.isLeft ? 'has-more' : ''}`} ref={footer}>
      <ScopeChoice
        verdicts={props.isCurrent && props.onTry !== undefined ? verdicts : { ...verdicts, always: undefined }}
        isRisky={isRisky}
        scope={scope}
        onScope={setScope}
        onAlways={() => isCurrent && setMakingRule(true)}
      />
      {isMakingRule && verdicts.always !== undefined && props.onTry !== undefined && (
        <AlwaysSheet
          suggested={verdicts.always.rule}
          level={subject.risk.level}
          onTry={props.onTry}
          onAllow={rule => props.onAnswer({ ...verdicts.always, kind: 'always', rule })}
          onClose={() => setMakingRule(false)}
        />
      )}
      <div class="acts two">
        <button class="btn quiet lg deny-b" type="button" ref={denyButton} disabled={!isCurrent} onClick={deny}>
          <Icon name="x" />
          {words.deny}
        </button>
        {rest.isLeft ? (
          <button class="btn quiet lg" type="button" disabled={!isCurrent} onClick={rest.readOn}>
            <Icon name="chevron-down" />
            {words.readOn}
          </button>
        ) : isRisky ? (
          <HoldButton
            key={`${request.id} ${request.shown ?? ''}`}
            label={subject.command === undefined ? words.holdOther : words.hold}
            tapLabel={subject.command === undefined ? words.tapOther : words.tap}
            confirmLabel={subject.confirm}
            isDanger
            busy={isCurrent ? false : props.isOffline ? words.needsLink : words.stillOpen}
            describedBy={`${props.titleId}-b ${hold}`}
            onConfirm={() => void allowRisky()}
          />
        ) : (
          <button
            class="btn primary lg"
            type="button"
            disabled={!isCurrent}
            aria-describedby={`${props.titleId}-b`}
            onClick={() => verdict !== undefined && !isOff && props.onAnswer(verdict)}
          >
            {scope === 'session' && verdict !== undefined ? brief(lastingWords(verdict)) : words.allow[scope]}
          </button>
        )}
      </div>
      {isRefused && <LockRefused />}
      <Status {...props} isRisky={isRisky} id={hold} />
    </footer>
  )
}

function Status({ request, facts, isCurrent, isOffline, isRisky, mine, id }: DockProps & { isRisky: boolean; id: string }) {
  const now = useTicking(true)
  const waited = now - request.createdAt
  const deniedAt = deniedAtOf(request, facts)
  const text = isOffline
    ? isRisky
      ? words.needsLink
      : decide.offline
    : !isCurrent
      ? words.stillOpen
      : deniedAt !== undefined
        ? decide.unanswered.deniedIn(lasting(Math.max(0, deniedAt - now)))
        : waited < 60_000
          ? words.nothingRuns
          : `${words.nothingRuns} ${words.waited(facts.agentShort, lasting(waited))}`
  return (
    <>
      {mine?.life.type === 'failed' && (
        <p class="problem" role="alert">
          <Icon name="circle-alert" />
          <span>{failureWords(mine.life, facts)}</span>
        </p>
      )}
      <p class="dock-s" id={id}>
        {text}
      </p>
    </>
  )
}

/** When it is denied automatically, in ms since 1970. */
function deniedAtOf({ createdAt }: OpenRequest, { unanswered, unansweredSince }: SessionFacts): number | undefined {
  return unanswered === 'null' ? undefined : Math.max(createdAt, unansweredSince) + Number(unanswered) * 60_000
}

// Content longer than the screen must be scrolled through once before it can be allowed.
function useRest(footer: { current: HTMLElement | null }, request: OpenRequest): { isLeft: boolean; readOn(): void } {
  const content = `${request.id} ${request.shown ?? JSON.stringify(request.arguments)}`
  const [read, setRead] = useState<string>()
  const [isLeft, setLeft] = useState(false)
  useEffect(() => {
    const dock = footer.current?.closest('.dock')
    if (!dock || read === content) return
    const look = () => {
      const left = dock.scrollHeight - dock.clientHeight - dock.scrollTop
      if (left > 4) setLeft(true)
      else {
        setRead(content)
        setLeft(false)
      }
    }
    look()
    const watch = new ResizeObserver(look)
    watch.observe(dock)
    dock.addEventListener('scroll', look)
    return () => {
      watch.disconnect()
      dock.removeEventListener('scroll', look)
    }
  }, [content, read])
  return {
    isLeft: isLeft && read !== content,
    readOn() {
      const dock = footer.current?.closest('.dock')
      dock?.scrollBy({ top: dock.clientHeight * 0.6, behavior: 'smooth' })
    }
  }
}

// Buttons never cover the content: if they would use more than 40 % of the height, they scroll with it.
function useFlow(dock: { current: HTMLElement | null }): void {
  useEffect(() => {
    const element = dock.current
    if (element === null) return
    const measure = () => {
      const buttons = element.querySelector('.dock-f')?.clientHeight ?? 0
      element.classList.toggle('flow', buttons > innerHeight * 0.4)
    }
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    addEventListener('resize', measure)
    return () => {
      watch.disconnect()
      removeEventListener('resize', measure)
    }
  }, [])
}
