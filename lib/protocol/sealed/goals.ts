import * as v from '../../schema.ts'

const about = {
  source: v.picklist(['claude', 'codex']),
  observedAt: v.pipe(v.int(), v.minValue(0)),
  /** The agent's conversation that it belongs to; a goal of another conversation is over. */
  sourceSessionId: v.optional(v.pipe(v.string(), v.minLength(1))),
  sourceRevision: v.optional(v.union([v.pipe(v.string(), v.minLength(1)), v.number()]))
}

/**
 * The goal of an agent. Existing apps reject a state in which this has a field they do not
 * know, so we add none.
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

/** `objective` is the new text of an edited goal. No agent accepts `stop`. */
export const goalAction = v.looseObject({ action: v.picklist(['clear', 'edit', 'stop']), objective: v.optional(v.string()) })

export type AgentGoalStatus = v.InferOutput<typeof agentGoalStatus>
