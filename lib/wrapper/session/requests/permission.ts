import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ParamsOfCall } from '../../../protocol/sealed/calls/calls.ts'
import type { RiskName } from '../../../protocol/sealed/decisions/risk-names.ts'
import type { CompletedRequest, PermissionChoice, PermissionRequest } from '../../../protocol/sealed/session.ts'
import type { PermissionAsk } from '../../agents/agent.ts'
import type { Judgement } from '../../approvals/approvals.ts'
import { cutText, shortened } from './shorten.ts'

type Answer = ParamsOfCall<'permission'>

/** The form shown on devices; shortened to `mostBytes` if longer, and then risky. */
export function requestOfPermission(
  asked: PermissionAsk,
  createdAt: number,
  judged: Judgement,
  mostBytes = Number.POSITIVE_INFINITY
): { request: PermissionRequest; isShort: boolean } {
  const { step, isShort } = shortened(asked.step, mostBytes)
  const { call, name, kind, title, input, content, locations } = step
  const { risk, suggestedRule } = judgedAs(judged, { isShort })
  const request = {
    tool: name,
    arguments: input,
    title,
    content,
    locations,
    createdAt,
    toolUseId: call,
    kind,
    choices: asked.choices.map(keptChoice),
    shown: hashOfPermission(asked, risk),
    risk,
    ...(suggestedRule && { suggestedRule })
  }
  return { request, isShort }
}

/** What cannot be seen in full counts as risky. */
export function judgedAs(judged: Judgement, { isShort }: { isShort: boolean }): Judgement {
  if (!isShort) return judged
  return { risk: { ...judged.risk, level: 'risky', reasons: [...new Set<RiskName>(['shortened', ...judged.risk.reasons])] } }
}

/** A hash over everything that a decision depends on, including the risk level, so that an answer applies to exactly that. */
export function hashOfPermission({ step, choices }: PermissionAsk, risk: PermissionRequest['risk']): string {
  const { name, title, kind, input, content, locations } = step
  return createHash('sha256')
    .update(JSON.stringify([name, title, kind, input, content, locations, choices, risk?.level, risk?.knowsEdits]))
    .digest('base64url')
}

export const onceOnly = 'Risky requests can only be allowed once.'

export function isOnceOnly({ risk }: PermissionRequest): boolean {
  return risk?.level === 'risky'
}

/** Our apps name a choice; existing ones say yes or no, and for how long. Throws if the answer does not fit. */
export function choiceOf({ step, choices }: PermissionAsk, request: PermissionRequest, answer: Answer): PermissionChoice {
  const isSame = [step.input, request.arguments].some(input => isDeepStrictEqual(answer.updatedInput, input))
  if (answer.approved && answer.updatedInput != null && !isSame)
    throw new Error('Nothing was allowed: the answer changes the request. Deny it, and tell the agent what to do instead.')
  const isRisky = isOnceOnly(request)
  const one = (...kinds: PermissionChoice['kind'][]) =>
    kinds.map(kind => choices.find(choice => choice.kind === kind)).find(choice => choice)
  const wanted = answer.choice === undefined ? undefined : choices.find(({ id }) => id === answer.choice)
  if (answer.choice !== undefined && !wanted) throw new Error('The agent does not offer this choice.')
  if (isRisky && wanted?.kind === 'allow_always') throw new Error(onceOnly)
  const forSession = answer.decision === 'approved_for_session' && !isRisky
  // Existing apps name the mode that follows a plan, and choices have the same names.
  const intoMode = answer.approved && !isRisky ? choices.find(({ id, kind }) => id === answer.mode && kind.startsWith('allow')) : undefined
  const choice =
    wanted ??
    intoMode ??
    (answer.approved ? (forSession ? one('allow_always', 'allow_once') : one('allow_once')) : one('reject_once', 'reject_always'))
  if (!choice)
    throw new Error(
      answer.approved ? 'The agent does not offer to allow this once.' : 'The agent does not offer to deny this. Stop it instead.'
    )
  return choice
}

export function decisionOf({ kind }: PermissionChoice, answer: Answer): CompletedRequest['decision'] {
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

const longestKeptArguments = 2000
const longestKeptReason = 2000
const longestKeptTitle = 500

/** The whole state is sent with each change, so a completed request keeps only what one line on screen needs. */
export function completedPermission(
  { tool, arguments: args, createdAt, toolUseId, call, title }: PermissionRequest,
  { reason, ...how }: Pick<CompletedRequest, 'status' | 'completedAt'> & Partial<CompletedRequest>
): CompletedRequest {
  const kept = JSON.stringify(args ?? null).length > longestKeptArguments ? {} : args
  return {
    tool,
    arguments: kept,
    createdAt,
    toolUseId,
    title: title && cutText(title, longestKeptTitle),
    ...(call !== undefined && { call }),
    ...(reason != null && { reason: reason.slice(0, longestKeptReason) }),
    ...how
  }
}

/** What a choice allows, as shown where it was made. */
export function grantsOf(choice: PermissionChoice): PermissionChoice['grants'] {
  return keptChoice(choice).grants
}

/** What it allows may be as long as a command, and is shown where it is offered and where it was chosen. */
function keptChoice({ grants, ...choice }: PermissionChoice): PermissionChoice {
  const what = grants?.what.map(({ type, of }) => ({ type, of: of.map(each => cutText(each, longestKeptTitle)) }))
  return { ...choice, label: cutText(choice.label, longestKeptTitle), ...(grants && what && { grants: { ...grants, what } }) }
}
