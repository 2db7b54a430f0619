import type { CallFailureReason } from '../../../lib/client/index.ts'
import type { ParamsOfCall } from '../../../lib/protocol/sealed/calls/calls.ts'
import type { RuleDraft } from '../../../lib/protocol/sealed/decisions/rules.ts'
import type { PermissionChoice, PermissionRequest } from '../../../lib/protocol/sealed/session.ts'
import type { Answered, OpenRequest } from './decisions.ts'

/** A decision made on this device. `choice` is one of the agent's own, if it offered any. */
export interface Verdict {
  readonly kind: 'once' | 'session' | 'always' | 'deny' | 'stop'
  readonly choice?: PermissionChoice | undefined
  readonly reason?: string | undefined
  /** The machine allows it from now on. */
  readonly rule?: RuleDraft | undefined
  /** For a plan: the mode in which the agent continues. */
  readonly mode?: string | undefined
}

/** A verdict being sent. `delivered`: the machine has it; only the agent state shows whether it was applied. */
export interface MyAnswer {
  readonly request: OpenRequest
  readonly verdict: Verdict
  readonly at: number
  readonly state:
    | { readonly type: 'queued' | 'sending' | 'delivered' }
    | { readonly type: 'failed'; readonly why: CallFailureReason; readonly says: string }
}

/** The state of an answer of this device. */
export type Life =
  /** `queued`: stored on this device until there is a connection. */
  | { readonly type: 'queued' | 'sending' | 'delivered' }
  | { readonly type: 'applied'; readonly answered: Answered }
  /** Someone else was first. */
  | { readonly type: 'elsewhere'; readonly answered: Answered }
  /** The request ended without an answer. */
  | { readonly type: 'ended' }
  /** The request is still open, and can be answered again. */
  | { readonly type: 'failed'; readonly why: CallFailureReason; readonly says: string }

export function lifeOf(answer: MyAnswer, answered: Answered | undefined, isOpen: boolean, me: string | undefined): Life {
  if (answered !== undefined) {
    if (answered.outcome === 'ended') return { type: 'ended' }
    const isMine = answered.by === undefined ? sameVerdict(answer.verdict, answered) : answered.by === me
    return isMine ? { type: 'applied', answered } : { type: 'elsewhere', answered }
  }
  if (answer.state.type === 'failed') return isOpen ? answer.state : { type: 'ended' }
  if (answer.state.type === 'queued' && !isOpen) return { type: 'ended' }
  return { type: answer.state.type }
}

// Existing wrappers do not say who answered.
function sameVerdict({ kind }: Verdict, { outcome }: Answered): boolean {
  switch (outcome) {
    case 'allowed-once':
      return kind === 'once' || kind === 'always'
    case 'allowed-session':
      return kind === 'session'
    case 'denied':
    case 'stopped':
      return kind === 'deny' || kind === 'stop'
    case 'ended':
      return false
  }
}

/** A verdict in the wire format: our wrapper reads `choice` and `shown`, existing ones the rest. */
export function answerParams(request: OpenRequest, verdict: Verdict, me: string | undefined): ParamsOfCall<'permission'> {
  const { choice, reason, rule, mode } = verdict
  const decision = decisionIn(verdict)
  const isYes = decision.startsWith('approved')
  return {
    id: request.id,
    approved: isYes,
    decision,
    ...(reason !== undefined && reason !== '' && { reason }),
    ...(choice !== undefined && { choice: choice.id }),
    ...(rule !== undefined && { rule }),
    ...(mode !== undefined && { mode }),
    ...(request.shown !== undefined && { shown: request.shown }),
    ...(me !== undefined && { answeredBy: me })
  }
}

function decisionIn({ kind, rule }: Verdict): NonNullable<ParamsOfCall<'permission'>['decision']> {
  switch (kind) {
    case 'once':
    case 'always':
      return 'approved'
    case 'session':
      // A verdict that creates a rule allows once, and the rule does the rest.
      return rule === undefined ? 'approved_for_session' : 'approved'
    case 'stop':
      return 'abort'
    case 'deny':
      return 'denied'
  }
}

export interface Verdicts {
  readonly once: Verdict | undefined
  readonly session: Verdict | undefined
  /** With the narrowest rule, for a person to widen. */
  readonly always: (Verdict & { readonly rule: RuleDraft }) | undefined
  readonly deny: Verdict
}

/**
 * The verdicts possible with the agent's choices. Existing wrappers offer none and accept all except rules. `session` is the id
 * for a rule that applies only there.
 */
export function verdictsOf({ choices, suggestedRule }: Pick<PermissionRequest, 'choices' | 'suggestedRule'>, session: string): Verdicts {
  if (choices === undefined || choices.length === 0)
    return { once: { kind: 'once' }, session: { kind: 'session' }, always: undefined, deny: { kind: 'deny' } }
  const of = (kind: PermissionChoice['kind']) => choices.find(choice => choice.kind === kind)
  const once = of('allow_once')
  const always = of('allow_always')
  return {
    once: once && { kind: 'once', choice: once },
    session: always
      ? { kind: 'session', choice: always }
      : once && suggestedRule && { kind: 'session', choice: once, rule: { ...suggestedRule, session } },
    always: once && suggestedRule && { kind: 'always', choice: once, rule: suggestedRule },
    // If there is no way to deny, the turn can still be stopped.
    deny: of('reject_once') || of('reject_always') ? { kind: 'deny', choice: of('reject_once') ?? of('reject_always') } : { kind: 'stop' }
  }
}

/** True if the agent's own choices say more than yes, no and for how long: they are shown as they are. */
export function isOwnQuestion(request: OpenRequest): boolean {
  const { choices = [], kind, tool } = request
  const kinds = choices.map(choice => choice.kind)
  const hasTwins = kinds.some((each, index) => kinds.indexOf(each) !== index && each !== 'reject_once')
  return choices.length > 0 && (isPlan({ kind, tool }) || hasTwins)
}

/** A plan that waits for approval. */
export function isPlan({ kind, tool }: Pick<OpenRequest, 'kind' | 'tool'>): boolean {
  return kind === 'plan' || tool === 'ExitPlanMode'
}
