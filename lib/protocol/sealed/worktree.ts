import * as z from 'zod'

/** A copy of a repository that was made for a session. */
export const worktree = z.looseObject({
  path: z.string(),
  branch: z.string(),
  /** The repository it belongs to, and the commit it began at. */
  repository: z.string(),
  base: z.string()
})

export type Worktree = z.infer<typeof worktree>
