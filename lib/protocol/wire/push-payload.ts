import * as v from '../../schema.ts'

/** A push to browsers, in the format of Declarative Web Push; `data` is for the worker of the app. */
export const pushPayload = v.looseObject({
  title: v.pipe(v.string(), v.minLength(1)),
  body: v.string(),
  navigate: v.fallback(v.optional(v.string()), undefined),
  tag: v.fallback(v.optional(v.string()), undefined),
  lang: v.fallback(v.optional(v.string()), undefined),
  silent: v.fallback(v.optional(v.boolean()), undefined),
  data: v.looseObject({
    notice: v.string(),
    kind: v.string(),
    session: v.optional(v.string()),
    receipt: v.string(),
    preview: v.fallback(v.optional(v.string()), undefined)
  })
})

export type PushPayload = v.InferOutput<typeof pushPayload>
