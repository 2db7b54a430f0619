import * as z from 'zod'
import { stepContent, stepKind } from './messages.ts'

const choice = z.looseObject({ code: z.string(), value: z.string(), description: z.string().nullish() })

/** What a session tells about itself. Unknown fields are kept, so that read-modify-write keeps those of newer clients. */
export const sessionMetadata = z.looseObject({
  path: z.string(),
  host: z.string(),
  version: z.string().optional(),
  os: z.string().optional(),
  name: z.string().optional(),
  machineId: z.string().optional(),
  homeDir: z.string().optional(),
  happyHomeDir: z.string().optional(),
  flavor: z.string().nullish(),
  startedBy: z.string().optional(),
  hostPid: z.number().optional(),
  lifecycleState: z.string().optional(),
  lifecycleStateSince: z.number().optional(),
  summary: z.looseObject({ text: z.string(), updatedAt: z.number() }).optional(),
  gitBranch: z.string().nullish(),
  operatingModes: z.array(choice).optional().catch(undefined),
  currentOperatingModeCode: z.string().nullish(),
  models: z.array(choice).optional().catch(undefined),
  currentModelCode: z.string().nullish(),
  slashCommands: z.array(z.string()).optional().catch(undefined),
  /** Written by the app: the mode a person picked. */
  permissionMode: z.string().nullish(),
  /** Ours: the id by which the agent itself knows the conversation, and what to call the agent on screen. */
  agentSessionId: z.string().optional(),
  agentTitle: z.string().optional()
})

/** One way to answer a permission, as the agent offered it. */
export const permissionChoice = z.object({
  id: z.string(),
  label: z.string(),
  kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always'])
})

export const permissionRequest = z.looseObject({
  tool: z.string(),
  arguments: z.unknown(),
  createdAt: z.number(),
  toolUseId: z.string().optional(),
  /** Ours: what a decision needs to be made on. `shown` is the hash an answer must name. */
  title: z.string().optional(),
  kind: stepKind.optional().catch(undefined),
  content: z.array(stepContent).optional().catch(undefined),
  locations: z.array(z.string()).optional().catch(undefined),
  choices: z.array(permissionChoice).optional().catch(undefined),
  shown: z.string().optional()
})

export const completedRequest = z.looseObject({
  tool: z.string(),
  arguments: z.unknown(),
  createdAt: z.number(),
  completedAt: z.number(),
  status: z.enum(['approved', 'denied', 'canceled']),
  reason: z.string().nullish(),
  mode: z.string().nullish(),
  decision: z.enum(['approved', 'approved_for_session', 'denied', 'abort']).nullish(),
  toolUseId: z.string().optional(),
  title: z.string().optional(),
  /** Ours: the device that answered, as it names itself. */
  answeredBy: z.string().optional()
})

/** What an agent waits for, and whether the terminal or the phone has the keyboard. */
export const agentState = z.looseObject({
  controlledByUser: z.boolean().nullish(),
  requests: z.record(z.string(), permissionRequest).nullish(),
  completedRequests: z.record(z.string(), completedRequest).nullish()
})

export type Choice = z.infer<typeof choice>
export type SessionMetadata = z.infer<typeof sessionMetadata>
export type PermissionChoice = z.infer<typeof permissionChoice>
export type PermissionRequest = z.infer<typeof permissionRequest>
export type CompletedRequest = z.infer<typeof completedRequest>
export type AgentState = z.infer<typeof agentState>
