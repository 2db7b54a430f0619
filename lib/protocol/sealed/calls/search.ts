import * as v from '../../../schema.ts'

const query = v.pipe(v.string(), v.minLength(1), v.maxLength(1000))

const foundLine = v.looseObject({
  number: v.pipe(v.int(), v.gtValue(0)),
  text: v.string(),
  /** The position of the match in `text`; omitted by programs that do not report it. */
  ranges: v.optional(v.array(v.looseObject({ from: v.number(), to: v.number() })))
})

/** Ours: search in the folder of a session, without files ignored by git. Paths are relative to the session's folder. */
export const searchCalls = {
  searchText: call(
    v.looseObject({
      query,
      isRegex: v.nullish(v.boolean()),
      isCaseSensitive: v.nullish(v.boolean()),
      /** Only files that match this pattern, such as `*.ts` or `src/**`. */
      glob: v.nullish(v.pipe(v.string(), v.minLength(1), v.maxLength(400)))
    }),
    v.looseObject({
      files: v.array(v.looseObject({ path: v.string(), lines: v.array(foundLine) })),
      isCut: v.boolean()
    })
  ),
  /** By parts of the name, best match first; without a query some files. */
  findFiles: call(
    v.looseObject({ query: v.text(1000), limit: v.nullish(v.pipe(v.int(), v.minValue(1), v.maxValue(500))) }),
    v.looseObject({ paths: v.array(v.string()), isCut: v.boolean() })
  ),
  /** As existing wrappers answer it. */
  difftastic: call(
    v.looseObject({
      args: v.pipe(v.array(v.text(4096)), v.maxLength(100)),
      cwd: v.nullish(v.text(4096))
    }),
    v.looseObject({
      success: v.boolean(),
      stdout: v.optional(v.string()),
      stderr: v.optional(v.string()),
      exitCode: v.optional(v.number()),
      error: v.optional(v.string())
    })
  )
} as const

export type TextFound = v.InferOutput<(typeof searchCalls)['searchText']['result']>
export type FilesFound = v.InferOutput<(typeof searchCalls)['findFiles']['result']>

function call<Params extends v.GenericSchema, Result extends v.GenericSchema>(params: Params, result: Result) {
  return { params, result }
}
