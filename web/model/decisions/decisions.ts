import type { Grants } from '../../../lib/protocol/sealed/decisions/grants.ts'
import type { AgentState, PermissionRequest } from '../../../lib/protocol/sealed/session.ts'
import { commandOf } from '../transcript/steps.ts'
import { isAnsweredQuestion, questionIn } from './question-requests.ts'

/** A permission that waits for a person. */
export interface OpenRequest extends PermissionRequest {
  readonly id: string
}

/** How a permission was answered, by anyone. `at` is ms since 1970. */
export interface Answered {
  readonly id: string
  readonly call: string | undefined
  readonly tool: string
  readonly args: unknown
  readonly title: string | undefined
  readonly outcome: 'allowed-once' | 'allowed-session' | 'denied' | 'stopped' | 'ended'
  readonly reason: string | undefined
  /** The name of the device that answered; undefined if unknown. */
  readonly by: string | undefined
  /** The pattern of the rule that allowed it, or that was created with the answer. */
  readonly rule?: string | undefined
  /** For a question: the answer, or undefined if the agent was left to decide. */
  readonly said?: { readonly text: string | undefined }
  /** What else is allowed from then on. */
  readonly grants?: Grants | undefined
  readonly at: number
}

/** Open requests, oldest first. An id among the completed ones hides the same id here. */
export function openRequests(state: AgentState | undefined): OpenRequest[] {
  const completed = state?.completedRequests ?? {}
  return Object.entries(state?.requests ?? {})
    .filter(([id, request]) => !Object.hasOwn(completed, id) && questionIn(request) === undefined)
    .map(([id, request]) => ({ ...request, id }))
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}

export function decisionsOf(state: AgentState | undefined): Answered[] {
  return Object.entries(state?.completedRequests ?? {})
    .filter(([, request]) => !isAnsweredQuestion(request))
    .map(([id, request]) => ({
      id,
      call: request.toolUseId,
      tool: request.tool,
      args: request.arguments,
      title: request.title,
      outcome: outcomeOf(request),
      reason: request.reason ?? undefined,
      by: request.answeredBy,
      rule: request.rule,
      ...(request.grants && { grants: request.grants }),
      at: request.completedAt
    }))
}

/** How similar requests were answered here, newest first: commands with the same program, otherwise the same tool. */
export function answeredLike(
  { tool, arguments: args }: Pick<OpenRequest, 'tool' | 'arguments'>,
  answered: readonly Answered[]
): Answered[] {
  const program = programOf(args)
  return answered
    .filter(each => each.outcome !== 'ended' && each.said === undefined && each.tool === tool && programOf(each.args) === program)
    .sort((a, b) => b.at - a.at)
    .slice(0, mostLike)
}

const mostLike = 8

function programOf(args: unknown): string | undefined {
  const command = typeof args === 'object' && args !== null ? commandOf({ ...args }) : undefined
  return command?.trim().split(/\s+/)[0]
}

function outcomeOf(request: NonNullable<AgentState['completedRequests']>[string]): Answered['outcome'] {
  if (request.status === 'canceled') return 'ended'
  if (request.status === 'approved') return request.decision === 'approved_for_session' ? 'allowed-session' : 'allowed-once'
  return request.decision === 'abort' ? 'stopped' : 'denied'
}
