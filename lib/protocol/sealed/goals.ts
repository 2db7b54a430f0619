import * as z from 'zod'

const about = {
  source: z.enum(['claude', 'codex']),
  observedAt: z.int().nonnegative(),
  /** The conversation of the agent in which it is; one of another is over. */
  sourceSessionId: z.string().min(1).optional(),
  sourceRevision: z.union([z.string().min(1), z.number()]).optional()
}

/**
 * What an agent works towards until it is so. Existing apps read none of a state in which this has a field they do not
 * know: nothing of ours is added.
 */
export const agentGoalStatus = z.discriminatedUnion('status', [
  z.object({ ...about, status: z.literal('unavailable'), reason: z.string().optional() }),
  z.object({ ...about, status: z.literal('inactive'), reason: z.enum(['none', 'cleared', 'completed', 'unknown']).optional() }),
  z.object({
    ...about,
    status: z.literal('active'),
    sourceSessionId: z.string().min(1),
    text: z.string().min(1),
    capabilities: z.object({ clear: z.boolean().optional(), stop: z.boolean().optional(), edit: z.boolean().optional() }).optional(),
    progress: z.unknown().optional()
  })
])

/** `objective` is what an edited goal shall be. No agent takes `stop`. */
export const goalAction = z.looseObject({ action: z.enum(['clear', 'edit', 'stop']), objective: z.string().optional() })

export type AgentGoalStatus = z.infer<typeof agentGoalStatus>
