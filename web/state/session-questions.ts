import type { ParamsOfCall } from '../../lib/protocol/sealed/calls.ts'
import type { CompletedCommunication, Question, QuestionAnswer } from '../../lib/protocol/sealed/questions.ts'
import type { AgentState } from '../../lib/protocol/sealed/session.ts'
import type { Answered } from './session-decisions.ts'

interface Waiting {
  readonly id: string
  readonly createdAt: number
  readonly title: string | undefined
  readonly call: string | undefined
  /** Binds an answer to what was shown. */
  readonly shown: string | undefined
  /** As the wire calls it. */
  readonly kind: string
}

/** Something an agent wants to know: answers to a form, or that a page is opened. */
export type OpenQuestion = Waiting &
  ({ readonly type: 'form'; readonly questions: readonly Question[] } | { readonly type: 'link'; readonly url: string })

/** By the ids of the questions. */
export type Answers = Readonly<Record<string, QuestionAnswer>>

/** The ones that this app can show, oldest first. */
export function openQuestions(state: AgentState | undefined): OpenQuestion[] {
  const completed = state?.completedCommunications ?? {}
  return Object.entries(state?.communications ?? {})
    .filter(([id]) => !Object.hasOwn(completed, id))
    .flatMap(([id, { kind, createdAt, title, toolUseId, shown, form, url }]): OpenQuestion[] => {
      const waiting = { id, kind, createdAt, title, call: toolUseId, shown }
      if (form !== undefined && form.questions.length > 0) return [{ ...waiting, type: 'form', questions: form.questions }]
      return url === undefined ? [] : [{ ...waiting, type: 'link', url }]
    })
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}

/** How questions ended, as decisions that say more than yes and no. */
export function answeredQuestions(state: AgentState | undefined): Answered[] {
  return Object.entries(state?.completedCommunications ?? {}).map(([id, told]) => ({
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
  }))
}

/** `undefined`: the agent shall decide by itself, or the page was refused. */
export function questionParams(
  question: OpenQuestion,
  answers: Answers | undefined,
  me: string | undefined
): ParamsOfCall<'communication'> {
  return {
    id: question.id,
    kind: question.kind,
    status: answers === undefined ? 'cancelled' : 'answered',
    ...(answers !== undefined && question.type === 'form' && { answers: { ...answers } }),
    ...(question.shown !== undefined && { shown: question.shown }),
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
