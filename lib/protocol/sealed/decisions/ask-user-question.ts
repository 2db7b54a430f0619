import * as v from '../../../schema.ts'
import type { Question, QuestionAnswer } from './questions.ts'

/** A question is a permission request for this tool, which is Claude Code's own, and Happy's apps render it. */
export const questionTool = 'AskUserQuestion'

type Answers = Readonly<Record<string, QuestionAnswer>>

const option = v.looseObject({ label: v.string(), description: v.optional(v.string()) })

/** The input of the tool. Its answers are keyed by the texts of the questions, and name options by their labels. */
const questionInput = v.looseObject({
  questions: v.pipe(
    v.array(
      v.looseObject({
        question: v.string(),
        header: v.optional(v.string()),
        options: v.optional(v.array(option)),
        multiSelect: v.optional(v.boolean())
      })
    ),
    v.minLength(1)
  )
})

const answeredInput = v.looseObject({ answers: v.record(v.string(), v.unknown()) })

/** The form in the input of the tool; undefined for any other input. */
export function readQuestions(input: unknown): Question[] | undefined {
  const { data } = v.safeParse(questionInput, input)
  return data?.questions.map(({ question, header, options = [], multiSelect = false }) => ({
    id: question,
    question,
    ...(header && { header }),
    multiSelect,
    options: options.map(({ label, description }) => ({ value: label, label, ...(description && { description }) })),
    allowsOther: true,
    isRequired: false
  }))
}

/** Apps require one of the options for each question, so skipping is an option too. */
export const noAnswer = 'No answer'
const ownWords = 'The agent asks for a free-text answer, which only its terminal and the Afield app accept.'

/** The form as the input of the tool. */
export function writeQuestions(questions: readonly Question[]) {
  const texts = textsOf(questions)
  return {
    questions: questions.map((question, index) => {
      const { header = 'Question', multiSelect, options, isRequired } = question
      const labels = labelsOf(question)
      const choices = options.map(({ description = '' }, at) => ({ label: labels[at] ?? '', description }))
      const isOpen = options.length === 0
      const none = isOpen || !isRequired ? [{ label: noAnswer, description: isOpen ? ownWords : '' }] : []
      return { question: texts[index] ?? '', header, multiSelect, options: [...choices, ...none] }
    })
  }
}

/** Answers in the format of the tool. */
export function writeAnswers(questions: readonly Question[], answers: Answers): Record<string, string> {
  const texts = textsOf(questions)
  return Object.fromEntries(
    questions.flatMap((question, index) => {
      const { values = [], other } = answers[question.id] ?? {}
      const labels = labelsOf(question)
      const chosen = values.map(value => labels[question.options.findIndex(option => option.value === value)] ?? value)
      const all = [...chosen, ...(other === undefined ? [] : [other])]
      return all.length === 0 ? [] : [[texts[index] ?? '', all.join(', ')]]
    })
  )
}

/**
 * The tool's answers as answers to the form: a text that matches no label is the person's own. `none` if the input
 * has none, `declined` if a question that has to be answered was skipped.
 */
export function readAnswers(questions: readonly Question[], input: unknown): Answers | 'none' | 'declined' {
  const { data } = v.safeParse(answeredInput, input)
  if (!data) return 'none'
  const texts = textsOf(questions)
  const said = questions.map((question, index) => ({ question, text: textOf(data.answers[texts[index] ?? '']) }))
  if (said.some(({ question, text }) => text === noAnswer && question.isRequired)) return 'declined'
  return Object.fromEntries(
    said.flatMap(({ question, text }) => (text === '' || text === noAnswer ? [] : [[question.id, readAnswer(question, text)]]))
  )
}

function textOf(answer: unknown): string {
  if (Array.isArray(answer)) return answer.filter(each => typeof each === 'string').join(', ')
  return typeof answer === 'string' ? answer.trim() : ''
}

/** Labels chosen together are joined, and may contain commas; at its terminal Claude Code then quotes them. */
function readAnswer(question: Question, text: string): QuestionAnswer {
  const labels = labelsOf(question)
  const longestFirst = labels.flatMap(label => [label, `"${label}"`]).toSorted((one, other) => other.length - one.length)
  const values: string[] = []
  let rest = text
  for (;;) {
    const next = longestFirst.find(label => rest === label || (question.multiSelect && rest.startsWith(`${label}, `)))
    if (next === undefined) break
    const at = labels.findIndex(label => next === label || next === `"${label}"`)
    values.push(question.options[at]?.value ?? next)
    rest = rest.slice(next.length + 2)
  }
  const isLeftOpen = rest === '' || (values.length > 0 && rest === noAnswer)
  return { values, ...(!isLeftOpen && { other: rest }) }
}

/** Answers are keyed by these, so they must be unique. */
function textsOf(questions: readonly Question[]): string[] {
  return distinct(questions.map(({ question }) => question))
}

function labelsOf({ options }: Question): string[] {
  return distinct(options.map(({ label }) => label))
}

function distinct(texts: readonly string[]): string[] {
  return texts.map((text, index) => {
    const before = texts.slice(0, index).filter(each => each === text).length
    return before === 0 ? text : `${text} (${before + 1})`
  })
}
