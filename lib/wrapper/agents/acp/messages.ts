import { basename } from 'node:path'
import * as z from 'zod'
import { fromBase64, toBase64 } from '../../../crypto/bytes.ts'
import type { AgentEvent, Image } from '../agent.ts'
import { imageTypeOf, safeName } from '../attachments.ts'

/**
 * The part of an ACP agent's messages that we read, and nothing more: agents are often newer than this
 * program, so an unknown kind or a field of another shape must cost only that piece, never the message.
 */
const words = z.string().nullish().catch(undefined)
const contentBlock = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: words, mimeType: words, uri: words }),
  z.object({ type: z.literal('audio'), data: words, mimeType: words }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: words }),
  z.object({ type: z.literal('resource'), resource: z.looseObject({ uri: z.string(), text: words, blob: words, mimeType: words }) })
])

const stepContent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('content'), content: contentBlock }),
  z.object({ type: z.literal('diff'), path: z.string(), oldText: z.string().nullish(), newText: z.string() })
])

/** `parentToolUseId` names the step that called the subagent doing this. */
const ofClaude = z
  .looseObject({
    claudeCode: z.looseObject({ toolName: z.string().optional(), parentToolUseId: z.string().nullish() }).optional()
  })
  .nullish()
  .catch(undefined)

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
  _meta: ofClaude
})

const modes = z.object({
  currentModeId: z.string(),
  availableModes: z.array(z.object({ id: z.string(), name: z.string(), description: z.string().nullish() }))
})

const selectValue = z.object({ value: z.string(), name: z.string(), description: z.string().nullish() })
const configOption = z.object({
  id: z.string(),
  name: words,
  description: words,
  type: words,
  category: z.string().nullish(),
  currentValue: z.unknown().optional(),
  options: z
    .array(z.union([selectValue, z.object({ options: z.array(selectValue) })]))
    .optional()
    .catch(undefined)
})
const configOptions = z.array(configOption.optional().catch(undefined)).transform(options => options.filter(option => option !== undefined))
const models = z.object({
  currentModelId: z.string(),
  availableModels: z.array(z.object({ modelId: z.string(), name: z.string(), description: z.string().nullish() }))
})

const chunk = { content: contentBlock.optional().catch(undefined), messageId: z.string().nullish(), _meta: ofClaude }
const planEntry = z.object({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']).catch('pending'),
  priority: z.string().optional().catch(undefined)
})

const plan = z.discriminatedUnion('type', [
  z.object({ type: z.literal('items'), entries: z.array(planEntry) }),
  z.object({ type: z.literal('markdown'), content: z.string() }),
  z.object({ type: z.literal('file'), uri: z.string() })
])

