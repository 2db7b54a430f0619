import * as v from '../../../schema.ts'

/** What an agent does without asking again after a permanent approval. An empty list means what the decision itself shows. */
export const grants = v.looseObject({
  lasts: v.picklist(['session', 'always']),
  what: v.array(
    v.object({
      /** `edits`: all of them. `everything`: no more requests. `rights`: those that the agent requests. */
      type: v.picklist(['edits', 'everything', 'files', 'commands', 'tools', 'hosts', 'folders', 'rights']),
      of: v.array(v.string())
    })
  )
})

export type Grants = v.InferOutput<typeof grants>
export type Grant = Grants['what'][number]
