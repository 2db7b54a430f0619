import * as v from '../../../schema.ts'

/** The constraints on a number. */
const numberWanted = v.looseObject({ isWhole: v.boolean(), minimum: v.optional(v.number()), maximum: v.optional(v.number()) })

/** One question of an agent. `id` identifies it in the answers. */
export const question = v.looseObject({
  id: v.string(),
  question: v.string(),
  /** A word or two that name the subject. */
  header: v.optional(v.string()),
  multiSelect: v.boolean(),
  /** If empty, only a custom text answers it. */
  options: v.array(v.looseObject({ value: v.string(), label: v.string(), description: v.optional(v.string()) })),
  /** Whether a custom text is accepted as well. */
  allowsOther: v.boolean(),
  isRequired: v.boolean(),
  /** Only a number answers it. */
  number: v.fallback(v.optional(numberWanted), undefined)
})

/**
 * A question of our older versions, in the agent state's `communications`. Read, and never written: an open one
 * crashes Happy's app.
 */
export const communication = v.looseObject({
  kind: v.string(),
  createdAt: v.number(),
  toolUseId: v.optional(v.string()),
  title: v.optional(v.string()),
  /** For the kind `form`. */
  form: v.fallback(v.optional(v.looseObject({ questions: v.array(question) })), undefined),
  /** For the kind `link`: a page that the agent wants to open. */
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
  /** The question, if short enough to keep. */
  form: v.fallback(v.optional(v.looseObject({ questions: v.array(question) })), undefined),
  answers: v.fallback(v.optional(v.record(v.string(), v.unknown())), undefined),
  /** Ours: the name of the device that answered. */
  answeredBy: v.optional(v.string())
})

/** The chosen options, by value, and a custom text instead or in addition. */
export const questionAnswer = v.looseObject({ values: v.array(v.string()), other: v.optional(v.string()) })

/** The format of existing apps: the options by their labels. */
export const labelledAnswer = v.looseObject({ options: v.array(v.string()), custom: v.nullish(v.string()) })

export type Question = v.InferOutput<typeof question>
export type Communication = v.InferOutput<typeof communication>
export type CompletedCommunication = v.InferOutput<typeof completedCommunication>
export type QuestionAnswer = v.InferOutput<typeof questionAnswer>
export type NumberWanted = v.InferOutput<typeof numberWanted>

/** The number in a text; undefined if it is not valid. */
export function readNumber(text: string, { isWhole, minimum = -Infinity, maximum = Infinity }: NumberWanted): number | undefined {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(value) || (isWhole && !Number.isInteger(value))) return undefined
  return value < minimum || value > maximum ? undefined : value
}

/** The chosen labels and the custom text. */
export function answerText({ options }: Pick<Question, 'options'>, answer: QuestionAnswer | undefined): string {
  const labels = (answer?.values ?? []).map(value => options.find(option => option.value === value)?.label ?? value)
  return [...labels, ...(answer?.other === undefined ? [] : [answer.other])].join(', ')
}
