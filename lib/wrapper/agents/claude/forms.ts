import * as z from 'zod'
import type { Question } from '../../../protocol/sealed/questions.ts'
import type { Answers } from '../agent.ts'

/** What Claude Code asks with its tool AskUserQuestion, and the way back from the answers. */
export interface ClaudeForm {
  readonly title: string
  readonly questions: Question[]
  /** The input of the tool with these answers; undefined when there is none among them. */
  answered(answers: Answers): Record<string, unknown> | undefined
  /** The answers in an input that came back from its dialog at the terminal. */
  answersIn(input: Record<string, unknown>): Answers
}

const asked = z.looseObject({
  questions: z
    .array(
      z.looseObject({
        question: z.string().min(1),
        header: z.string().optional().catch(undefined),
        multiSelect: z.boolean().optional().catch(undefined),
        options: z.array(z.looseObject({ label: z.string().min(1), description: z.string().optional().catch(undefined) })).catch([])
      })
    )
    .min(1)
})
/** By the text of the question: the labels, or what the person wrote. */
const answered = z.looseObject({ answers: z.record(z.string(), z.string()).catch({}) })

/** Undefined for another tool, and for an input of another shape. */
export function formOf(tool: string, input: Record<string, unknown>): ClaudeForm | undefined {
  const { data } = tool === 'AskUserQuestion' ? asked.safeParse(input) : {}
  if (!data) return undefined
  const questions = data.questions.map(({ question, header, multiSelect = false, options }, index): Question => {
    const shown = options.map(({ label, description }) => ({ value: label, label, ...(description && { description }) }))
    // Its own dialog also takes other words, and lets a question go without an answer.
    return {
      id: `question_${index}`,
      question,
      ...(header && { header }),
      multiSelect,
      options: shown,
      allowsOther: true,
      isRequired: false
    }
  })
  return {
    title: questions[0]?.question ?? '',
    questions,
    answered(given) {
      const answers = questions.flatMap(question => {
        const { values = [], other } = given[question.id] ?? {}
        const said = [...values.map(label => written(label, question)), ...(other === undefined ? [] : [other])].join(separator)
        return said === '' ? [] : [[question.question, said]]
      })
      return answers.length === 0 ? undefined : { ...input, answers: Object.fromEntries(answers) }
    },
    answersIn(input) {
      const { answers } = answered.catch({ answers: {} }).parse(input)
      return Object.fromEntries(
        questions.flatMap(question => {
          const said = answers[question.question]
          return said === undefined ? [] : [[question.id, readAnswer(question, said)]]
        })
      )
    }
  }
}

const separator = ', '

/** As its dialog writes a label; one of several may have the separator in it. */
function written(label: string, { multiSelect }: Pick<Question, 'multiSelect'>): string {
  return multiSelect && label.includes(',') ? `"${label}"` : label
}

function readAnswer(question: Question, said: string): Answers[string] {
  const values: string[] = []
  const isFirst = (label: string, text: string) => text === label || (question.multiSelect && text.startsWith(label + separator))
  let rest = said
  while (rest !== '') {
    const option = question.options.find(({ label }) => isFirst(written(label, question), rest))
    if (!option) break
    values.push(option.value)
    rest = rest.slice(written(option.label, question).length + separator.length)
  }
  return { values, ...(rest !== '' && { other: rest }) }
}
