import { z } from 'zod'

/**
 * What we read of the messages of an ACP agent, and nothing more: agents are newer than this program more often than
 * not, so an unknown kind or a field of another shape must cost that piece only, never the message.
 */
const contentBlock = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image') }),
  z.object({ type: z.literal('audio') }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string().optional() }),
  z.object({ type: z.literal('resource'), resource: z.looseObject({ uri: z.string(), text: z.string().optional() }) })
])

const stepContent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('content'), content: contentBlock }),
  z.object({ type: z.literal('diff'), path: z.string(), oldText: z.string().nullish(), newText: z.string() })
])

const stepUpdate = z.object({
  toolCallId: z.string(),
  title: z.string().nullish(),
  name: z.string().nullish(),
  kind: z.string().nullish(),
  status: z.string().nullish(),
  content: z.array(stepContent.optional().catch(undefined)).nullish().catch(undefined),
  locations: z
    .array(z.object({ path: z.string() }))
    .nullish()
    .catch(undefined),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: z
    .looseObject({ claudeCode: z.looseObject({ toolName: z.string().optional() }).optional() })
    .nullish()
    .catch(undefined)
})

const modes = z.object({
  currentModeId: z.string(),
  availableModes: z.array(z.object({ id: z.string(), name: z.string(), description: z.string().nullish() }))
})

const selectValue = z.object({ value: z.string(), name: z.string(), description: z.string().nullish() })
const configOption = z.object({
  id: z.string(),
  category: z.string().nullish(),
  currentValue: z.unknown().optional(),
  options: z
    .array(z.union([selectValue, z.object({ options: z.array(selectValue) })]))
    .optional()
    .catch(undefined)
})
const configOptions = z.array(configOption)

const chunk = { content: contentBlock.optional().catch(undefined), messageId: z.string().nullish() }
const planEntry = z.object({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']).catch('pending'),
  priority: z.string().optional().catch(undefined)
})

const update = z.discriminatedUnion('sessionUpdate', [
  z.object({ sessionUpdate: z.literal('agent_message_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('agent_thought_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('tool_call'), ...stepUpdate.shape }),
  z.object({ sessionUpdate: z.literal('tool_call_update'), ...stepUpdate.shape }),
  z.object({ sessionUpdate: z.literal('plan'), entries: z.array(planEntry) }),
  z.object({ sessionUpdate: z.literal('available_commands_update'), availableCommands: z.array(z.object({ name: z.string() })) }),
  z.object({ sessionUpdate: z.literal('current_mode_update'), currentModeId: z.string() }),
  z.object({ sessionUpdate: z.literal('config_option_update'), configOptions }),
  z.object({ sessionUpdate: z.literal('session_info_update'), title: z.string().nullish() }),
  z.object({ sessionUpdate: z.literal('usage_update'), used: z.number(), size: z.number() }),
  z.object({ sessionUpdate: z.literal('notice'), title: z.string(), description: z.string().nullish() })
])

export const sessionNotification = z.object({ sessionId: z.string(), update: update.optional().catch(undefined) })

const choiceKind = z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always'])
export const permissionQuestion = z.object({
  sessionId: z.string(),
  toolCall: stepUpdate,
  // An option of a kind we do not know could allow anything: it is not offered.
  options: z.array(z.object({ optionId: z.string(), name: z.string(), kind: choiceKind }).optional().catch(undefined))
})

export const openedSession = z.object({
  sessionId: z.string().optional(),
  modes: modes.nullish().catch(undefined),
  configOptions: configOptions.nullish().catch(undefined)
})

export const initialized = z.object({
  protocolVersion: z.number(),
  agentInfo: z.object({ name: z.string(), title: z.string().nullish(), version: z.string() }).nullish().catch(undefined),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().catch(false),
      sessionCapabilities: z.object({ resume: z.unknown().optional() }).optional().catch(undefined)
    })
    .optional()
    .catch(undefined),
  authMethods: z.array(z.object({ name: z.string() })).catch([])
})

export const promptEnded = z.object({ stopReason: z.string() })

export type Update = z.infer<typeof update>
export type StepUpdate = z.infer<typeof stepUpdate>
export type ContentBlock = z.infer<typeof contentBlock>
export type PermissionQuestion = z.infer<typeof permissionQuestion>
export type OpenedSession = z.infer<typeof openedSession>
export type Initialized = z.infer<typeof initialized>
