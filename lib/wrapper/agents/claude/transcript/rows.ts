import * as z from 'zod'
import type { AgentGoalStatus } from '../../../../protocol/sealed/goals.ts'
import { goalOf, goalRow } from './goals.ts'

const block = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('thinking'), thinking: z.string() }),
  z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()).catch({}) }),
  z.looseObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    is_error: z.boolean().optional().catch(undefined),
    content: z.unknown()
  })
])

const tokens = z.number().nonnegative().nullish().catch(undefined)
const usage = z.looseObject({
  input_tokens: z.number().nonnegative(),
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens
})

const turnRow = z.looseObject({
  type: z.enum(['user', 'assistant']),
  uuid: z.string(),
  timestamp: z.string().optional().catch(undefined),
  isMeta: z.boolean().optional(),
  isSidechain: z.boolean().optional(),
  isApiErrorMessage: z.boolean().optional(),
  /** An earlier part, summarized for the model. */
  isCompactSummary: z.boolean().optional(),
  /** The requested model; the one that answered may have another name. */
  requestedModel: z.string().optional().catch(undefined),
  /** Of a web fetch, among what other tools record there. */
  toolUseResult: z.looseObject({ code: z.int(), bytes: z.int() }).optional().catch(undefined),
  message: z.looseObject({
    id: z.string().optional(),
    model: z.string().optional(),
    stop_reason: z.string().nullish().catch(undefined),
    usage: usage.optional().catch(undefined),
    content: z.union([z.string(), z.array(z.unknown())])
  })
})
/** Input from a person during a turn, accepted into it. */
const queuedRow = z.looseObject({
  type: z.literal('attachment'),
  uuid: z.string(),
  timestamp: z.string().optional().catch(undefined),
  isSidechain: z.boolean().optional(),
  attachment: z.looseObject({
    type: z.literal('queued_command'),
    commandMode: z.literal('prompt'),
    prompt: z.union([z.string(), z.array(z.unknown())]),
    origin: z.looseObject({ kind: z.literal('human') }).optional()
  })
})
const modeRow = z.looseObject({ type: z.literal('permission-mode'), permissionMode: z.string() })

const titleRow = z.union([
  z.looseObject({ type: z.literal('custom-title'), customTitle: z.string().min(1) }),
  z.looseObject({ type: z.literal('ai-title'), aiTitle: z.string().min(1) })
])

export type Block = z.infer<typeof block>

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
  const value = parse(line)
  const mode = modeRow.safeParse(value)
  if (mode.success) return [{ type: 'mode', mode: mode.data.permissionMode }]
  const title = titleRow.safeParse(value)
  if (title.success) return [titleOf(title.data)]
  const goal = goalRow.safeParse(value)
  if (goal.success) return [{ type: 'goal', goal: goalOf(goal.data) }]
  const queued = queuedRow.safeParse(value)
  if (queued.success) return queuedOf(queued.data, since)
  const { data: row } = turnRow.safeParse(value)
  if (!row || row.isMeta || row.isSidechain || row.isCompactSummary) return []
  if (row.timestamp !== undefined && Date.parse(row.timestamp) < since) return []
  // Added by every resume after a turn that was cut off; API errors come this way too and count.
  if (row.message.model === '<synthetic>' && !row.isApiErrorMessage) return []
  const { content } = row.message
  const fetched = row.toolUseResult
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const said = blocks.flatMap((item, index): Row[] => {
    const { data } = block.safeParse(item)
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

function usageOf({ message, requestedModel }: z.infer<typeof turnRow>): Row[] {
  const { usage, model } = message
  if (!usage || model === undefined || model === '<synthetic>') return []
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage
  const used = input_tokens + (output_tokens ?? 0) + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0)
  return [{ type: 'usage', used, model: requestedModel ?? model }]
}

function queuedOf({ uuid, timestamp, isSidechain, attachment: { prompt } }: z.infer<typeof queuedRow>, since: number): Row[] {
  if (isSidechain || (timestamp !== undefined && Date.parse(timestamp) < since)) return []
  const text = withoutPasteMarks(typeof prompt === 'string' ? prompt : resultText(prompt))
  return text.trim() === '' ? [] : [{ type: 'block', by: 'user', uuid, index: 0, block: { type: 'text', text }, isLast: false }]
}

function titleOf(row: z.infer<typeof titleRow>): Row {
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

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The text of a prompt in which Claude Code has marked what was pasted, as it does with a long one. */
export function withoutPasteMarks(text: string): string {
  return marks.test(text) ? text.replace(eachMark, '').replace(/^\n+/, '') : text
}

const marks = /<pasted_content id="[^"]*">/
const eachMark = /\n?<\/?pasted_content(?: id="[^"]*")?>\n?/g
