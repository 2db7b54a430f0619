import * as z from 'zod'

/** What a number has to be to answer. */
const numberWanted = z.looseObject({ isWhole: z.boolean(), minimum: z.number().optional(), maximum: z.number().optional() })

/** One thing an agent wants to know. `id` names it in the answers. */
export const question = z.looseObject({
  id: z.string(),
  question: z.string(),
  /** A word or two that name the subject. */
  header: z.string().optional(),
  multiSelect: z.boolean(),
  /** None: only a text of the person's own answers it. */
  options: z.array(z.looseObject({ value: z.string(), label: z.string(), description: z.string().optional() })),
  /** Whether a text of the person's own is an answer as well. */
  allowsOther: z.boolean(),
  isRequired: z.boolean(),
  /** Only a number answers it. */
  number: numberWanted.optional().catch(undefined)
})

/**
 * What an agent asked in older versions of ours, in the agent state's `communications`. Read, and never written: Happy's app does not
 * survive an open one.
 */
export const communication = z.looseObject({
  kind: z.string(),
  createdAt: z.number(),
  toolUseId: z.string().optional(),
  title: z.string().optional(),
  /** Of the kind `form`. */
  form: z
    .looseObject({ questions: z.array(question) })
    .optional()
    .catch(undefined),
  /** Of the kind `link`: a page the agent wants to be opened. */
  url: z.string().optional(),
  /** The hash an answer must name, over everything shown. */
  shown: z.string().optional()
})

export const completedCommunication = z.looseObject({
  kind: z.string(),
  createdAt: z.number(),
  completedAt: z.number(),
  status: z.enum(['answered', 'cancelled']),
  title: z.string().optional(),
  toolUseId: z.string().optional(),
  /** What was asked, while it is short enough to keep. */
  form: z
    .looseObject({ questions: z.array(question) })
    .optional()
    .catch(undefined),
  answers: z.record(z.string(), z.unknown()).optional().catch(undefined),
  /** Ours: the device that answered, as it names itself. */
  answeredBy: z.string().optional()
})

/** The options chosen, by their values, and the text the person wrote instead or besides. */
export const questionAnswer = z.looseObject({ values: z.array(z.string()), other: z.string().optional() })

/** As existing apps answer: the options by their labels. */
export const labelledAnswer = z.looseObject({ options: z.array(z.string()), custom: z.string().nullish() })

export type Question = z.infer<typeof question>
export type Communication = z.infer<typeof communication>
export type CompletedCommunication = z.infer<typeof completedCommunication>
export type QuestionAnswer = z.infer<typeof questionAnswer>
export type LabelledAnswer = z.infer<typeof labelledAnswer>
export type NumberWanted = z.infer<typeof numberWanted>

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
