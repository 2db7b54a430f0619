import * as v from '../../schema.ts'

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/**
 * Ours: what the sealed text of a call or of its answer is for. It stands beside the parameters of a call, where existing clients do not
 * look; theirs has none. `target` is the session or machine, `call` the id that its caller made up. `by` says who called, and how often it
 * had; absent in calls of earlier versions, and in answers.
 */
export const sealedFor = v.object({
  type: v.picklist(['call', 'answer']),
  target: id,
  method: id,
  call: id,
  by: v.optional(v.object({ sender: v.pipe(v.string(), v.minLength(1), v.maxLength(64)), number: v.pipe(v.int(), v.gtValue(0)) }))
})

/** The answer to a call that says what it is for. A failure is a result of its own, as without a name. */
export const sealedAnswer = v.object({ sealedFor, result: v.unknown() })

/** Ours: who wrote a message, and which of its messages in that session it is; the numbers of a sender rise by one. */
export const sealedBy = v.object({
  sender: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  number: v.pipe(v.int(), v.gtValue(0)),
  /** As the server calls it; absent where the sender did not know that yet. */
  session: v.optional(v.text(64)),
  /** Numbers of the same session that never come: taken back, left out or refused. */
  gone: v.optional(v.pipe(v.array(v.object({ sender: v.text(64), number: v.pipe(v.int(), v.gtValue(0)) })), v.maxLength(1000)))
})

/**
 * Ours: what a wrapper found wrong with what reached it, and says in the session. `call-…`: a call was refused, of `-late` because the
 * same device had chosen otherwise since. `message-repeated`,
 * `-astray` and `-nameless`: a message was left out. `-late`: it was taken, and came after later ones. `-missing`: `count` did not come.
 */
export const sealFault = v.looseObject({
  type: v.picklist([
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
  count: v.pipe(v.int(), v.gtValue(0))
})

export type SealFault = v.InferOutput<typeof sealFault>
export type SealedFor = v.InferOutput<typeof sealedFor>
export type SealedBy = v.InferOutput<typeof sealedBy>
