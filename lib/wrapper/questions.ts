import { createHash } from 'node:crypto'
import type { ParamsOfCall } from '../protocol/sealed/calls.ts'
import type { Communication, CompletedCommunication, Question, QuestionAnswer } from '../protocol/sealed/questions.ts'
import type { AgentState } from '../protocol/sealed/session.ts'
import type { Answers, QuestionAsk } from './agents/agent.ts'

type Answer = ParamsOfCall<'communication'>

/** What an agent asks that is no permission, as the agent state shows it to every device. */
export interface Questions {
  /** In the order in which they were asked. */
  readonly open: readonly { ask: string; title: string }[]
  ask(asked: QuestionAsk): void
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
  const open = new Map<string, { asked: QuestionAsk; communication: Communication }>()

  const finish = (ask: string, how: Pick<CompletedCommunication, 'status'> & { answers?: Answers | undefined; answeredBy?: string }) => {
    const known = open.get(ask)
    if (!open.delete(ask) || !known) return
    const { asked, communication } = known
    const answers = how.answers && asked.kind === 'form' ? writtenAnswers(asked.questions, how.answers) : undefined
    const { answers: _, ...rest } = how
    publish(state => complete(state, ask, { ...completedOf(communication, now()), ...rest, ...(answers && { answers }) }))
  }

  return {
    get open() {
      return [...open.values()].map(({ asked: { ask, title } }) => ({ ask, title }))
    },
    ask(asked) {
      const communication = communicationOf(asked, now())
      open.set(asked.ask, { asked, communication })
      publish(state => ({ ...state, communications: { ...state.communications, [asked.ask]: communication } }))
    },
    close(ask, answers) {
      finish(ask, answers ? { status: 'answered', answers, answeredBy: 'the terminal' } : { status: 'cancelled' })
    },
    answer({ id, status, answers, shown, answeredBy }, give) {
      const known = open.get(id)
      if (!known) throw new Error('This question is over.')
      const { asked, communication } = known
      if (shown !== undefined && shown !== communication.shown) throw new Error('This question changed. Look again.')
      const given = status === 'cancelled' ? undefined : asked.kind === 'form' ? readAnswers(asked.questions, answers ?? {}) : {}
      const isTaken = give(given)
      finish(id, { status: isTaken ? status : 'cancelled', answers: given, ...(answeredBy !== undefined && { answeredBy }) })
      if (!isTaken) throw new Error('This question is over.')
    }
  }
}

/** Every open question is over: for a session whose wrapper is gone. */
export function cancelQuestions(state: AgentState, now: number): AgentState {
  return Object.entries(state.communications ?? {}).reduce<AgentState>(
    (state, [ask, communication]) => complete(state, ask, { ...completedOf(communication, now), status: 'cancelled' }),
    state
  )
}

const mostCompleted = 50
const longestKeptForm = 4000

/** With what existing apps need to show the same. */
function communicationOf(asked: QuestionAsk, createdAt: number): Communication {
  const { call, title } = asked
  const common = { createdAt, title, ...(call !== undefined && { toolUseId: call }), shown: shownHash(asked) }
  if (asked.kind === 'link') return { ...common, kind: 'link', url: asked.url }
  const questions = asked.questions.map(question => ({
    ...question,
    header: question.header ?? 'Question',
    allowCustom: question.allowsOther,
    required: question.isRequired
  }))
  return { ...common, kind: 'form', form: { questions } }
}

/** Over everything that is shown, so that an answer counts for exactly that. */
function shownHash(asked: QuestionAsk): string {
  const shown = asked.kind === 'form' ? asked.questions : asked.url
  return createHash('sha256')
    .update(JSON.stringify([asked.kind, asked.title, shown]))
    .digest('base64url')
}

function completedOf({ kind, createdAt, title, toolUseId, form }: Communication, completedAt: number) {
  const isShort = form !== undefined && JSON.stringify(form).length <= longestKeptForm
  return { kind, createdAt, completedAt, title, ...(toolUseId !== undefined && { toolUseId }), ...(isShort && { form }) }
}

function complete(state: AgentState, ask: string, completed: CompletedCommunication): AgentState {
  const { [ask]: _, ...communications } = state.communications ?? {}
  const all = Object.entries({ ...state.completedCommunications, [ask]: completed })
  return { ...state, communications, completedCommunications: Object.fromEntries(all.slice(-mostCompleted)) }
}

/** Our apps name options by their values, existing ones by their labels. */
function readAnswers(questions: readonly Question[], given: NonNullable<Answer['answers']>): Answers {
  const read = questions.flatMap((question): [string, QuestionAnswer][] => {
    const answer = given[question.id]
    const named = answer === undefined ? [] : 'values' in answer ? stringsOf(answer['values']) : stringsOf(answer['options'])
    const written = answer?.['other'] ?? answer?.['custom']
    const other = typeof written === 'string' && written.trim() !== '' ? written.trim() : undefined
    const values = named.map(name => optionOf(question, name))
    if (values.length > 1 && !question.multiSelect) throw new Error(`Choose one answer to “${question.question}”.`)
    if (other !== undefined && !question.allowsOther) throw new Error(`“${question.question}” takes no words of your own.`)
    if (values.length > 0 || other !== undefined) return [[question.id, { values, ...(other !== undefined && { other }) }]]
    if (question.isRequired) throw new Error(`“${question.question}” needs an answer.`)
    return []
  })
  return Object.fromEntries(read)
}

function optionOf({ question, options }: Question, name: string): string {
  const option = options.find(({ value }) => value === name) ?? options.find(({ label }) => label === name)
  if (!option) throw new Error(`“${question}” has no such answer.`)
  return option.value
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
}

/** In the words of our apps and of existing ones. */
function writtenAnswers(questions: readonly Question[], answers: Answers) {
  return Object.fromEntries(
    Object.entries(answers).map(([id, { values, other }]) => {
      const labels = questions.find(question => question.id === id)?.options ?? []
      const options = values.map(value => labels.find(option => option.value === value)?.label ?? value)
      return [id, { values, options, ...(other !== undefined && { other, custom: other }) }]
    })
  )
}
