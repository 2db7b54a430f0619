import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { isOwnQuestion, type Life, type MyAnswer, type Verdict, verdictsOf } from '../state/session-answers.ts'
import type { OpenRequest } from '../state/session-decisions.ts'
import type { SessionFacts } from '../state/session-facts.ts'
import { session as words } from '../words/session.ts'
import { lasting } from '../words/time.ts'
import { DecisionBody } from './dock-body.tsx'
import { DenyForm } from './dock-deny.tsx'
import { AnswerLife, failureWords } from './dock-life.tsx'
import { OwnQuestion } from './dock-own.tsx'
import { type DecisionSubject, subjectOf } from './dock-subject.ts'
import { HoldButton } from './hold.tsx'
import { useInert } from './inert.ts'
import { useTicking } from './ticking.ts'

export interface DockProps {
  readonly request: OpenRequest
  readonly facts: SessionFacts
  /** Where it stands among the open ones, from 1. */
  readonly index: number
  readonly count: number
  readonly mine: { readonly answer: MyAnswer; readonly life: Life } | undefined
  /** False while it is not certain that the request is still open. */
  readonly isCurrent: boolean
  onAnswer(verdict: Verdict): void
  onNext(): void
}

/** A decision, in place of the composer: everything it is about, and below it the buttons. */
export function DecisionDock(props: DockProps) {
  const { request, facts, mine } = props
  const subject = subjectOf(request, facts.path)
  const title = useId()
  const dock = useRef<HTMLElement>(null)
  useFlow(dock)
  const isOwn = isOwnQuestion(request)
  const isSent = mine !== undefined && (mine.life.type === 'sending' || mine.life.type === 'delivered')
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
          <AnswerLife life={mine.life} facts={facts} />
        </footer>
      ) : isOwn ? (
        <OwnQuestion {...props} />
      ) : (
        <Buttons {...props} subject={subject} titleId={title} />
      )}
    </section>
  )
}

function Buttons(props: DockProps & { subject: DecisionSubject; titleId: string }) {
  const { request, facts, subject, isCurrent } = props
  const verdicts = verdictsOf(request.choices)
  const isRisky = subject.risk.level === 'risky'
  const [scope, setScope] = useState<'once' | 'session'>(verdicts.once === undefined ? 'session' : 'once')
  const [isDenying, setDenying] = useState(false)
  const footer = useRef<HTMLElement>(null)
  const isInert = useInert(`${request.id} ${request.shown ?? JSON.stringify(request.arguments)}`)
  const hold = useId()
  const rest = useRest(footer, request)
  if (isDenying) {
    return (
      <DenyForm
        facts={facts}
        isCommand={subject.command !== undefined}
        deny={verdicts.deny}
        onAnswer={props.onAnswer}
        onBack={() => setDenying(false)}
      />
    )
  }
  // A risky one is never allowed for longer than once, whatever the agent offers.
  const verdict = isRisky || scope === 'once' ? verdicts.once : verdicts.session
  const isOff = isInert || !isCurrent || verdict === undefined || rest.isLeft
  const deny = () => {
    if (!isInert && isCurrent) setDenying(true)
  }
  return (
    <footer class={`dock-f ${rest.isLeft ? 'has-more' : ''}`} ref={footer}>
      <Scope verdicts={verdicts} isRisky={isRisky} scope={scope} onScope={setScope} facts={facts} />
      <div class="acts two">
        <button class="btn quiet lg" type="button" disabled={!isCurrent} onClick={deny}>
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
            confirmLabel={words.confirmTap(`${subject.heading.toLowerCase()} ${words.scope.once.toLowerCase()}`)}
            isDanger
            busy={isCurrent ? false : words.stillOpen}
            describedBy={`${props.titleId}-b ${hold}`}
            onConfirm={() => verdict !== undefined && !isOff && props.onAnswer(verdict)}
          />
        ) : (
          <button
            class="btn primary lg"
            type="button"
            disabled={!isCurrent}
            aria-describedby={`${props.titleId}-b`}
            onClick={() => verdict !== undefined && !isOff && props.onAnswer(verdict)}
          >
            {words.allow[scope]}
          </button>
        )}
      </div>
      <Status {...props} id={hold} />
    </footer>
  )
}

function Status({ request, facts, isCurrent, mine, id }: DockProps & { id: string }) {
  const now = useTicking(true)
  const waited = now - request.createdAt
  const text = !isCurrent
    ? words.stillOpen
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

function Scope(props: {
  verdicts: ReturnType<typeof verdictsOf>
  isRisky: boolean
  scope: 'once' | 'session'
  onScope(scope: 'once' | 'session'): void
  facts: SessionFacts
}) {
  const { verdicts, isRisky, scope } = props
  const name = useId()
  if (isRisky) {
    return (
      <p class="scope">
        <Icon name="lock" />
        <span>
          <b>{words.justOnce}</b> {words.justOnceWhy}
        </span>
      </p>
    )
  }
  if (verdicts.once === undefined || verdicts.session === undefined) return null
  const label = verdicts.session.choice?.label
  return (
    <>
      <fieldset class="scopes">
        <legend class="vh">{words.howLong}</legend>
        {(['once', 'session'] as const).map(each => (
          <label key={each} class="sc">
            <input type="radio" name={name} checked={scope === each} onChange={() => props.onScope(each)} />
            <span>{words.scope[each]}</span>
          </label>
        ))}
      </fieldset>
      {scope === 'session' && label !== undefined && (
        <p class="hint" dir="auto">
          {words.agentCallsIt(props.facts.agentShort, label)}
        </p>
      )}
    </>
  )
}

// What is longer than the screen has to be gone through once before it can be allowed.
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

// Buttons never cover what they decide on: if they would take over 40 % of the height, they scroll with the rest.
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
