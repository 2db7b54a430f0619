import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ParamsOfCall } from '../../../protocol/sealed/calls.ts'
import type { RiskName } from '../../../protocol/sealed/risk-names.ts'
import type { AgentState, CompletedRequest, PermissionChoice, PermissionRequest } from '../../../protocol/sealed/session.ts'
import type { PermissionAsk, Step } from '../../agents/agent.ts'
import type { Approvals, Judgement } from '../../approvals/approvals.ts'
import { bytesOf, cutText, shortened } from './shortening.ts'

type Answer = ParamsOfCall<'permission'>

export interface Decision {
  choice: string
  /** The person wants the turn to stop as well. */
  stops: boolean
  /** Why not, and what that is about. */
  whyNot?: WhyNot
}

export interface WhyNot {
  title: string
  reason: string
}

/** The questions of an agent that wait for a person, as the agent state shows them to every device. */
export interface Decisions {
  /** In the order in which they were asked. */
  readonly open: readonly { ask: string; title: string; risk: PermissionRequest['risk'] }[]
  /** What was chosen last that allows more than once, in words. */
  readonly lastingYes: string | undefined
  /** As devices see it, while it is open. */
  request(ask: string): PermissionRequest | undefined
  /** The choice that a rule makes at once; without one a person is asked. */
  ask(asked: PermissionAsk): string | undefined
  /** A step changed while it waits: an answer to what was shown before no longer counts. */
  update(step: Step): void
  /** What the agent changed makes another level of what waits: an answer to what was shown before no longer counts. */
  judgeAgain(): void
  /** The question is over without an answer from outside; `approved` tells what the person at the terminal said. */
  close(ask: string, approved?: boolean): void
  /** Throws, with a sentence for the one who answers, when the question is over or is not the one that was shown. */
  answer(answer: Answer, device?: string): Decision | undefined
}

interface Open {
  /** Whole, and what an answer is bound to. */
  asked: PermissionAsk
  /** As devices see it. */
  request: PermissionRequest
  isShort: boolean
  bytes: number
}

