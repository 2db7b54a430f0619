import type { ParamsOfCall } from '../../../protocol/sealed/calls/calls.ts'
import type { CompletedCommunication } from '../../../protocol/sealed/decisions/questions.ts'
import type { AgentState, CompletedRequest, PermissionRequest } from '../../../protocol/sealed/session.ts'
import type { Answers, PermissionAsk, QuestionAsk, Step } from '../../agents/agent.ts'
import type { Approvals, Judgement } from '../../approvals/approvals.ts'
import {
  choiceOf,
  completedPermission,
  decisionOf,
  grantsOf,
  hashOfPermission,
  isOnceOnly,
  judgedAs,
  onceOnly,
  requestOfPermission
} from './permission.ts'
import { answersIn, completedQuestion, requestOfQuestion } from './question.ts'
import { bytesOf } from './shorten.ts'

type Answer = ParamsOfCall<'permission'>

/** An open request of the agent. A plan is a permission whose answer says how to continue. */
export interface OpenRequest {
  readonly type: 'permission' | 'plan' | 'question'
  readonly ask: string
  readonly title: string
  /** The risk of allowing it; a question has none. */
  readonly risk?: PermissionRequest['risk']
}

/** The effect of an answer on the agent. */
interface Decision {
  /** The choice sent to the agent; a question has none, since its answers were handed over. */
  choice?: string
  /** The person also wants to stop the turn. */
  stops: boolean
  /** The reason for a denial, and its subject. */
  whyNot?: WhyNot
}

export interface WhyNot {
  title: string
  reason: string
}

/**
 * The requests of an agent: permissions, plans and questions, as the agent state shows them to every device. Each is open
 * until it is answered here, answered at the terminal, or canceled; then it is completed, once.
 */
export interface Requests {
  /** Permissions and plans, then questions; each in the order of arrival. */
  readonly open: readonly OpenRequest[]
  /** The last choice that allows more than one use, in words. */
  readonly lastingYes: string | undefined
  /** The form shown on devices while it is open. */
  request(ask: string): PermissionRequest | undefined
  /** The choice that a rule makes immediately; without one a person is asked. */
  askPermission(asked: PermissionAsk): string | undefined
  /** `isStep`: the step it belongs to is a call of the question tool, and the session shows it as such. */
  askQuestion(asked: QuestionAsk, isStep?: boolean): void
  /** A step changed while its request is open: an answer to the previous version no longer counts. */
  update(step: Step): void
  /** The agent's changes raised or lowered the risk of open requests: an answer to the previous version no longer counts. */
  judgeAgain(): void
  /** It is over without an answer from a device; `said`: the answer at the terminal, if that is the reason. */
  close(ask: string, said?: { approved?: boolean | undefined; answers?: Answers | undefined }): void
  /**
   * Undefined if there is nothing to do. Throws, with a sentence for the person who answers, if the request is over, has
   * changed since it was shown, or the answer does not fit; the request stays open then.
   */
  answer(answer: Answer, device?: string): Decision | undefined
}

export interface RequestsDeps {
  /** Is told how the state changes; the change is pure, so that it can be applied again to a newer state. */
  publish(change: (state: AgentState) => AgentState): void
  approvals: Approvals
  /** Hands the answers to a question to the agent, undefined for none; false if it no longer waits for them. */
  giveAnswers(ask: string, answers: Answers | undefined): boolean
  now?: () => number
}

interface OpenPermission {
  type: 'permission'
  /** The complete request, and the basis for the hash that an answer names. */
  asked: PermissionAsk
  /** The form shown on devices. */
  request: PermissionRequest
  isShort: boolean
  bytes: number
}

interface OpenQuestion {
  type: 'question'
  asked: QuestionAsk
  request: PermissionRequest
}

type Completion = Pick<CompletedRequest, 'status' | 'decision' | 'answeredBy'>

// The server accepts 4 MiB, sealed: 3 MiB as JSON, part of which completed requests and forms need.
const mostOpenBytes = 1.5 * 1024 * 1024
const mostRequestBytes = 512 * 1024
const leastRequestBytes = 4 * 1024
const terminal = 'the terminal'
const overSentence = 'This question is closed.'

