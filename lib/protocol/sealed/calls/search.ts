import * as z from 'zod'

const query = z.string().min(1).max(1000)

const foundLine = z.looseObject({
  number: z.number().int().positive(),
  text: z.string(),
  /** Where in `text` it was found; left out by programs that do not tell. */
  ranges: z.array(z.looseObject({ from: z.number(), to: z.number() })).optional()
})

/** Ours: what is where in the folder of a session. What git ignores is left out. Paths are below the session's folder. */
export const searchCalls = {
  searchText: call(
    z.looseObject({
      query,
      isRegex: z.boolean().nullish(),
      isCaseSensitive: z.boolean().nullish(),
      /** Only files of this form, such as `*.ts` or `src/**`. */
      glob: z.string().min(1).max(400).nullish()
    }),
    z.looseObject({
      files: z.array(z.looseObject({ path: z.string(), lines: z.array(foundLine) })),
      isCut: z.boolean()
    })
  ),
  /** By parts of the name, best first; without a query some files. */
  findFiles: call(
    z.looseObject({ query: z.string().max(1000), limit: z.number().int().min(1).max(500).nullish() }),
    z.looseObject({ paths: z.array(z.string()), isCut: z.boolean() })
  ),
  /** As existing wrappers answer it. */
  difftastic: call(
    z.looseObject({ args: z.array(z.string().max(4096)).max(100), cwd: z.string().max(4096).nullish() }),
    z.looseObject({
      success: z.boolean(),
      stdout: z.string().optional(),
      stderr: z.string().optional(),
      exitCode: z.number().optional(),
      error: z.string().optional()
    })
  )
} as const

export type TextFound = z.infer<(typeof searchCalls)['searchText']['result']>
export type FilesFound = z.infer<(typeof searchCalls)['findFiles']['result']>

function call<Params extends z.ZodType, Result extends z.ZodType>(params: Params, result: Result) {
  return { params, result }
}
