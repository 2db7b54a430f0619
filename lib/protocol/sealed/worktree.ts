import * as v from '../../schema.ts'

/** A copy of a repository that was made for a session. */
export const worktree = v.looseObject({
  path: v.string(),
  branch: v.string(),
  /** The repository it belongs to, and the commit it began at. */
  repository: v.string(),
  base: v.string()
})

export type Worktree = v.InferOutput<typeof worktree>