export function createRequests({ publish, approvals, giveAnswers, now = Date.now }: RequestsDeps): Requests {
  const open = new Map<string, OpenPermission | OpenQuestion>()
  let lastingYes: string | undefined
  const permissions = () => [...open.values()].filter(each => each.type === 'permission')
  const questions = () => [...open.values()].filter(each => each.type === 'question')

  const finish = (ask: string, completed: CompletedRequest) => {
    open.delete(ask)
    publish(state => complete(state, ask, completed))
  }

  /** The whole state is sent and has a limit: one more request may use at most half of the remaining space. */
  const roomBeside = (ask: string) => {
    const used = permissions().reduce((sum, { asked, bytes }) => (asked.ask === ask ? sum : sum + bytes), 0)
    return Math.max(leastRequestBytes, Math.min(mostRequestBytes, (mostOpenBytes - used) / 2))
  }

  const show = (asked: PermissionAsk, createdAt: number, judged: Judgement) => {
    const { request, isShort } = requestOfPermission(asked, createdAt, judged, roomBeside(asked.ask))
    open.set(asked.ask, { type: 'permission', asked, request, isShort, bytes: bytesOf(request) })
    publish(state => ({ ...state, requests: { ...state.requests, [asked.ask]: request } }))
  }

  const ruleOf = (answer: Answer, { asked, request }: OpenPermission, kind: string) => {
    const { allowTools, answeredBy } = answer
    if (isOnceOnly(request)) {
      if (answer.rule) throw new Error(onceOnly)
      return undefined
    }
    if (!answer.rule) return allowTools && kind === 'allow_once' ? approvals.allowTools(asked, allowTools, answeredBy) : undefined
    // A rule is permanent, so it is made from exactly what the person saw.
    if (answer.shown === undefined) throw new Error('The answer does not say what was shown, so no rule was made.')
    if (kind !== 'allow_once') throw new Error('A rule can only be made with “allow once”.')
    return approvals.makeRule(asked, answer.rule, answeredBy)
  }

  const answerPermission = (known: OpenPermission, answer: Answer, device: string | undefined): Decision => {
    const { asked, request } = known
    const choice = choiceOf(asked, request, answer)
    const isYes = choice.kind.startsWith('allow')
    const rule = ruleOf(answer, known, choice.kind)
    const lasts = choice.kind === 'allow_always'
    approvals.note(asked, {
      answer: isYes ? 'allowed' : 'denied',
      by: answer.answeredBy ?? 'a device',
      device,
      rule,
      ...(lasts && { choice: choice.label })
    })
    if (lasts) lastingYes = choice.label
    const completed = completedPermission(request, {
      completedAt: now(),
      status: isYes ? 'approved' : 'denied',
      // A rule for one session is what others call allowed for the session.
      decision: rule?.session === undefined ? decisionOf(choice, answer) : 'approved_for_session',
      reason: answer.reason,
      mode: answer.mode,
      ...(answer.answeredBy !== undefined && { answeredBy: answer.answeredBy }),
      ...(rule && { rule: rule.pattern }),
      ...(lasts && { grants: grantsOf(choice) }),
      ...(rule && answer.allowTools && { allowTools: answer.allowTools })
    })
    finish(asked.ask, completed)
    const reason = isYes ? undefined : answer.reason?.trim()
    return {
      choice: choice.id,
      stops: !isYes && answer.decision === 'abort',
      ...(reason && { whyNot: { title: asked.step.title, reason } })
    }
  }

  const answerQuestion = ({ asked, request }: OpenQuestion, answer: Answer): Decision => {
    const given = answer.approved ? answersIn(answer, asked) : undefined
    if (!giveAnswers(asked.ask, given)) {
      finish(asked.ask, completedQuestion(asked, request, { completedAt: now(), status: 'canceled' }))
      throw new Error(overSentence)
    }
    const isAbort = answer.decision === 'abort'
    const by = answer.answeredBy === undefined ? {} : { answeredBy: answer.answeredBy }
    const how: Completion = given
      ? { status: 'approved', decision: 'approved' }
      : { status: 'denied', decision: isAbort ? 'abort' : 'denied' }
    finish(asked.ask, completedQuestion(asked, request, { completedAt: now(), ...how, ...by }, given))
    return { stops: !answer.approved && isAbort }
  }

  const closePermission = ({ asked, request }: OpenPermission, approved: boolean | undefined) => {
    const by = approved === undefined ? undefined : terminal
    approvals.note(asked, { answer: approved === undefined ? 'ended' : approved ? 'allowed' : 'denied', by })
    const status = approved === undefined ? 'canceled' : approved ? 'approved' : 'denied'
    finish(asked.ask, completedPermission(request, { completedAt: now(), status, ...(by && { answeredBy: by }) }))
  }

  const closeQuestion = ({ asked, request }: OpenQuestion, answers: Answers | undefined) => {
    const how: Completion = answers ? { status: 'approved', decision: 'approved', answeredBy: terminal } : { status: 'canceled' }
    finish(asked.ask, completedQuestion(asked, request, { completedAt: now(), ...how }, answers))
  }

  return {
    get open() {
      return [
        ...permissions().map(({ asked: { ask, step }, request: { kind, risk } }) => {
          return { type: kind === 'plan' ? ('plan' as const) : ('permission' as const), ask, title: step.title, risk }
        }),
        ...questions().map(({ asked: { ask, title } }) => ({ type: 'question' as const, ask, title }))
      ]
    },
    get lastingYes() {
      return lastingYes
    },
    request: ask => open.get(ask)?.request,
    askPermission(asked) {
      const judged = approvals.judge(asked)
      const choice = judged.rule && asked.choices.find(({ kind }) => kind === 'allow_once')
      if (!choice || !judged.rule) {
        show(asked, now(), judged)
        return undefined
      }
      const { request } = requestOfPermission(asked, now(), judged)
      const rule = judged.rule.pattern
      const completed = completedPermission(request, { completedAt: now(), status: 'approved', decision: 'approved', rule })
      publish(state => complete(state, asked.ask, completed))
      approvals.note(asked, { answer: 'allowed', rule: judged.rule })
      return choice.id
    },
    askQuestion(asked, isStep = false) {
      const request = requestOfQuestion(asked, isStep, now())
      open.set(asked.ask, { type: 'question', asked, request })
      publish(state => ({ ...state, requests: { ...state.requests, [asked.ask]: request } }))
    },
    update(step) {
      for (const { asked, request } of permissions()) {
        if (asked.step.call !== step.call) continue
        const changed = { ...asked, step }
        // Rules are not applied again: a request that a person is looking at is theirs to decide.
        if (hashOfPermission(changed, request.risk) !== request.shown)
          show(changed, request.createdAt, approvals.judge(changed, { byRules: false }))
      }
    },
    judgeAgain() {
      for (const { asked, request, isShort } of permissions()) {
        const judged = approvals.judge(asked, { byRules: false })
        if (hashOfPermission(asked, judgedAs(judged, { isShort }).risk) !== request.shown) show(asked, request.createdAt, judged)
      }
    },
    close(ask, { approved, answers } = {}) {
      const known = open.get(ask)
      if (known?.type === 'permission') closePermission(known, approved)
      if (known?.type === 'question') closeQuestion(known, answers)
    },
    answer(answer, device) {
      const known = open.get(answer.id)
      if (!known) {
        // Existing apps sometimes answer twice and expect no error.
        if (answer.choice === undefined && answer.shown === undefined) return undefined
        throw new Error(overSentence)
      }
      const isShown = answer.shown === undefined || answer.shown === known.request.shown
      if (!isShown) throw new Error(`This ${known.type === 'question' ? 'question' : 'request'} changed. Look again.`)
      return known.type === 'permission' ? answerPermission(known, answer, device) : answerQuestion(known, answer)
    }
  }
}

