import type { AgentGoalStatus } from '../../../../protocol/sealed/goals.ts'
import * as v from '../../../../schema.ts'
import { goalOf, goalRow } from './goals.ts'

const block = v.variant('type', [
  v.looseObject({ type: v.literal('text'), text: v.string() }),
  v.looseObject({ type: v.literal('thinking'), thinking: v.string() }),
  v.looseObject({
    type: v.literal('tool_use'),
    id: v.string(),
    name: v.string(),
    input: v.fallback(v.record(v.string(), v.unknown()), {})
  }),
  v.looseObject({
    type: v.literal('tool_result'),
    tool_use_id: v.string(),
    is_error: v.fallback(v.optional(v.boolean()), undefined),
    content: v.unknown()
  })
])

const tokens = v.fallback(v.nullish(v.pipe(v.number(), v.minValue(0))), undefined)
const usage = v.looseObject({
  input_tokens: v.pipe(v.number(), v.minValue(0)),
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens
})

const turnRow = v.looseObject({
  type: v.picklist(['user', 'assistant']),
  uuid: v.string(),
  timestamp: v.fallback(v.optional(v.string()), undefined),
  isMeta: v.optional(v.boolean()),
  isSidechain: v.optional(v.boolean()),
  isApiErrorMessage: v.optional(v.boolean()),
  /** An earlier part, summarized for the model. */
  isCompactSummary: v.optional(v.boolean()),
  /** The requested model; the one that answered may have another name. */
  requestedModel: v.fallback(v.optional(v.string()), undefined),
  /** Of a web fetch, among what other tools record there. */
  toolUseResult: v.fallback(v.optional(v.looseObject({ code: v.int(), bytes: v.int() })), undefined),
  message: v.looseObject({
    id: v.optional(v.string()),
    model: v.optional(v.string()),
    stop_reason: v.fallback(v.nullish(v.string()), undefined),
    usage: v.fallback(v.optional(usage), undefined),
    content: v.union([v.string(), v.array(v.unknown())])
  })
})
/** Input from a person during a turn, accepted into it. */
const queuedRow = v.looseObject({
  type: v.literal('attachment'),
  uuid: v.string(),
  timestamp: v.fallback(v.optional(v.string()), undefined),
  isSidechain: v.optional(v.boolean()),
  attachment: v.looseObject({
    type: v.literal('queued_command'),
    commandMode: v.literal('prompt'),
    prompt: v.union([v.string(), v.array(v.unknown())]),
    origin: v.optional(v.looseObject({ kind: v.literal('human') }))
  })
})
const modeRow = v.looseObject({ type: v.literal('permission-mode'), permissionMode: v.string() })

const titleRow = v.union([
  v.looseObject({ type: v.literal('custom-title'), customTitle: v.pipe(v.string(), v.minLength(1)) }),
  v.looseObject({ type: v.literal('ai-title'), aiTitle: v.pipe(v.string(), v.minLength(1)) })
])

export type Block = v.InferOutput<typeof block>

/**
 * One entry of a transcript line. `uuid` and `index` identify it permanently: a line is copied when a
 * conversation is resumed.
 */
export type Row =
  | { type: 'mode'; mode: string }
  | { type: 'interrupted' }
  | { type: 'title'; title: string; byPerson: boolean }
  | { type: 'goal'; goal: AgentGoalStatus }
  /** Tokens in the last request to this model. */
  | { type: 'usage'; used: number; model: string }
  /** A command was run; some of them start a turn as if their text were a prompt. */
  | { type: 'command'; uuid: string; index: number; text: string }
  /** `isLast`: nothing follows it in its turn. */
  | { type: 'block'; by: 'user' | 'assistant'; uuid: string; index: number; block: Block; isLast: boolean; fetched?: Fetched }

/** The status and size of a web fetch. */
export interface Fetched {
  readonly code: number
  readonly bytes: number
}

/**
 * The content of a transcript line; nothing for the many lines Claude Code writes for itself, and for those
 * from before `since`, in milliseconds since 1970.
 */
