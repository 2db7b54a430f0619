import { olderKindOf } from '../../../lib/client/happy/agent-state.ts'
import type { ParamsOfCall } from '../../../lib/protocol/sealed/calls/calls.ts'
import { readQuestions, writeAnswers } from '../../../lib/protocol/sealed/decisions/ask-user-question.ts'
import type { QuestionAnswer } from '../../../lib/protocol/sealed/decisions/questions.ts'
import type { AgentState, CompletedRequest } from '../../../lib/protocol/sealed/session.ts'
import type { Answered } from './decisions.ts'
import { type AskedQuestion, isAnsweredQuestion, questionIn } from './question-requests.ts'

interface Waiting {
  readonly id: string
  readonly createdAt: number
  readonly title: string | undefined
  readonly call: string | undefined
  /** Binds an answer to what was shown. */
  readonly shown: string | undefined
  /** The wire id of older wrappers of ours, which have a separate method for answers. */
  readonly olderKind?: string | undefined
}

/** A question of an agent: a form to fill in, or a page to open. */
export type OpenQuestion = Waiting & AskedQuestion

/** By the ids of the questions. */
export type Answers = Readonly<Record<string, QuestionAnswer>>

/** Those that this app can show, oldest first. */
export function openQuestions(state: AgentState | undefined): OpenQuestion[] {
  const over = state?.completedRequests ?? {}
  return Object.entries(state?.requests ?? {})
    .flatMap(([id, request]): OpenQuestion[] => {
      const { createdAt, title, toolUseId, call = toolUseId, shown } = request
      const what = Object.hasOwn(over, id) ? undefined : questionIn(request)
      return what ? [{ id, createdAt, title, call, shown, olderKind: olderKindOf(request), ...what }] : []
    })
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}

/** How questions ended, as decisions with more than yes and no. */
export function answeredQuestions(state: AgentState | undefined): Answered[] {
  const asked = Object.entries(state?.completedRequests ?? {}).filter(([, request]) => isAnsweredQuestion(request))
  return asked.map(([id, request]): Answered => {
    const { tool, toolUseId, call = toolUseId, title, answers, answeredBy: by, completedAt: at } = request
    const text = answers && Object.values(answers).join('; ')
    const outcome = request.status === 'approved' ? 'allowed-once' : request.status === 'denied' ? 'denied' : 'ended'
    return { id, call, tool, args: {}, title: title ?? firstOf(request), outcome, reason: undefined, by, at, said: { text } }
  })
}

function firstOf({ arguments: args }: CompletedRequest): string | undefined {
  return readQuestions(args)?.[0]?.question
}

/** `undefined`: the agent decides itself, or the page was declined. Existing wrappers read `updatedInput`. */
export function questionParams(question: OpenQuestion, answers: Answers | undefined, me: string | undefined): ParamsOfCall<'permission'> {
  const about = { ...(question.shown !== undefined && { shown: question.shown }), ...(me !== undefined && { answeredBy: me }) }
  if (answers === undefined) return { id: question.id, approved: false, decision: 'denied', reason: leftToAgent, ...about }
  const written = question.type === 'form' && { updatedInput: { answers: writeAnswers(question.questions, answers) } }
  return { id: question.id, approved: true, decision: 'approved', answers: { ...answers }, ...written, ...about }
}

// Read by the agent, if its wrapper forwards it.
const leftToAgent = 'The person would rather not say. Decide by yourself, and go on.'
