import * as z from 'zod'

const id = z.string().min(1).max(200)

/**
 * Ours: what the sealed text of a call or of its answer is for. It stands beside the parameters of a call, where existing clients do not
 * look; theirs has none. `target` is the session or machine, `call` the id that its caller made up. `by` says who called, and how often it
 * had; absent in calls of earlier versions, and in answers.
 */
export const sealedFor = z.object({
  type: z.enum(['call', 'answer']),
  target: id,
  method: id,
  call: id,
  by: z.object({ sender: z.string().min(1).max(64), number: z.int().positive() }).optional()
})

/** The answer to a call that says what it is for. A failure is a result of its own, as without a name. */
export const sealedAnswer = z.object({ sealedFor, result: z.unknown() })

/** Ours: who wrote a message, and which of its messages in that session it is; the numbers of a sender rise by one. */
export const sealedBy = z.object({
  sender: z.string().min(1).max(64),
  number: z.int().positive(),
  /** As the server calls it; absent where the sender did not know that yet. */
  session: z.string().max(64).optional(),
  /** Numbers of the same session that never come: taken back, left out or refused. */
  gone: z
    .array(z.object({ sender: z.string().max(64), number: z.int().positive() }))
    .max(1000)
    .optional()
})

/**
 * Ours: what a wrapper found wrong with what reached it, and says in the session. `call-…`: a call was refused, of `-late` because the
 * same device had chosen otherwise since. `message-repeated`,
 * `-astray` and `-nameless`: a message was left out. `-late`: it was taken, and came after later ones. `-missing`: `count` did not come.
 */
export const sealFault = z.looseObject({
  type: z.enum([
    'call-astray',
    'call-repeated',
    'call-nameless',
    'call-late',
    'message-repeated',
    'message-astray',
    'message-nameless',
    'message-late',
    'message-missing'
  ]),
  count: z.int().positive()
})

export type SealFault = z.infer<typeof sealFault>
export type SealedFor = z.infer<typeof sealedFor>
export type SealedBy = z.infer<typeof sealedBy>
