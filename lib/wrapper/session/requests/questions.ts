import { createHash } from 'node:crypto'
import { questionTool, readAnswers, writeAnswers, writeQuestions } from '../../../protocol/sealed/ask-user-question.ts'
import type { ParamsOfCall } from '../../../protocol/sealed/calls.ts'
import type { CompletedCommunication, Question, QuestionAnswer } from '../../../protocol/sealed/questions.ts'
import type { AgentState, CompletedRequest, PermissionRequest } from '../../../protocol/sealed/session.ts'
import type { Answers, QuestionAsk } from '../../agents/agent.ts'
import { complete } from './decisions.ts'
import { cutText } from './shortening.ts'

type Answer = ParamsOfCall<'permission'>

/** What an agent asks that is no permission. The agent state shows it to every device as a request to use the tool for questions. */
export interface Questions {
  /** In the order in which they were asked. */
  readonly open: readonly { ask: string; title: string }[]
  /** As devices see it, while it is open. */
  request(ask: string): PermissionRequest | undefined
  /** `isStep`: the step it belongs to is a call of the tool for questions, and stands in the session as that. */
  ask(asked: QuestionAsk, isStep?: boolean): void
  /** It is over without an answer from outside; `answers` tells what the person at the terminal said. */
  close(ask: string, answers?: Answers): void
  /**
   * Hands what was answered to `give`, which says whether the agent still waited for it. Throws, with a sentence for the one who
   * answers, when the question is over, is not the one that was shown, or the answers do not fit.
   */
  answer(answer: Answer, give: (answers: Answers | undefined) => boolean): void
}

/** `publish` is told how the state changes; the change is pure, so that it can be applied again to a newer state. */
export function createQuestions(publish: (change: (state: AgentState) => AgentState) => void, now: () => number = Date.now): Questions {
  const open = new Map<string, { asked: QuestionAsk; request: PermissionRequest }>()

  const finish = (ask: string, how: How, answers?: Answers) => {
    const known = open.get(ask)
    if (!open.delete(ask) || !known) return
    const completed = completedOf(known, { completedAt: now(), ...how }, answers)
    publish(state => complete(state, ask, completed))
  }

  return {
    get open() {
      return [...open.values()].map(({ asked: { ask, title } }) => ({ ask, title }))
    },
    request: ask => open.get(ask)?.request,
    ask(asked, isStep = false) {
      const request = requestOf(asked, isStep, now())
      open.set(asked.ask, { asked, request })
      publish(state => ({ ...state, requests: { ...state.requests, [asked.ask]: request } }))
    },
    close(ask, answers) {
      if (answers) finish(ask, { status: 'approved', decision: 'approved', answeredBy: 'the terminal' }, answers)
      else finish(ask, { status: 'canceled' })
    },
    answer(answer, give) {
      const known = open.get(answer.id)
      if (!known) throw new Error('This question is over.')
      const { asked, request } = known
      if (answer.shown !== undefined && answer.shown !== request.shown) throw new Error('This question changed. Look again.')
      const given = answer.approved ? answersIn(answer, asked) : undefined
      if (!give(given)) {
        finish(answer.id, { status: 'canceled' })
        throw new Error('This question is over.')
      }
      const by = answer.answeredBy === undefined ? {} : { answeredBy: answer.answeredBy }
      const no = answer.decision === 'abort' ? 'abort' : 'denied'
      if (given) finish(answer.id, { status: 'approved', decision: 'approved', ...by }, given)
      else finish(answer.id, { status: 'denied', decision: no, ...by })
    }
  }
}

/** What a wrapper of an older version left open is over, and no longer where Happy's app does not survive it. */
export function cancelQuestions(state: AgentState, now: number): AgentState {
  const open = Object.entries(state.communications ?? {})
  if (open.length === 0) return state
  const cancelled = open.map(([ask, { kind, createdAt, title, toolUseId }]): [string, CompletedCommunication] => [
    ask,
    { kind, createdAt, completedAt: now, status: 'cancelled', title, toolUseId }
  ])
  return { ...state, communications: {}, completedCommunications: { ...state.completedCommunications, ...Object.fromEntries(cancelled) } }
}

function requestOf(asked: QuestionAsk, isStep: boolean, createdAt: number): PermissionRequest {
  const { call, title } = asked
  return {
    tool: questionTool,
    arguments: writeQuestions(questionsOf(asked)),
    createdAt,
    title,
    shown: shownHash(asked),
    ...(call !== undefined && { call }),
    // Joined to a step of another name, Happy's app would draw that, and no form.
    ...(call !== undefined && isStep && { toolUseId: call }),
    ...(asked.kind === 'form' ? { form: { questions: asked.questions } } : { url: asked.url })
  }
}

/** A page to open is, for who knows only forms, a question whether it was opened. */
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

/** Over everything that is shown, so that an answer counts for exactly that. */
function shownHash(asked: QuestionAsk): string {
  const shown = asked.kind === 'form' ? asked.questions : asked.url
  return createHash('sha256')
    .update(JSON.stringify([asked.kind, asked.title, shown]))
    .digest('base64url')
}

const longestKeptArguments = 4000
const longestKeptTitle = 500
const longestKeptAnswer = 2000

type How = Pick<CompletedRequest, 'status' | 'decision' | 'answeredBy'>

/** With the input of the tool as it is then called: the answers are in it. */
function completedOf(
  { asked, request }: { asked: QuestionAsk; request: PermissionRequest },
  how: How & { completedAt: number },
  given: Answers | undefined
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

/** Undefined: the person would rather not say. Our apps go by ids and values, existing ones by texts and labels. */
function answersIn(answer: Answer, asked: QuestionAsk): Answers | undefined {
  const questions = questionsOf(asked)
  if (answer.answers) return asked.kind === 'form' ? checkAnswers(questions, answer.answers) : {}
  const said = readAnswers(questions, answer.updatedInput)
  if (said === 'none') throw new Error('This is a question: choose an answer, and not only yes or no.')
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
      if (own !== '' && !question.allowsOther) throw new Error(`“${question.question}” takes no words of your own.`)
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