/** `publish` is told how the state changes; the change is pure, so that it can be applied again to a newer state. */
export function createDecisions(
  publish: (change: (state: AgentState) => AgentState) => void,
  approvals: Approvals,
  now: () => number = Date.now
): Decisions {
  const open = new Map<string, Open>()
  let lastingYes: string | undefined

  const finish = (ask: string, how: Pick<CompletedRequest, 'status'> & Partial<CompletedRequest>) => {
    const known = open.get(ask)
    if (!known) return
    open.delete(ask)
    publish(state => complete(state, ask, completedOf(known.request, { completedAt: now(), ...how })))
  }

  /** The state travels whole and has a limit: of what many requests leave, one more takes half at most. */
  const roomBeside = (ask: string) => {
    const used = [...open].reduce((sum, [other, { bytes }]) => (other === ask ? sum : sum + bytes), 0)
    return Math.max(leastRequestBytes, Math.min(mostRequestBytes, (mostOpenBytes - used) / 2))
  }

  const show = (asked: PermissionAsk, createdAt: number, judged: Judgement) => {
    const fit = shortened(asked.step, roomBeside(asked.ask))
    const request = { ...requestOf(asked, createdAt, judgedAs(judged, fit)), ...toldIn(fit.step) }
    open.set(asked.ask, { asked, request, isShort: fit.isShort, bytes: bytesOf(request) })
    publish(state => ({ ...state, requests: { ...state.requests, [asked.ask]: request } }))
  }

  const ruleOf = (answer: Answer, { asked, request }: Open, choice: PermissionChoice) => {
    const { allowTools, answeredBy } = answer
    if (isOnceOnly(request)) {
      if (answer.rule) throw new Error(onceOnly)
      return undefined
    }
    if (!answer.rule) return allowTools && choice.kind === 'allow_once' ? approvals.allowTools(asked, allowTools, answeredBy) : undefined
    // A rule lasts, so it is made from exactly what its person saw.
    if (answer.shown === undefined) throw new Error('The answer does not say what was shown, so no rule was made.')
    if (choice.kind !== 'allow_once') throw new Error('A rule allows, and each time just once.')
    return approvals.makeRule(asked, answer.rule, answeredBy)
  }

  return {
    get open() {
      return [...open.values()].map(({ asked, request }) => ({ ask: asked.ask, title: asked.step.title, risk: request.risk }))
    },
    get lastingYes() {
      return lastingYes
    },
    request: ask => open.get(ask)?.request,
    ask(asked) {
      const judged = approvals.judge(asked)
      const choice = judged.rule && asked.choices.find(({ kind }) => kind === 'allow_once')
      if (!choice || !judged.rule) {
        show(asked, now(), judged)
        return undefined
      }
      const rule = judged.rule.pattern
      const request = requestOf(asked, now(), judged)
      const completed = completedOf(request, { completedAt: now(), status: 'approved', decision: 'approved', rule })
      publish(state => complete(state, asked.ask, completed))
      approvals.note(asked, { answer: 'allowed', rule: judged.rule })
      return choice.id
    },
    update(step) {
      for (const { asked, request } of open.values()) {
        if (asked.step.call !== step.call) continue
        const changed = { ...asked, step }
        // No rule is asked again: what a person is looking at is theirs to decide.
        if (shownHash(changed, request.risk) !== request.shown)
          show(changed, request.createdAt, approvals.judge(changed, { byRules: false }))
      }
    },
    judgeAgain() {
      for (const { asked, request, isShort } of open.values()) {
        const judged = approvals.judge(asked, { byRules: false })
        if (shownHash(asked, judgedAs(judged, { isShort }).risk) !== request.shown) show(asked, request.createdAt, judged)
      }
    },
    close(ask, approved) {
      const known = open.get(ask)
      if (!known) return
      const by = approved === undefined ? undefined : 'the terminal'
      approvals.note(known.asked, { answer: approved === undefined ? 'ended' : approved ? 'allowed' : 'denied', by })
      if (approved === undefined) finish(ask, { status: 'canceled' })
      else finish(ask, { status: approved ? 'approved' : 'denied', answeredBy: by })
    },
    answer(answer, device) {
      const known = open.get(answer.id)
      if (!known) {
        // Existing apps answer twice at times and want silence.
        if (answer.choice === undefined && answer.shown === undefined) return undefined
        throw new Error('This question is over.')
      }
      if (answer.shown !== undefined && answer.shown !== known.request.shown) throw new Error('This request changed. Look again.')
      const { asked, request } = known
      const isSame = [asked.step.input, request.arguments].some(input => isDeepStrictEqual(answer.updatedInput, input))
      if (answer.approved && answer.updatedInput != null && !isSame)
        throw new Error('Nothing was allowed: the answer changes what was asked. Say no, and tell the agent what to do instead.')
      const choice = chosen(asked.choices, answer, isOnceOnly(request))
      const isYes = choice.kind.startsWith('allow')
      const rule = ruleOf(answer, known, choice)
      const lasts = choice.kind === 'allow_always'
      approvals.note(asked, {
        answer: isYes ? 'allowed' : 'denied',
        by: answer.answeredBy ?? 'a device',
        device,
        rule,
        ...(lasts && { choice: choice.label })
      })
      if (lasts) lastingYes = choice.label
      finish(answer.id, {
        status: isYes ? 'approved' : 'denied',
        // A rule of one session is what others call allowed for the session.
        decision: rule?.session === undefined ? decisionOf(choice, answer) : 'approved_for_session',
        reason: answer.reason?.slice(0, longestKeptReason),
        mode: answer.mode,
        ...(answer.answeredBy !== undefined && { answeredBy: answer.answeredBy }),
        ...(rule && { rule: rule.pattern }),
        ...(lasts && { grants: keptChoice(choice).grants }),
        ...(rule && answer.allowTools && { allowTools: answer.allowTools })
      })
      const stops = !isYes && answer.decision === 'abort'
      const reason = isYes ? undefined : answer.reason?.trim()
      return { choice: choice.id, stops, ...(reason && { whyNot: { title: asked.step.title, reason } }) }
    }
  }
}

/** Every open question is over: for a session whose wrapper is gone. */
export function cancelAll(state: AgentState, now: number): AgentState {
  return Object.entries(state.requests ?? {}).reduce<AgentState>((state, [ask, request]) => {
    return complete(state, ask, completedOf(request, { completedAt: now, status: 'canceled' }))
  }, state)
}

const mostCompleted = 50
const longestKeptArguments = 2000
const longestKeptReason = 2000
const longestKeptTitle = 500

// The server takes 4 MiB, sealed: 3 MiB as JSON, of which what was decided and what was asked in forms needs some.
const mostOpenBytes = 1.5 * 1024 * 1024
const mostRequestBytes = 512 * 1024
const leastRequestBytes = 4 * 1024

