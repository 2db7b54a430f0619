import * as z from 'zod'

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

const turnRow = z.looseObject({
  type: z.enum(['user', 'assistant']),
  uuid: z.string(),
  timestamp: z.string().optional().catch(undefined),
  isMeta: z.boolean().optional(),
  isSidechain: z.boolean().optional(),
  isApiErrorMessage: z.boolean().optional(),
  /** Of an answer from the web, among what other tools write there. */
  toolUseResult: z.looseObject({ code: z.int(), bytes: z.int() }).optional().catch(undefined),
  message: z.looseObject({
    id: z.string().optional(),
    model: z.string().optional(),
    stop_reason: z.string().nullish().catch(undefined),
    content: z.union([z.string(), z.array(z.unknown())])
  })
})
const modeRow = z.looseObject({ type: z.literal('permission-mode'), permissionMode: z.string() })

const titleRow = z.union([
  z.looseObject({ type: z.literal('custom-title'), customTitle: z.string().min(1) }),
  z.looseObject({ type: z.literal('ai-title'), aiTitle: z.string().min(1) })
])

export type Block = z.infer<typeof block>

/** One thing a line of the transcript says. `uuid` and `index` name it for ever: a line is copied when a conversation is resumed. */
export type Row =
  | { type: 'mode'; mode: string }
  | { type: 'interrupted' }
  | { type: 'title'; title: string; byPerson: boolean }
  /** `isLast`: nothing comes after it in its turn. */
  | { type: 'block'; by: 'user' | 'assistant'; uuid: string; index: number; block: Block; isLast: boolean; fetched?: Fetched }

/** The status of an answer from the web, and its size. */
export interface Fetched {
  readonly code: number
  readonly bytes: number
}

/**
 * What a line of the transcript says to a reader; nothing for the many lines Claude Code writes for itself, and for those
 * of before `since`, in milliseconds since 1970.
 */
export function readRow(line: string, since: number): Row[] {
  const value = parse(line)
  const mode = modeRow.safeParse(value)
  if (mode.success) return [{ type: 'mode', mode: mode.data.permissionMode }]
  const title = titleRow.safeParse(value)
  if (title.success) return [titleOf(title.data)]
  const { data: row } = turnRow.safeParse(value)
  if (!row || row.isMeta || row.isSidechain) return []
  if (row.timestamp !== undefined && Date.parse(row.timestamp) < since) return []
  // Put in by every resume after a turn that was cut off; errors of the API come this way too and count.
  if (row.message.model === '<synthetic>' && !row.isApiErrorMessage) return []
  const { content } = row.message
  const fetched = row.toolUseResult
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return blocks.flatMap((item, index): Row[] => {
    const { data } = block.safeParse(item)
    if (!data) return []
    if (row.type === 'user' && data.type === 'text') {
      if (/^\[Request interrupted by user/.test(data.text)) return [{ type: 'interrupted' }]
      if (isOwnTalk(data.text)) return []
    }
    const isLast = row.message.stop_reason === 'end_turn' && index === blocks.length - 1
    return [{ type: 'block', by: row.type, uuid: row.uuid, index, block: data, isLast, ...(fetched && { fetched }) }]
  })
}

function titleOf(row: z.infer<typeof titleRow>): Row {
  const byPerson = row.type === 'custom-title'
  return { type: 'title', title: byPerson ? row.customTitle : row.aiTitle, byPerson }
}

/** What a tool gave back, as text. */
export function resultText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap(item => (isText(item) ? item.text : [])).join('\n')
}

function isText(item: unknown): item is { text: string } {
  return typeof item === 'object' && item !== null && 'text' in item && typeof item.text === 'string'
}

// Commands of the terminal and their output are written as if a person had said them.
function isOwnTalk(text: string): boolean {
  return /^<(command-name|command-message|command-args|local-command-stdout|local-command-stderr|local-command-caveat|system-reminder|task-notification)>/.test(
    text.trimStart()
  )
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