const update = z.discriminatedUnion('sessionUpdate', [
  z.object({ sessionUpdate: z.literal('user_message_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('agent_message_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('agent_thought_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('tool_call'), ...stepUpdate.shape }),
  z.object({ sessionUpdate: z.literal('tool_call_update'), ...stepUpdate.shape }),
  z.object({ sessionUpdate: z.literal('plan'), entries: z.array(planEntry) }),
  z.object({ sessionUpdate: z.literal('plan_update'), plan }),
  z.object({ sessionUpdate: z.literal('plan_removed') }),
  z.object({ sessionUpdate: z.literal('compaction_update'), compactionId: words, status: z.string(), error: z.string().nullish() }),
  z.object({
    sessionUpdate: z.literal('subagent_update'),
    sessionId: z.string(),
    title: z.string().nullish(),
    state: z.object({ state: z.string() }).nullish().catch(undefined)
  }),
  z.object({
    sessionUpdate: z.literal('available_commands_update'),
    availableCommands: z.array(z.object({ name: z.string(), description: z.string().optional().catch(undefined) }))
  }),
  z.object({ sessionUpdate: z.literal('current_mode_update'), currentModeId: z.string() }),
  z.object({ sessionUpdate: z.literal('config_option_update'), configOptions }),
  z.object({ sessionUpdate: z.literal('session_info_update'), title: z.string().nullish() }),
  z.object({
    sessionUpdate: z.literal('usage_update'),
    used: z.number(),
    size: z.number(),
    cost: z.object({ amount: z.number(), currency: z.string() }).nullish().catch(undefined),
    _meta: z.looseObject({ '_claude/rateLimit': z.unknown().optional() }).nullish().catch(undefined)
  }),
  z.object({ sessionUpdate: z.literal('notice'), title: z.string(), description: z.string().nullish() })
])

export const sessionNotification = z.object({ sessionId: z.string(), update: update.optional().catch(undefined) })

const choiceKind = z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always'])
const permissionOption = z.object({ optionId: z.string(), name: z.string(), kind: choiceKind })
export const permissionQuestion = z.object({
  sessionId: z.string(),
  toolCall: stepUpdate,
  // An option of an unknown kind could allow anything: it is not offered.
  options: z.array(permissionOption.optional().catch(undefined))
})

const formOption = z.object({ const: z.string(), title: z.string().nullish(), description: z.string().nullish() })
const formProperty = z.object({
  type: z.string(),
  title: z.string().nullish(),
  description: z.string().nullish(),
  enum: z.array(z.string()).nullish().catch(undefined),
  oneOf: z.array(formOption).nullish().catch(undefined),
  items: z
    .object({ enum: z.array(z.string()).nullish(), anyOf: z.array(formOption).nullish() })
    .nullish()
    .catch(undefined),
  minLength: z.number().nullish().catch(undefined),
  maxLength: z.number().nullish().catch(undefined),
  minimum: z.number().nullish().catch(undefined),
  maximum: z.number().nullish().catch(undefined)
})

const asking = { message: z.string(), toolCallId: z.string().nullish() }
export const elicitation = z.discriminatedUnion('mode', [
  z.object({
    mode: z.literal('form'),
    ...asking,
    requestedSchema: z.object({
      properties: z.record(z.string(), formProperty),
      required: z.array(z.string()).nullish().catch(undefined)
    })
  }),
  z.object({ mode: z.literal('url'), ...asking, url: z.string(), elicitationId: z.string() })
])

export const elicitationDone = z.object({ elicitationId: z.string() })

export const openedSession = z.object({
  sessionId: z.string().optional(),
  modes: modes.nullish().catch(undefined),
  models: models.nullish().catch(undefined),
  configOptions: configOptions.nullish().catch(undefined)
})

export const initialized = z.object({
  protocolVersion: z.number(),
  agentInfo: z.object({ name: z.string(), title: z.string().nullish(), version: z.string() }).nullish().catch(undefined),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().catch(false),
      promptCapabilities: z
        .object({ image: z.boolean().catch(false) })
        .optional()
        .catch(undefined),
      sessionCapabilities: z.object({ resume: z.unknown().optional(), fork: z.unknown().optional() }).optional().catch(undefined)
    })
    .optional()
    .catch(undefined),
  authMethods: z.array(z.object({ name: z.string() })).catch([]),
  _meta: z
    .looseObject({ steering: z.looseObject({ supported: z.boolean().optional() }).optional() })
    .nullish()
    .catch(undefined)
})

/** Of `_session/steering`, which the adapters of Claude Code and Codex support. */
export const steered = z.object({ outcome: z.string() })

export const promptEnded = z.object({ stopReason: z.string() })

export type Update = z.infer<typeof update>
export type StepUpdate = z.infer<typeof stepUpdate>
export type ContentBlock = z.infer<typeof contentBlock>
export type PermissionOption = z.infer<typeof permissionOption>
export type PermissionQuestion = z.infer<typeof permissionQuestion>
export type Elicitation = z.infer<typeof elicitation>
export type OpenedSession = z.infer<typeof openedSession>
export type Initialized = z.infer<typeof initialized>

// A device downloads it whole to show it.
const mostPictureBytes = 8 * 1024 * 1024
const longestAddress = 2000

/** The picture in a block; undefined for anything that the app does not show as one, which `textOf` names. */
export function pictureOf(block: ContentBlock): Extract<AgentEvent, { type: 'picture' }> | undefined {
  const { data, uri, mimeType: said = '' } = bytesOf(block) ?? {}
  if (!data || sizeOf(data) > mostPictureBytes || (block.type !== 'image' && !said?.startsWith('image/'))) return undefined
  const bytes = fromBase64(data)
  const mimeType = bytes && imageTypeOf(bytes)
  if (!bytes || mimeType === undefined) return undefined
  const name = uri && !uri.startsWith('data:') ? safeName(basename(uri)) : `picture.${mimeType.slice('image/'.length)}`
  return { type: 'picture', name, mimeType, bytes }
}

/** Any block as text: content that is not text is named. */
export function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${[block.type, ...aboutOf(block)].join(', ')}]`
    case 'resource_link': {
      const isLong = block.uri.length > longestAddress
      return isLong ? `[${block.name ?? 'a resource'}]` : `[${block.name ?? block.uri}](${block.uri})`
    }
    case 'resource':
      return block.resource.text ?? `[${[block.resource.uri.slice(0, longestAddress), ...aboutOf(block)].join(', ')}]`
  }
}

/** The input for an agent. */
export function blocksOf(text: string, images: readonly Image[]) {
  const shown = images.map(({ mimeType, bytes }) => ({ type: 'image' as const, mimeType, data: toBase64(bytes) }))
  return [...shown, { type: 'text' as const, text }]
}

function bytesOf(block: ContentBlock) {
  switch (block.type) {
    case 'image':
      return block
    case 'audio':
      return { ...block, uri: undefined }
    case 'resource': {
      const { blob, uri, mimeType } = block.resource
      return { data: blob, uri, mimeType }
    }
    default:
      return undefined
  }
}

function aboutOf(block: ContentBlock): string[] {
  const { data, mimeType } = bytesOf(block) ?? {}
  return [...(mimeType ? [mimeType] : []), ...(data ? [`${Math.ceil(sizeOf(data) / 1024)} kB`] : [])]
}

function sizeOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4)
}
