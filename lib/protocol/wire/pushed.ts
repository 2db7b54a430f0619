import * as z from 'zod'

/** A push as our server writes it to browsers, in the form of Declarative Web Push; `data` is for the worker of the app. */
export const pushed = z.looseObject({
  title: z.string().min(1),
  body: z.string(),
  navigate: z.string().optional().catch(undefined),
  tag: z.string().optional().catch(undefined),
  lang: z.string().optional().catch(undefined),
  silent: z.boolean().optional().catch(undefined),
  data: z.looseObject({
    notice: z.string(),
    kind: z.string(),
    session: z.string().optional(),
    receipt: z.string(),
    preview: z.string().optional().catch(undefined)
  })
})

export type Pushed = z.infer<typeof pushed>
