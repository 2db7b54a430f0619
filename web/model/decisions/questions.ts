import { readQuestions, writeAnswers } from '../../../lib/protocol/sealed/ask-user-question.ts'
import type { ParamsOfCall } from '../../../lib/protocol/sealed/calls.ts'
import type { CompletedCommunication, Question, QuestionAnswer } from '../../../lib/protocol/sealed/questions.ts'
import type { AgentState, CompletedRequest } from '../../../lib/protocol/sealed/session.ts'
import type { Answered } from './decisions.ts'
import { type AskedQuestion, formOrLink, isAnsweredQuestion, questionIn } from './question-requests.ts'

interface Waiting {
  readonly id: string
  readonly createdAt: number
  readonly title: string | undefined
  readonly call: string | undefined
  /** Binds an answer to what was shown. */
  readonly shown: string | undefined
  /** As the wire of older wrappers of ours calls it, which take the answer by a method of its own. */
  readonly olderKind?: string | undefined
}

/** Something an agent wants to know: answers to a form, or that a page is opened. */
export type OpenQuestion = Waiting & AskedQuestion

/** By the ids of the questions. */
export type Answers = Readonly<Record<string, QuestionAnswer>>

/** The ones that this app can show, oldest first. */
export function openQuestions(state: AgentState | undefined): OpenQuestion[] {
  const over = { ...state?.completedCommunications, ...state?.completedRequests }
  const asked = Object.entries(state?.requests ?? {}).flatMap(([id, request]): OpenQuestion[] => {
    const { createdAt, title, toolUseId, call = toolUseId, shown } = request
    const what = questionIn(request)
    return what ? [{ id, createdAt, title, call, shown, ...what }] : []
  })
  const older = Object.entries(state?.communications ?? {}).flatMap(([id, communication]): OpenQuestion[] => {
    const { kind, createdAt, title, toolUseId, shown, form, url } = communication
    const what = formOrLink(form, url)
    return what ? [{ id, createdAt, title, call: toolUseId, shown, olderKind: kind, ...what }] : []
  })
  return [...asked, ...older]
    .filter(({ id }) => !Object.hasOwn(over, id))
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}

/** How questions ended, as decisions that say more than yes and no. */
export function answeredQuestions(state: AgentState | undefined): Answered[] {
  const asked = Object.entries(state?.completedRequests ?? {}).filter(([, told]) => isAnsweredQuestion(told))
  const older = Object.entries(state?.completedCommunications ?? {})
  return [
    ...asked.map(([id, told]): Answered => {
      const { tool, toolUseId, call = toolUseId, title, answers, answeredBy: by, completedAt: at } = told
      const text = answers && Object.values(answers).join('; ')
      const outcome = told.status === 'approved' ? 'allowed-once' : told.status === 'denied' ? 'denied' : 'ended'
      return { id, call, tool, args: {}, title: title ?? firstOf(told), outcome, reason: undefined, by, at, said: { text } }
    }),
    ...older.map(
      ([id, told]): Answered => ({
        id,
        call: told.toolUseId,
        tool: told.kind,
        args: {},
        title: told.title ?? told.form?.questions[0]?.question,
        outcome: told.status === 'answered' ? 'allowed-once' : told.answeredBy === undefined ? 'ended' : 'denied',
        reason: undefined,
        by: told.answeredBy,
        at: told.completedAt,
        said: { text: told.status === 'answered' ? textOf(told) : undefined }
      })
    )
  ]
}

function firstOf({ arguments: args }: CompletedRequest): string | undefined {
  return readQuestions(args)?.[0]?.question
}

/** `undefined`: the agent shall decide by itself, or the page was refused. Existing wrappers read `updatedInput`. */
export function questionParams(question: OpenQuestion, answers: Answers | undefined, me: string | undefined): ParamsOfCall<'permission'> {
  const about = { ...(question.shown !== undefined && { shown: question.shown }), ...(me !== undefined && { answeredBy: me }) }
  if (answers === undefined) return { id: question.id, approved: false, decision: 'denied', reason: leftToAgent, ...about }
  const written = question.type === 'form' && { updatedInput: { answers: writeAnswers(question.questions, answers) } }
  return { id: question.id, approved: true, decision: 'approved', answers: { ...answers }, ...written, ...about }
}

// Read by the agent, where its wrapper passes it on.
const leftToAgent = 'The person would rather not say. Decide by yourself, and go on.'

/** The same for an older wrapper of ours. */
export function olderParams(
  { id, type, shown, olderKind }: OpenQuestion,
  answers: Answers | undefined,
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

/** The labels chosen and the person's own words. */
export function answerText({ options }: Pick<Question, 'options'>, answer: QuestionAnswer | undefined): string {
  const labels = (answer?.values ?? []).map(value => options.find(option => option.value === value)?.label ?? value)
  return [...labels, ...(answer?.other === undefined ? [] : [answer.other])].join(', ')
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
  const chosen = [values, options].find(each => Array.isArray(each)) ?? []
  const own = [other, custom].find(each => typeof each === 'string' && each !== '')
  return {
    values: Array.isArray(chosen) ? chosen.filter(each => typeof each === 'string') : [],
    ...(typeof own === 'string' && { other: own })
  }
}
