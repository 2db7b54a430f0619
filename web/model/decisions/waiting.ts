import type { OpenRequest } from './decisions.ts'
import type { OpenQuestion } from './questions.ts'

export type Waiting = { id: string; createdAt: number } & (
  | { type: 'permission'; request: OpenRequest }
  | { type: 'question'; question: OpenQuestion }
)

/** All open requests shown here, oldest first. */
export function waitingOf(requests: readonly OpenRequest[], questions: readonly OpenQuestion[]): Waiting[] {
  return [
    ...requests.map(request => ({ type: 'permission' as const, request, id: request.id, createdAt: request.createdAt })),
    ...questions.map(question => ({ type: 'question' as const, question, id: question.id, createdAt: question.createdAt }))
  ].sort((a, b) => a.createdAt - b.createdAt)
}
