import type { ParamsOfCall } from '../../protocol/sealed/calls/calls.ts'
import { questionTool } from '../../protocol/sealed/decisions/ask-user-question.ts'
import {
  answerText,
  type Communication,
  type CompletedCommunication,
  type QuestionAnswer
} from '../../protocol/sealed/decisions/questions.ts'
import type { AgentState, CompletedRequest, PermissionRequest } from '../../protocol/sealed/session.ts'

/**
 * Questions that older wrappers of ours kept separately, listed with the requests, where they are
 * asked and answered today.
 */
export function currentAgentState(state: AgentState): AgentState {
  const { communications, completedCommunications, ...current } = state
  if (!communications && !completedCommunications) return state
  const asked = Object.entries(communications ?? {}).flatMap(([id, communication]) =>
    canBeShown(communication) ? [[id, requestOf(communication)] as const] : []
  )
  const over = Object.entries(completedCommunications ?? {}).map(([id, communication]) => [id, completedOf(communication)] as const)
  return {
    ...current,
    requests: { ...current.requests, ...Object.fromEntries(asked) },
    completedRequests: { ...current.completedRequests, ...Object.fromEntries(over) }
  }
}

/**
 * The name such a wrapper gives its question, which is answered with a method of its own; undefined
 * for any other.
 */
export function olderKindOf(request: PermissionRequest): string | undefined {
  return typeof request['olderKind'] === 'string' ? request['olderKind'] : undefined
}

/** An answer in its format. */
export function olderParams(
  { id, type, shown, olderKind }: { id: string; type: 'form' | 'link'; shown: string | undefined; olderKind?: string | undefined },
  answers: Readonly<Record<string, QuestionAnswer>> | undefined,
  me: string | undefined
): ParamsOfCall<'communication'> {
  return {
    id,
    kind: olderKind ?? type,
    status: answers === undefined ? 'cancelled' : 'answered',
    ...(answers !== undefined && type === 'form' && { answers: { ...answers } }),
    ...(shown !== undefined && { shown }),
    ...(me !== undefined && { answeredBy: me })
  }
}

// Any other would be read as a permission.
function canBeShown({ form, url }: Communication): boolean {
  return url !== undefined || (form?.questions ?? []).length > 0
}

function requestOf({ kind, createdAt, title, toolUseId, shown, form, url }: Communication): PermissionRequest {
  return { tool: questionTool, arguments: {}, createdAt, title, toolUseId, shown, form, url, olderKind: kind }
}

function completedOf(communication: CompletedCommunication): CompletedRequest {
  const { createdAt, completedAt, toolUseId, answeredBy, form } = communication
  const isAnswered = communication.status === 'answered'
  return {
    tool: questionTool,
    arguments: {},
    createdAt,
    completedAt,
    toolUseId,
    answeredBy,
    title: communication.title ?? form?.questions[0]?.question,
    status: isAnswered ? 'approved' : answeredBy === undefined ? 'canceled' : 'denied',
    ...(isAnswered && { answers: { '': textOf(communication) } })
  }
}

function textOf({ form, answers = {} }: CompletedCommunication): string {
  const named = Object.entries(answers).map(([id, answer]) => {
    const question = form?.questions.find(each => each.id === id)
    return answerText(question ?? { options: [] }, readAnswer(answer))
  })
  return named.filter(text => text !== '').join('; ')
}

function readAnswer(answer: unknown): QuestionAnswer {
  const { values, options, other, custom } = typeof answer === 'object' && answer !== null ? ({ ...answer } as Record<string, unknown>) : {}
  const chosen = [values, options].find(each => Array.isArray(each))
  const own = [other, custom].find(each => typeof each === 'string' && each !== '')
  return {
    values: Array.isArray(chosen) ? chosen.filter(each => typeof each === 'string') : [],
    ...(typeof own === 'string' && { other: own })
  }
}
