import * as v from '../../schema.ts'
import { riskLevel } from './decisions/risk-names.ts'
import { stepKind } from './messages.ts'

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

const permission = v.object({
  type: v.literal('permission'),
  id,
  /** The hash of the request; an answer names it. */
  shown: v.optional(v.string()),
  kind: stepKind,
  /** The command, address or file, truncated if necessary. */
  text: v.string(),
  /** The text is the complete request. */
  isWhole: v.boolean(),
  risk: riskLevel,
  /** Plain and shown in full: only such a request may be allowed from a notification. */
  mayAllow: v.boolean()
})

const question = v.object({
  type: v.literal('question'),
  id,
  shown: v.optional(v.string()),
  text: v.string(),
  /** A custom text answers it: the id of its question. */
  reply: v.optional(id)
})

/** Ours: the content of a notification on a device that can decrypt it. Sealed with the key of its session, see `sealPreview`. */
export const noticePreview = v.object({
  sealedFor: v.object({ type: v.literal('preview'), session: id, notice: id }),
  /** The display name of the session; may be empty. */
  title: v.string(),
  asks: v.fallback(v.optional(v.variant('type', [permission, question])), undefined)
})

export type NoticePreview = v.InferOutput<typeof noticePreview>
export type PreviewedAsk = NonNullable<NoticePreview['asks']>
