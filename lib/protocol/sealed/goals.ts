import * as v from '../../schema.ts'

const about = {
  source: v.picklist(['claude', 'codex']),
  observedAt: v.pipe(v.int(), v.minValue(0)),
  /** The conversation of the agent in which it is; one of another is over. */
  sourceSessionId: v.optional(v.pipe(v.string(), v.minLength(1))),
  sourceRevision: v.optional(v.union([v.pipe(v.string(), v.minLength(1)), v.number()]))
}

/**
 * What an agent works towards until it is so. Existing apps read none of a state in which this has a field they do not
 * know: nothing of ours is added.
 */
export const agentGoalStatus = v.variant('status', [
  v.object({ ...about, status: v.literal('unavailable'), reason: v.optional(v.string()) }),
  v.object({ ...about, status: v.literal('inactive'), reason: v.optional(v.picklist(['none', 'cleared', 'completed', 'unknown'])) }),
  v.object({
    ...about,
    status: v.literal('active'),
    sourceSessionId: v.pipe(v.string(), v.minLength(1)),
    text: v.pipe(v.string(), v.minLength(1)),
    capabilities: v.optional(v.object({ clear: v.optional(v.boolean()), stop: v.optional(v.boolean()), edit: v.optional(v.boolean()) })),
    progress: v.optional(v.unknown())
  })
])

/** `objective` is what an edited goal shall be. No agent takes `stop`. */
export const goalAction = v.looseObject({ action: v.picklist(['clear', 'edit', 'stop']), objective: v.optional(v.string()) })

export type AgentGoalStatus = v.InferOutput<typeof agentGoalStatus>
