import * as z from 'zod'

/** How an agent is started, as it is kept with its session so that another process can start it again. */
export const agentProgram = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('claude') }),
  z.object({ kind: z.literal('codex') }),
  z.object({ kind: z.literal('demo') }),
  z.object({ kind: z.literal('opencode') }),
  z.object({ kind: z.literal('acp'), command: z.string(), args: z.array(z.string()) })
])

export type AgentProgram = z.infer<typeof agentProgram>
