import * as v from '../../schema.ts'

/** A copy of a repository made for a session. */
export const worktree = v.looseObject({
  path: v.string(),
  branch: v.string(),
  /** Its repository, and the commit it is based on. */
  repository: v.string(),
  base: v.string()
})

export type Worktree = v.InferOutput<typeof worktree>
