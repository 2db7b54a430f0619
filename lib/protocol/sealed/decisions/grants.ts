import * as z from 'zod'

/** What an agent does without asking again once it has a yes for longer. Of a list that is empty, what the decision itself shows. */
export const grants = z.looseObject({
  lasts: z.enum(['session', 'always']),
  what: z.array(
    z.object({
      /** `edits`: all of them. `everything`: nothing is asked any more. `rights`: those that the agent asks for. */
      type: z.enum(['edits', 'everything', 'files', 'commands', 'tools', 'hosts', 'folders', 'rights']),
      of: z.array(z.string())
    })
  )
})

export type Grants = z.infer<typeof grants>
export type Grant = Grants['what'][number]
