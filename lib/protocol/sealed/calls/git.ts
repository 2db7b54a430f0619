import * as z from 'zod'

/** Below the session's folder, with `/` between its parts. */
const path = z.string().min(1).max(4096)
const paths = z.array(path).min(1).max(1000)
const commitId = z.string().regex(/^[0-9a-f]{4,64}$/)
const count = z.number().int().nonnegative()

/** Modified, added, deleted, renamed, not known to git, or in conflict. Kept open for letters of newer wrappers. */
const letter = z.enum(['M', 'A', 'D', 'R', '?', 'U']).catch('M')

export const changedFile = z.looseObject({
  path,
  /** Where it was before, when it was renamed. */
  from: path.optional(),
  letter,
  isStaged: z.boolean(),
  isUnstaged: z.boolean(),
  /** Lines; undefined when nobody counted them. */
  added: count.optional(),
  removed: count.optional(),
  isBinary: z.boolean().optional(),
  /** Another one when the file looks different. */
  mark: z.string().optional()
})

const status = z.union([
  /** `no-git`: the program is not installed. */
  z.looseObject({ isRepository: z.literal(false), why: z.enum(['no-git', 'no-repository']).catch('no-repository') }),
  z.looseObject({
    isRepository: z.literal(true),
    /** Null when no branch is checked out. */
    branch: z.string().nullable(),
    /** Null before the first commit. */
    head: z.string().nullable(),
    upstream: z.string().nullable(),
    ahead: count,
    behind: count,
    files: z.array(changedFile),
    /** There are more files than are told. */
    isCut: z.boolean().optional()
  })
])

const side = z.string().nullable()
const diff = z.discriminatedUnion('type', [
  /** Null where there is no such file. */
  z.looseObject({ type: z.literal('text'), oldText: side, newText: side }),
  /** Bytes in base64. */
  z.looseObject({ type: z.literal('image'), mime: z.string(), oldBytes: side, newBytes: side }),
  z.looseObject({ type: z.literal('binary'), oldSize: count.nullable(), newSize: count.nullable() }),
  /** `canLoad`: with `load` it comes all the same. */
  z.looseObject({ type: z.literal('too-large'), lines: count.optional(), bytes: count, canLoad: z.boolean() }),
  /** Another repository, by its commits. */
  z.looseObject({ type: z.literal('submodule'), oldCommit: side, newCommit: side })
])

const logEntry = z.looseObject({
  id: z.string(),
  parents: z.array(z.string()),
  author: z.string(),
  /** In ms since 1970. */
  at: z.number(),
  subject: z.string()
})

/** Ours: git in the folder of a session. Nothing here talks to another computer. */
export const gitCalls = {
  gitStatus: call(z.looseObject({}), status),
  /** From the last commit to the file as it is; with `commit`, what that one did. `load`: also what is large. */
  gitDiff: call(z.looseObject({ path, from: path.nullish(), commit: commitId.nullish(), load: z.boolean().nullish() }), diff),
  gitStage: call(z.looseObject({ paths }), z.looseObject({ staged: count })),
  gitUnstage: call(z.looseObject({ paths }), z.looseObject({ unstaged: count })),
  /** What is staged, or just `paths`. The hooks of the repository run. */
  gitCommit: call(
    z.looseObject({
      message: z
        .string()
        .min(1)
        .max(64 * 1024),
      paths: paths.nullish()
    }),
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('committed'), id: z.string() }),
      z.looseObject({
        type: z.literal('refused'),
        why: z.enum(['no-identity', 'nothing-staged', 'failed']).catch('failed'),
        says: z.string()
      })
    ])
  ),
  /** Newest first; `skip` leaves out what is known already. */
  gitLog: call(
    z.looseObject({ limit: z.number().int().min(1).max(200), skip: z.number().int().min(0).max(100_000).nullish() }),
    z.looseObject({ commits: z.array(logEntry), hasMore: z.boolean() })
  ),
  /** Against the first parent. */
  gitShow: call(
    z.looseObject({ commit: commitId }),
    z.looseObject({
      ...logEntry.shape,
      body: z.string(),
      files: z.array(changedFile.omit({ isStaged: true, isUnstaged: true, mark: true })),
      isCut: z.boolean().optional()
    })
  )
} as const

export type ChangedFile = z.infer<typeof changedFile>
export type GitStatus = z.infer<typeof status>
export type Repository = Extract<GitStatus, { isRepository: true }>
export type GitDiff = z.infer<typeof diff>
export type LogEntry = z.infer<typeof logEntry>
export type CommitOutcome = z.infer<(typeof gitCalls)['gitCommit']['result']>
export type CommitView = z.infer<(typeof gitCalls)['gitShow']['result']>
export type CommitFile = CommitView['files'][number]

function call<Params extends z.ZodType, Result extends z.ZodType>(params: Params, result: Result) {
  return { params, result }
}
