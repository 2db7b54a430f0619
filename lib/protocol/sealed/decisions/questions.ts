import * as v from '../../../schema.ts'

/** What a number has to be to answer. */
const numberWanted = v.looseObject({ isWhole: v.boolean(), minimum: v.optional(v.number()), maximum: v.optional(v.number()) })

/** One thing an agent wants to know. `id` names it in the answers. */
export const question = v.looseObject({
  id: v.string(),
  question: v.string(),
  /** A word or two that name the subject. */
  header: v.optional(v.string()),
  multiSelect: v.boolean(),
  /** None: only a text of the person's own answers it. */
  options: v.array(v.looseObject({ value: v.string(), label: v.string(), description: v.optional(v.string()) })),
  /** Whether a text of the person's own is an answer as well. */
  allowsOther: v.boolean(),
  isRequired: v.boolean(),
  /** Only a number answers it. */
  number: v.fallback(v.optional(numberWanted), undefined)
})

/**
 * What an agent asked in older versions of ours, in the agent state's `communications`. Read, and never written: Happy's app does not
 * survive an open one.
 */
export const communication = v.looseObject({
  kind: v.string(),
  createdAt: v.number(),
  toolUseId: v.optional(v.string()),
  title: v.optional(v.string()),
  /** Of the kind `form`. */
  form: v.fallback(v.optional(v.looseObject({ questions: v.array(question) })), undefined),
  /** Of the kind `link`: a page the agent wants to be opened. */
  url: v.optional(v.string()),
  /** The hash an answer must name, over everything shown. */
  shown: v.optional(v.string())
})

export const completedCommunication = v.looseObject({
  kind: v.string(),
  createdAt: v.number(),
  completedAt: v.number(),
  status: v.picklist(['answered', 'cancelled']),
  title: v.optional(v.string()),
  toolUseId: v.optional(v.string()),
  /** What was asked, while it is short enough to keep. */
  form: v.fallback(v.optional(v.looseObject({ questions: v.array(question) })), undefined),
  answers: v.fallback(v.optional(v.record(v.string(), v.unknown())), undefined),
  /** Ours: the device that answered, as it names itself. */
  answeredBy: v.optional(v.string())
})

/** The options chosen, by their values, and the text the person wrote instead or besides. */
export const questionAnswer = v.looseObject({ values: v.array(v.string()), other: v.optional(v.string()) })

/** As existing apps answer: the options by their labels. */
export const labelledAnswer = v.looseObject({ options: v.array(v.string()), custom: v.nullish(v.string()) })

export type Question = v.InferOutput<typeof question>
export type Communication = v.InferOutput<typeof communication>
export type CompletedCommunication = v.InferOutput<typeof completedCommunication>
export type QuestionAnswer = v.InferOutput<typeof questionAnswer>
export type LabelledAnswer = v.InferOutput<typeof labelledAnswer>
export type NumberWanted = v.InferOutput<typeof numberWanted>

/** The number that a person wrote; undefined when it does not answer. */
export function readNumber(text: string, { isWhole, minimum = -Infinity, maximum = Infinity }: NumberWanted): number | undefined {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(value) || (isWhole && !Number.isInteger(value))) return undefined
  return value < minimum || value > maximum ? undefined : value
}

/** The labels chosen and the person's own words. */
export function answerText({ options }: Pick<Question, 'options'>, answer: QuestionAnswer | undefined): string {
  const labels = (answer?.values ?? []).map(value => options.find(option => option.value === value)?.label ?? value)
  return [...labels, ...(answer?.other === undefined ? [] : [answer.other])].join(', ')
}