/** Completes every open request, for a session whose wrapper is gone. */
export function cancelAll(state: AgentState, now: number): AgentState {
  return Object.entries(state.requests ?? {}).reduce<AgentState>(
    (state, [ask, request]) => complete(state, ask, completedPermission(request, { completedAt: now, status: 'canceled' })),
    cancelCommunications(state, now)
  )
}

/** Completes questions left open by an older wrapper, and removes them from where they crash Happy's app. */
function cancelCommunications(state: AgentState, now: number): AgentState {
  const open = Object.entries(state.communications ?? {})
  if (open.length === 0) return state
  const cancelled = open.map(([ask, { kind, createdAt, title, toolUseId }]): [string, CompletedCommunication] => [
    ask,
    { kind, createdAt, completedAt: now, status: 'cancelled', title, toolUseId }
  ])
  return { ...state, communications: {}, completedCommunications: { ...state.completedCommunications, ...Object.fromEntries(cancelled) } }
}

const mostCompleted = 50

function complete(state: AgentState, ask: string, completed: CompletedRequest): AgentState {
  const { [ask]: _, ...requests } = state.requests ?? {}
  const all = Object.entries({ ...state.completedRequests, [ask]: completed })
  return { ...state, requests, completedRequests: Object.fromEntries(all.slice(-mostCompleted)) }
}
