import * as v from '../../../schema.ts'

/** What an agent does without asking again once it has a yes for longer. Of a list that is empty, what the decision itself shows. */
export const grants = v.looseObject({
  lasts: v.picklist(['session', 'always']),
  what: v.array(
    v.object({
      /** `edits`: all of them. `everything`: nothing is asked any more. `rights`: those that the agent asks for. */
      type: v.picklist(['edits', 'everything', 'files', 'commands', 'tools', 'hosts', 'folders', 'rights']),
      of: v.array(v.string())
    })
  )
})

export type Grants = v.InferOutput<typeof grants>
export type Grant = Grants['what'][number]
