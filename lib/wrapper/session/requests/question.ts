import { createHash } from 'node:crypto'
import type { ParamsOfCall } from '../../../protocol/sealed/calls/calls.ts'
import { questionTool, readAnswers, writeAnswers, writeQuestions } from '../../../protocol/sealed/decisions/ask-user-question.ts'
import type { Question, QuestionAnswer } from '../../../protocol/sealed/decisions/questions.ts'
import type { CompletedRequest, PermissionRequest } from '../../../protocol/sealed/session.ts'
import type { Answers, QuestionAsk } from '../../agents/agent.ts'
import { cutText } from './shorten.ts'

type Answer = ParamsOfCall<'permission'>

/** Devices see a question as a request to use the question tool. `isStep`: the session has it as a call of that tool. */
export function requestOfQuestion(asked: QuestionAsk, isStep: boolean, createdAt: number): PermissionRequest {
  const { call, title } = asked
  return {
    tool: questionTool,
    arguments: writeQuestions(questionsOf(asked)),
    createdAt,
    title,
    shown: hashOfQuestion(asked),
    ...(call !== undefined && { call }),
    // If joined to a step of another name, Happy's app would draw that step, and no form.
    ...(call !== undefined && isStep && { toolUseId: call }),
    ...(asked.kind === 'form' ? { form: { questions: asked.questions } } : { url: asked.url })
  }
}

/** For apps that know only forms, a page to open becomes the question whether it was opened. */
function questionsOf(asked: QuestionAsk): readonly Question[] {
  if (asked.kind === 'form') return asked.questions
  const options = [
    { value: opened, label: 'I opened it', description: asked.url },
    { value: 'refused', label: 'I will not open it' }
  ]
  const question = `${asked.title}\n\n${asked.url}`
  return [{ id: 'page', question, header: 'Open a page', multiSelect: false, options, allowsOther: false, isRequired: true }]
}

const opened = 'opened'

/** A hash over everything that is shown, so that an answer applies to exactly that. */
function hashOfQuestion(asked: QuestionAsk): string {
  const shown = asked.kind === 'form' ? asked.questions : asked.url
  return createHash('sha256')
    .update(JSON.stringify([asked.kind, asked.title, shown]))
    .digest('base64url')
}

const longestKeptArguments = 4000
const longestKeptTitle = 500
const longestKeptAnswer = 2000

/** With the resulting input of the tool, which contains the answers. */
export function completedQuestion(
  asked: QuestionAsk,
  request: PermissionRequest,
  how: Pick<CompletedRequest, 'status' | 'decision' | 'answeredBy' | 'completedAt'>,
  given?: Answers
): CompletedRequest {
  const questions = questionsOf(asked)
  const answers = given && writeAnswers(questions, asked.kind === 'form' ? given : { page: { values: [opened] } })
  const input = { ...writeQuestions(questions), ...(answers && { answers }) }
  const { tool, createdAt, toolUseId, call, title } = request
  return {
    tool,
    arguments: JSON.stringify(input).length <= longestKeptArguments ? input : {},
    createdAt,
    title: title && cutText(title, longestKeptTitle),
    ...(toolUseId !== undefined && { toolUseId }),
    ...(call !== undefined && { call }),
    ...(answers && { answers: keptAnswers(answers) }),
    ...how
  }
}

/** Undefined: the person declined to answer. Our apps use ids and values, existing ones texts and labels. */
export function answersIn(answer: Answer, asked: QuestionAsk): Answers | undefined {
  const questions = questionsOf(asked)
  if (answer.answers) return asked.kind === 'form' ? checkAnswers(questions, answer.answers) : {}
  const said = readAnswers(questions, answer.updatedInput)
  if (said === 'none') throw new Error('This is a question: choose an answer instead of yes or no.')
  if (said === 'declined') return undefined
  const checked = checkAnswers(questions, said)
  if (asked.kind === 'form') return checked
  return checked['page']?.values[0] === opened ? {} : undefined
}

function checkAnswers(questions: readonly Question[], given: Answers): Answers {
  return Object.fromEntries(
    questions.flatMap((question): [string, QuestionAnswer][] => {
      const { values = [], other } = given[question.id] ?? {}
      const own = other?.trim() ?? ''
      const isStrange = values.some(value => !question.options.some(option => option.value === value))
      if (isStrange) throw new Error(`“${question.question}” has no such answer.`)
      if (values.length > 1 && !question.multiSelect) throw new Error(`Choose one answer to “${question.question}”.`)
      if (own !== '' && !question.allowsOther) throw new Error(`“${question.question}” does not accept an answer in your own words.`)
      if (values.length > 0 || own !== '') return [[question.id, { values, ...(own !== '' && { other: own }) }]]
      if (question.isRequired) throw new Error(`“${question.question}” needs an answer.`)
      return []
    })
  )
}

function keptAnswers(answers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(answers).map(([question, answer]) => [cutText(question, longestKeptTitle), cutText(answer, longestKeptAnswer)])
  )
}
