import { basename } from 'node:path'
import { fromBase64, toBase64 } from '../../../crypto/bytes.ts'
import * as v from '../../../schema.ts'
import type { AgentEvent, Image } from '../agent.ts'
import { imageTypeOf, safeName } from '../attachments.ts'

/**
 * The part of an ACP agent's messages that we read, and nothing more: agents are often newer than this
 * program, so an unknown kind or a field of another shape must cost only that piece, never the message.
 */
const words = v.fallback(v.nullish(v.string()), undefined)
const contentBlock = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.string() }),
  v.object({ type: v.literal('image'), data: words, mimeType: words, uri: words }),
  v.object({ type: v.literal('audio'), data: words, mimeType: words }),
  v.object({ type: v.literal('resource_link'), uri: v.string(), name: words }),
  v.object({ type: v.literal('resource'), resource: v.looseObject({ uri: v.string(), text: words, blob: words, mimeType: words }) })
])

const stepContent = v.variant('type', [
  v.object({ type: v.literal('content'), content: contentBlock }),
  v.object({ type: v.literal('diff'), path: v.string(), oldText: v.nullish(v.string()), newText: v.string() })
])

/** `parentToolUseId` names the step that called the subagent doing this. */
const ofClaude = v.fallback(
  v.nullish(
    v.looseObject({
      claudeCode: v.optional(v.looseObject({ toolName: v.optional(v.string()), parentToolUseId: v.nullish(v.string()) }))
    })
  ),
  undefined
)

const stepUpdate = v.object({
  toolCallId: v.string(),
  title: v.nullish(v.string()),
  name: v.nullish(v.string()),
  kind: v.nullish(v.string()),
  status: v.nullish(v.string()),
  content: v.fallback(v.nullish(v.array(v.fallback(v.optional(stepContent), undefined))), undefined),
  locations: v.fallback(v.nullish(v.array(v.object({ path: v.string() }))), undefined),
  rawInput: v.optional(v.unknown()),
  rawOutput: v.optional(v.unknown()),
  _meta: ofClaude
})

const modes = v.object({
  currentModeId: v.string(),
  availableModes: v.array(v.object({ id: v.string(), name: v.string(), description: v.nullish(v.string()) }))
})

const selectValue = v.object({ value: v.string(), name: v.string(), description: v.nullish(v.string()) })
const configOption = v.object({
  id: v.string(),
  name: words,
  description: words,
  type: words,
  category: v.nullish(v.string()),
  currentValue: v.optional(v.unknown()),
  options: v.fallback(v.optional(v.array(v.union([selectValue, v.object({ options: v.array(selectValue) })]))), undefined)
})
const configOptions = v.pipe(
  v.array(v.fallback(v.optional(configOption), undefined)),
  v.transform(options => options.filter(option => option !== undefined))
)
const models = v.object({
  currentModelId: v.string(),
  availableModels: v.array(v.object({ modelId: v.string(), name: v.string(), description: v.nullish(v.string()) }))
})

const chunk = { content: v.fallback(v.optional(contentBlock), undefined), messageId: v.nullish(v.string()), _meta: ofClaude }
const planEntry = v.object({
  content: v.string(),
  status: v.fallback(v.picklist(['pending', 'in_progress', 'completed']), 'pending'),
  priority: v.fallback(v.optional(v.string()), undefined)
})

const plan = v.variant('type', [
  v.object({ type: v.literal('items'), entries: v.array(planEntry) }),
  v.object({ type: v.literal('markdown'), content: v.string() }),
  v.object({ type: v.literal('file'), uri: v.string() })
])

const update = v.variant('sessionUpdate', [
  v.object({ sessionUpdate: v.literal('user_message_chunk'), ...chunk }),
  v.object({ sessionUpdate: v.literal('agent_message_chunk'), ...chunk }),
  v.object({ sessionUpdate: v.literal('agent_thought_chunk'), ...chunk }),
  v.object({ sessionUpdate: v.literal('tool_call'), ...stepUpdate.entries }),
  v.object({ sessionUpdate: v.literal('tool_call_update'), ...stepUpdate.entries }),
  v.object({ sessionUpdate: v.literal('plan'), entries: v.array(planEntry) }),
  v.object({ sessionUpdate: v.literal('plan_update'), plan }),
  v.object({ sessionUpdate: v.literal('plan_removed') }),
  v.object({ sessionUpdate: v.literal('compaction_update'), compactionId: words, status: v.string(), error: v.nullish(v.string()) }),
  v.object({
    sessionUpdate: v.literal('subagent_update'),
    sessionId: v.string(),
    title: v.nullish(v.string()),
    state: v.fallback(v.nullish(v.object({ state: v.string() })), undefined)
  }),
  v.object({
    sessionUpdate: v.literal('available_commands_update'),
    availableCommands: v.array(v.object({ name: v.string(), description: v.fallback(v.optional(v.string()), undefined) }))
  }),
  v.object({ sessionUpdate: v.literal('current_mode_update'), currentModeId: v.string() }),
  v.object({ sessionUpdate: v.literal('config_option_update'), configOptions }),
  v.object({ sessionUpdate: v.literal('session_info_update'), title: v.nullish(v.string()) }),
  v.object({
    sessionUpdate: v.literal('usage_update'),
    used: v.number(),
    size: v.number(),
    cost: v.fallback(v.nullish(v.object({ amount: v.number(), currency: v.string() })), undefined),
    _meta: v.fallback(v.nullish(v.looseObject({ '_claude/rateLimit': v.optional(v.unknown()) })), undefined)
  }),
  v.object({ sessionUpdate: v.literal('notice'), title: v.string(), description: v.nullish(v.string()) })
])

