import * as v from '../../schema.ts'
import { riskLevel } from './decisions/risk-names.ts'
import { stepKind } from './messages.ts'

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

const permission = v.object({
  type: v.literal('permission'),
  id,
  /** The hash of what is decided on; an answer names it. */
  shown: v.optional(v.string()),
  kind: stepKind,
  /** The command, address or file, as far as it fits. */
  text: v.string(),
  /** That text is everything it is decided on. */
  isWhole: v.boolean(),
  risk: riskLevel,
  /** Plain, with a text that is whole: only this may be allowed where nothing else of it is seen. */
  mayAllow: v.boolean()
})

const question = v.object({
  type: v.literal('question'),
  id,
  shown: v.optional(v.string()),
  text: v.string(),
  /** A text of the person's own answers it: the id of the question it answers. */
  reply: v.optional(id)
})

/** Ours: what a notification says on a device that can open it. Sealed with the key of its session, see `sealPreview`. */
export const noticePreview = v.object({
  sealedFor: v.object({ type: v.literal('preview'), session: id, notice: id }),
  /** What a person calls the session; may be empty. */
  title: v.string(),
  asks: v.fallback(v.optional(v.variant('type', [permission, question])), undefined)
})

export type NoticePreview = v.InferOutput<typeof noticePreview>
export type PreviewedAsk = NonNullable<NoticePreview['asks']>