export function readRow(line: string, since: number): Row[] {
  const value = v.jsonOf(line)
  const mode = v.safeParse(modeRow, value)
  if (mode.success) return [{ type: 'mode', mode: mode.data.permissionMode }]
  const title = v.safeParse(titleRow, value)
  if (title.success) return [titleOf(title.data)]
  const goal = v.safeParse(goalRow, value)
  if (goal.success) return [{ type: 'goal', goal: goalOf(goal.data) }]
  const queued = v.safeParse(queuedRow, value)
  if (queued.success) return queuedOf(queued.data, since)
  const { data: row } = v.safeParse(turnRow, value)
  if (!row || row.isMeta || row.isSidechain || row.isCompactSummary) return []
  if (row.timestamp !== undefined && Date.parse(row.timestamp) < since) return []
  // Added by every resume after a turn that was cut off; API errors come this way too and count.
  if (row.message.model === '<synthetic>' && !row.isApiErrorMessage) return []
  const { content } = row.message
  const fetched = row.toolUseResult
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const said = blocks.flatMap((item, index): Row[] => {
    const { data } = v.safeParse(block, item)
    if (!data) return []
    if (row.type === 'user' && data.type === 'text') {
      if (/^\[Request interrupted by user/.test(data.text)) return [{ type: 'interrupted' }]
      const command = commandIn(data.text)
      if (command !== undefined) return [{ type: 'command', uuid: row.uuid, index, text: command }]
      if (isOwnTalk(data.text)) return []
      data.text = withoutPasteMarks(data.text)
    }
    const isLast = row.message.stop_reason === 'end_turn' && index === blocks.length - 1
    return [{ type: 'block', by: row.type, uuid: row.uuid, index, block: data, isLast, ...(fetched && { fetched }) }]
  })
  const used = row.type === 'assistant' ? usageOf(row) : []
  return [...used, ...said]
}

/** The text of a command that starts a turn. */
export function promptOf({ uuid, index, text }: Extract<Row, { type: 'command' }>): Extract<Row, { type: 'block' }> {
  return { type: 'block', by: 'user', uuid, index, block: { type: 'text', text }, isLast: false }
}

function usageOf({ message, requestedModel }: v.InferOutput<typeof turnRow>): Row[] {
  const { usage, model } = message
  if (!usage || model === undefined || model === '<synthetic>') return []
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage
  const used = input_tokens + (output_tokens ?? 0) + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0)
  return [{ type: 'usage', used, model: requestedModel ?? model }]
}

function queuedOf({ uuid, timestamp, isSidechain, attachment: { prompt } }: v.InferOutput<typeof queuedRow>, since: number): Row[] {
  if (isSidechain || (timestamp !== undefined && Date.parse(timestamp) < since)) return []
  const text = withoutPasteMarks(typeof prompt === 'string' ? prompt : resultText(prompt))
  return text.trim() === '' ? [] : [{ type: 'block', by: 'user', uuid, index: 0, block: { type: 'text', text }, isLast: false }]
}

function titleOf(row: v.InferOutput<typeof titleRow>): Row {
  const byPerson = row.type === 'custom-title'
  return { type: 'title', title: byPerson ? row.customTitle : row.aiTitle, byPerson }
}

/** The result of a tool, as text. */
export function resultText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap(item => (isText(item) ? item.text : [])).join('\n')
}

function isText(item: unknown): item is { text: string } {
  return typeof item === 'object' && item !== null && 'text' in item && typeof item.text === 'string'
}

// Terminal commands and their output are recorded as if a person had written them.
function isOwnTalk(text: string): boolean {
  return /^<(command-name|command-message|command-args|local-command-stdout|local-command-stderr|local-command-caveat|system-reminder|task-notification)>/.test(
    text.trimStart()
  )
}

/** As typed. */
function commandIn(text: string): string | undefined {
  if (!/^\s*<command-(name|message)>/.test(text)) return undefined
  const [, name] = /<command-name>\/?([^<]*)<\/command-name>/.exec(text) ?? []
  const [, args = ''] = /<command-args>([\s\S]*)<\/command-args>/.exec(text) ?? []
  return name ? `/${name} ${args}`.trim() : undefined
}

/** The text of a prompt in which Claude Code has marked what was pasted, as it does with a long one. */
export function withoutPasteMarks(text: string): string {
  return marks.test(text) ? text.replace(eachMark, '').replace(/^\n+/, '') : text
}

const marks = /<pasted_content id="[^"]*">/
const eachMark = /\n?<\/?pasted_content(?: id="[^"]*")?>\n?/g
