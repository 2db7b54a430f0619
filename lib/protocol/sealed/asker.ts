import * as v from '../../schema.ts'

/** What a computer says of itself while it asks to be let in. Nobody has vouched for it: it stays the asker's own word. */
export const askerAbout = v.looseObject({
  os: v.optional(v.text(100)),
  /** The user its programs run as. */
  user: v.optional(v.text(100)),
  /** That user may change everything on the computer. */
  isRoot: v.optional(v.boolean())
})

export type AskerAbout = v.InferOutput<typeof askerAbout>
