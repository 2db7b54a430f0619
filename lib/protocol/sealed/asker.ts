import * as z from 'zod'

/** What a computer says of itself while it asks to be let in. Nobody has vouched for it: it stays the asker's own word. */
export const askerAbout = z.looseObject({
  os: z.string().max(100).optional(),
  /** The user its programs run as. */
  user: z.string().max(100).optional(),
  /** That user may change everything on the computer. */
  isRoot: z.boolean().optional()
})

export type AskerAbout = z.infer<typeof askerAbout>