function completedOf(
  { tool, arguments: args, createdAt, toolUseId, call, title }: PermissionRequest,
  how: Pick<CompletedRequest, 'status' | 'completedAt'> & Partial<CompletedRequest>
): CompletedRequest {
  const kept = title && cutText(title, longestKeptTitle)
  return { tool, arguments: keptArguments(args), createdAt, toolUseId, title: kept, ...(call !== undefined && { call }), ...how }
}

/** What it allows may be as long as a command, and is told where it is offered and where it was given. */
function keptChoice({ grants, ...choice }: PermissionChoice): PermissionChoice {
  const what = grants?.what.map(({ type, of }) => ({ type, of: of.map(each => cutText(each, longestKeptTitle)) }))
  return { ...choice, label: cutText(choice.label, longestKeptTitle), ...(grants && what && { grants: { ...grants, what } }) }
}

const onceOnly = 'What is risky is allowed once only.'

function isOnceOnly({ risk }: PermissionRequest): boolean {
  return risk?.level === 'risky'
}

/** What nobody can see whole is risky, whatever it is. */
function judgedAs(judged: Judgement, { isShort }: { isShort: boolean }): Judgement {
  if (!isShort) return judged
  return { risk: { ...judged.risk, level: 'risky', reasons: [...new Set<RiskName>(['shortened', ...judged.risk.reasons])] } }
}

function requestOf(asked: PermissionAsk, createdAt: number, { risk, suggestedRule }: Judgement): PermissionRequest {
  const { call, name, kind } = asked.step
  return {
    tool: name,
    ...toldIn(asked.step),
    createdAt,
    toolUseId: call,
    kind,
    choices: asked.choices.map(keptChoice),
    shown: shownHash(asked, risk),
    risk,
    ...(suggestedRule && { suggestedRule })
  }
}

function toldIn({ title, input, content, locations }: Step) {
  return { arguments: input, title, content, locations }
}

/** Over everything a decision is made on, so that an answer counts for exactly that: also for how risky it was said to be. */
function shownHash({ step, choices }: PermissionAsk, risk: PermissionRequest['risk']): string {
  const { name, title, kind, input, content, locations } = step
  return createHash('sha256')
    .update(JSON.stringify([name, title, kind, input, content, locations, choices, risk?.level, risk?.knowsEdits]))
    .digest('base64url')
}

/** Our apps name a choice; existing ones say yes or no, and for how long. */
function chosen(choices: readonly PermissionChoice[], answer: Answer, isRisky: boolean): PermissionChoice {
  const one = (...kinds: PermissionChoice['kind'][]) =>
    kinds.map(kind => choices.find(choice => choice.kind === kind)).find(choice => choice)
  const wanted = answer.choice === undefined ? undefined : choices.find(({ id }) => id === answer.choice)
  if (answer.choice !== undefined && !wanted) throw new Error('The agent does not offer this choice.')
  if (isRisky && wanted?.kind === 'allow_always') throw new Error(onceOnly)
  const forSession = answer.decision === 'approved_for_session' && !isRisky
  // Existing apps name the mode that comes after a plan, as those choices are called.
  const intoMode = answer.approved && !isRisky ? choices.find(({ id, kind }) => id === answer.mode && kind.startsWith('allow')) : undefined
  const choice =
    wanted ??
    intoMode ??
    (answer.approved ? (forSession ? one('allow_always', 'allow_once') : one('allow_once')) : one('reject_once', 'reject_always'))
  if (!choice)
    throw new Error(
      answer.approved ? 'The agent does not offer to allow this once.' : 'The agent does not offer to say no. Stop it instead.'
    )
  return choice
}

function decisionOf({ kind }: PermissionChoice, answer: Answer): CompletedRequest['decision'] {
  switch (kind) {
    case 'allow_once':
      return 'approved'
    case 'allow_always':
      return 'approved_for_session'
    case 'reject_once':
    case 'reject_always':
      return answer.decision === 'abort' ? 'abort' : 'denied'
  }
}

export function complete(state: AgentState, ask: string, completed: CompletedRequest): AgentState {
  const { [ask]: _, ...requests } = state.requests ?? {}
  const all = Object.entries({ ...state.completedRequests, [ask]: completed })
  return { ...state, requests, completedRequests: Object.fromEntries(all.slice(-mostCompleted)) }
}

/** The state travels whole with each change, so what was decided keeps only what a line on screen needs. */
function keptArguments(args: unknown): unknown {
  return JSON.stringify(args ?? null).length > longestKeptArguments ? {} : args
}
