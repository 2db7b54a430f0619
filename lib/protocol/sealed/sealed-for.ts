import * as v from '../../schema.ts'

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/**
 * Ours: the purpose of the sealed text of a call or its answer. It is next to the parameters of a call, where existing clients do not
 * look; theirs has none. `target` is the session or machine, `call` a random id from the caller. `by` has the caller and its number
 * of calls; absent in calls of earlier versions, and in answers.
 */
export const sealedFor = v.object({
  type: v.picklist(['call', 'answer']),
  target: id,
  method: id,
  call: id,
  by: v.optional(v.object({ sender: v.pipe(v.string(), v.minLength(1), v.maxLength(64)), number: v.pipe(v.int(), v.gtValue(0)) }))
})

/** The answer to a call that names its purpose. A failure is also a result, as without a name. */
export const sealedAnswer = v.object({ sealedFor, result: v.unknown() })

/** Ours: the sender of a message, and its number in that session; the numbers of a sender rise by one. */
export const sealedBy = v.object({
  sender: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  number: v.pipe(v.int(), v.gtValue(0)),
  /** The server's id of the session; absent if the sender did not know it yet. */
  session: v.optional(v.text(64)),
  /** Numbers of the same session that will never come: withdrawn, dropped or rejected. */
  gone: v.optional(v.pipe(v.array(v.object({ sender: v.text(64), number: v.pipe(v.int(), v.gtValue(0)) })), v.maxLength(1000)))
})

/**
 * Ours: faults that a wrapper found in its input and reports in the session. `call-…`: a call was rejected; `-late` because the
 * same device has set something else since. `message-repeated`, `-astray` and `-nameless`: a message was dropped. `-late`: it was
 * accepted after later ones. `-missing`: `count` did not arrive.
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
