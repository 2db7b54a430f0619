import * as v from '../../schema.ts'

/** A computer's description of itself in a pairing request. No one has verified it: it is the requester's own claim. */
export const askerAbout = v.looseObject({
  os: v.optional(v.text(100)),
  /** The user its programs run as. */
  user: v.optional(v.text(100)),
  /** That user may change everything on the computer. */
  isRoot: v.optional(v.boolean())
})

export type AskerAbout = v.InferOutput<typeof askerAbout>
