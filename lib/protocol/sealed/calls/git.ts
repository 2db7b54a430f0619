import * as v from '../../../schema.ts'

/** Relative to the session's folder, with `/` as separator. */
const path = v.pipe(v.string(), v.minLength(1), v.maxLength(4096))
const paths = v.pipe(v.array(path), v.minLength(1), v.maxLength(1000))
const commitId = v.pipe(v.string(), v.regex(/^[0-9a-f]{4,64}$/))
const count = v.pipe(v.int(), v.minValue(0))

/** Modified, added, deleted, renamed, untracked, or in conflict. Open-ended for letters of newer wrappers. */
const letter = v.fallback(v.picklist(['M', 'A', 'D', 'R', '?', 'U']), 'M')

export const changedFile = v.looseObject({
  path,
  /** The previous path, if it was renamed. */
  from: v.optional(path),
  letter,
  isStaged: v.boolean(),
  isUnstaged: v.boolean(),
  /** Lines; undefined if they were not counted. */
  added: v.optional(count),
  removed: v.optional(count),
  isBinary: v.optional(v.boolean()),
  /** Changes when the file looks different. */
  mark: v.optional(v.string())
})

const status = v.union([
  /** `no-git`: the program is not installed. */
  v.looseObject({ isRepository: v.literal(false), why: v.fallback(v.picklist(['no-git', 'no-repository']), 'no-repository') }),
  v.looseObject({
    isRepository: v.literal(true),
    /** Null if no branch is checked out. */
    branch: v.nullable(v.string()),
    /** Null before the first commit. */
    head: v.nullable(v.string()),
    upstream: v.nullable(v.string()),
    ahead: count,
    behind: count,
    files: v.array(changedFile),
    /** The list is incomplete. */
    isCut: v.optional(v.boolean())
  })
])

const side = v.nullable(v.string())
const diff = v.variant('type', [
  /** Null if there is no such file. */
  v.looseObject({ type: v.literal('text'), oldText: side, newText: side }),
  /** Bytes in base64. */
  v.looseObject({ type: v.literal('image'), mime: v.string(), oldBytes: side, newBytes: side }),
  v.looseObject({ type: v.literal('binary'), oldSize: v.nullable(count), newSize: v.nullable(count) }),
  /** `canLoad`: it can be requested with `load`. */
  v.looseObject({ type: v.literal('too-large'), lines: v.optional(count), bytes: count, canLoad: v.boolean() }),
  /** A submodule, by its commits. */
  v.looseObject({ type: v.literal('submodule'), oldCommit: side, newCommit: side })
])

const logEntry = v.looseObject({
  id: v.string(),
  parents: v.array(v.string()),
  author: v.string(),
  /** In ms since 1970. */
  at: v.number(),
  subject: v.string()
})

/** Ours: git in the folder of a session. No method contacts another computer. */
export const gitCalls = {
  gitStatus: call(v.looseObject({}), status),
  /** From the last commit to the current file; with `commit`, the changes of that one. `load`: also large files. */
  gitDiff: call(v.looseObject({ path, from: v.nullish(path), commit: v.nullish(commitId), load: v.nullish(v.boolean()) }), diff),
  gitStage: call(v.looseObject({ paths }), v.looseObject({ staged: count })),
  gitUnstage: call(v.looseObject({ paths }), v.looseObject({ unstaged: count })),
  /** Commits the staged files, or just `paths`. The hooks of the repository run. */
  gitCommit: call(
    v.looseObject({
      message: v.pipe(v.string(), v.minLength(1), v.maxLength(64 * 1024)),
      paths: v.nullish(paths)
    }),
    v.variant('type', [
      v.looseObject({ type: v.literal('committed'), id: v.string() }),
      v.looseObject({
        type: v.literal('refused'),
        why: v.fallback(v.picklist(['no-identity', 'nothing-staged', 'failed']), 'failed'),
        says: v.string()
      })
    ])
  ),
  /** Newest first; `skip` omits known ones. */
  gitLog: call(
    v.looseObject({
      limit: v.pipe(v.int(), v.minValue(1), v.maxValue(200)),
      skip: v.nullish(v.pipe(v.int(), v.minValue(0), v.maxValue(100_000)))
    }),
    v.looseObject({ commits: v.array(logEntry), hasMore: v.boolean() })
  ),
  /** Against the first parent. */
  gitShow: call(
    v.looseObject({ commit: commitId }),
    v.looseObject({
      ...logEntry.entries,
      body: v.string(),
      files: v.array(v.omit(changedFile, ['isStaged', 'isUnstaged', 'mark'])),
      isCut: v.optional(v.boolean())
    })
  )
} as const

export type ChangedFile = v.InferOutput<typeof changedFile>
export type GitStatus = v.InferOutput<typeof status>
export type Repository = Extract<GitStatus, { isRepository: true }>
export type GitDiff = v.InferOutput<typeof diff>
export type LogEntry = v.InferOutput<typeof logEntry>
export type CommitOutcome = v.InferOutput<(typeof gitCalls)['gitCommit']['result']>
export type CommitView = v.InferOutput<(typeof gitCalls)['gitShow']['result']>
export type CommitFile = CommitView['files'][number]

function call<Params extends v.GenericSchema, Result extends v.GenericSchema>(params: Params, result: Result) {
  return { params, result }
}
