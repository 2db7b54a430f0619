import * as z from 'zod'
import { riskLevel } from './decisions/risk-names.ts'
import { stepKind } from './messages.ts'

const id = z.string().min(1).max(200)

const permission = z.object({
  type: z.literal('permission'),
  id,
  /** The hash of what is decided on; an answer names it. */
  shown: z.string().optional(),
  kind: stepKind,
  /** The command, address or file, as far as it fits. */
  text: z.string(),
  /** That text is everything it is decided on. */
  isWhole: z.boolean(),
  risk: riskLevel,
  /** Plain, with a text that is whole: only this may be allowed where nothing else of it is seen. */
  mayAllow: z.boolean()
})

const question = z.object({
  type: z.literal('question'),
  id,
  shown: z.string().optional(),
  text: z.string(),
  /** A text of the person's own answers it: the id of the question it answers. */
  reply: id.optional()
})

/** Ours: what a notification says on a device that can open it. Sealed with the key of its session, see `sealPreview`. */
export const noticePreview = z.object({
  sealedFor: z.object({ type: z.literal('preview'), session: id, notice: id }),
  /** What a person calls the session; may be empty. */
  title: z.string(),
  asks: z.discriminatedUnion('type', [permission, question]).optional().catch(undefined)
})

export type NoticePreview = z.infer<typeof noticePreview>
export type PreviewedAsk = NonNullable<NoticePreview['asks']>