export const sessionNotification = v.object({ sessionId: v.string(), update: v.fallback(v.optional(update), undefined) })

const choiceKind = v.picklist(['allow_once', 'allow_always', 'reject_once', 'reject_always'])
const permissionOption = v.object({ optionId: v.string(), name: v.string(), kind: choiceKind })
export const permissionQuestion = v.object({
  sessionId: v.string(),
  toolCall: stepUpdate,
  // An option of an unknown kind could allow anything: it is not offered.
  options: v.array(v.fallback(v.optional(permissionOption), undefined))
})

const formOption = v.object({ const: v.string(), title: v.nullish(v.string()), description: v.nullish(v.string()) })
const formProperty = v.object({
  type: v.string(),
  title: v.nullish(v.string()),
  description: v.nullish(v.string()),
  enum: v.fallback(v.nullish(v.array(v.string())), undefined),
  oneOf: v.fallback(v.nullish(v.array(formOption)), undefined),
  items: v.fallback(v.nullish(v.object({ enum: v.nullish(v.array(v.string())), anyOf: v.nullish(v.array(formOption)) })), undefined),
  minLength: v.fallback(v.nullish(v.number()), undefined),
  maxLength: v.fallback(v.nullish(v.number()), undefined),
  minimum: v.fallback(v.nullish(v.number()), undefined),
  maximum: v.fallback(v.nullish(v.number()), undefined)
})

const asking = { message: v.string(), toolCallId: v.nullish(v.string()) }
export const elicitation = v.variant('mode', [
  v.object({
    mode: v.literal('form'),
    ...asking,
    requestedSchema: v.object({
      properties: v.record(v.string(), formProperty),
      required: v.fallback(v.nullish(v.array(v.string())), undefined)
    })
  }),
  v.object({ mode: v.literal('url'), ...asking, url: v.string(), elicitationId: v.string() })
])

export const elicitationDone = v.object({ elicitationId: v.string() })

export const openedSession = v.object({
  sessionId: v.optional(v.string()),
  modes: v.fallback(v.nullish(modes), undefined),
  models: v.fallback(v.nullish(models), undefined),
  configOptions: v.fallback(v.nullish(configOptions), undefined)
})

export const initialized = v.object({
  protocolVersion: v.number(),
  agentInfo: v.fallback(v.nullish(v.object({ name: v.string(), title: v.nullish(v.string()), version: v.string() })), undefined),
  agentCapabilities: v.fallback(
    v.optional(
      v.object({
        loadSession: v.fallback(v.boolean(), false),
        promptCapabilities: v.fallback(v.optional(v.object({ image: v.fallback(v.boolean(), false) })), undefined),
        sessionCapabilities: v.fallback(v.optional(v.object({ resume: v.optional(v.unknown()), fork: v.optional(v.unknown()) })), undefined)
      })
    ),
    undefined
  ),
  authMethods: v.fallback(v.array(v.object({ name: v.string() })), []),
  _meta: v.fallback(v.nullish(v.looseObject({ steering: v.optional(v.looseObject({ supported: v.optional(v.boolean()) })) })), undefined)
})

/** Of `_session/steering`, which the adapters of Claude Code and Codex support. */
export const steered = v.object({ outcome: v.string() })

export const promptEnded = v.object({ stopReason: v.string() })

export type Update = v.InferOutput<typeof update>
export type StepUpdate = v.InferOutput<typeof stepUpdate>
export type ContentBlock = v.InferOutput<typeof contentBlock>
export type PermissionOption = v.InferOutput<typeof permissionOption>
export type PermissionQuestion = v.InferOutput<typeof permissionQuestion>
export type Elicitation = v.InferOutput<typeof elicitation>
export type OpenedSession = v.InferOutput<typeof openedSession>
export type Initialized = v.InferOutput<typeof initialized>

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
