import type { MessageBody, SessionEvent, StepContent, Usage } from '../../protocol/sealed/messages.ts'
import { envelopeOf } from '../sealed/messages.ts'

/** One statement of a message, in today's form, whichever message family it came in. */
export interface CurrentEvent {
  readonly role: 'user' | 'agent'
  /** Of an envelope. */
  readonly id?: string | undefined
  /** By the sender's clock, ms since 1970. */
  readonly time?: number | undefined
  readonly turn?: string | undefined
  readonly subagent?: string | undefined
  readonly usage?: Usage | undefined
  readonly ev: SessionEvent | LimitReached | ControlMoved
}

/** Only older messages have it here: ours have it in the session's metadata. */
interface LimitReached {
  readonly t: 'limit'
  readonly endsAt: number | undefined
}

/** The same for the agent state. */
interface ControlMoved {
  readonly t: 'control'
  readonly to: 'terminal' | 'app'
}

/** What an agent or its wrapper said in a message, in order. */
export function eventsOf(body: Exclude<MessageBody, { role: 'user' }>): CurrentEvent[] {
  if (body.role === 'agent') return eventsOfOlder(body.content)
  const envelope = envelopeOf(body)
  return envelope === undefined ? [] : [envelope]
}

type OlderContent = Extract<MessageBody, { role: 'agent' }>['content']
type Fields = Readonly<Record<string, unknown>>

/** The four older families of agent messages, parsed leniently: unknown ones are left out. */
function eventsOfOlder(content: OlderContent): CurrentEvent[] {
  const data: Fields = content.data
  switch (content.type) {
    case 'output':
      return ofTranscriptLine(data)
    case 'codex':
    case 'acp':
      return ofAgentLine(data)
    case 'event':
      return ofEvent(data)
  }
}

function ofEvent(data: Fields): CurrentEvent[] {
  switch (data['type']) {
    case 'ready':
      return [eventOf({ t: 'turn-end', status: 'completed' })]
    case 'message':
      return [eventOf({ t: 'service', text: textOf(data['message']) })]
    case 'switch':
      return [eventOf({ t: 'control', to: data['mode'] === 'local' ? 'terminal' : 'app' })]
    case 'limit-reached':
      return [eventOf({ t: 'limit', endsAt: limitEnd(data['endsAt']) })]
    default:
      return []
  }
}

// Seconds or milliseconds since 1970, whichever is plausible.
function limitEnd(endsAt: unknown): number | undefined {
  if (typeof endsAt !== 'number' || !Number.isFinite(endsAt)) return undefined
  return endsAt < 1e11 ? endsAt * 1000 : endsAt
}

/** A line of Claude's own transcript. */
function ofTranscriptLine(data: Fields): CurrentEvent[] {
  if (data['isMeta'] === true || data['isCompactSummary'] === true || data['isSidechain'] === true) return []
  const message = fieldsOf(data['message'])
  const blocks = blocksOf(message['content'])
  switch (data['type']) {
    case 'assistant':
      return blocks.flatMap(ofAssistantBlock)
    case 'user':
      return blocks.flatMap(ofUserBlock)
    default:
      return []
  }
}

function ofAssistantBlock(block: Fields): CurrentEvent[] {
  switch (block['type']) {
    case 'text':
      return [eventOf({ t: 'text', text: textOf(block['text']) })]
    case 'thinking':
      return [eventOf({ t: 'text', text: textOf(block['thinking']), thinking: true })]
    case 'tool_use':
      return [stepStarted(textOf(block['id']), textOf(block['name']), fieldsOf(block['input']))]
    default:
      return []
  }
}

function ofUserBlock(block: Fields): CurrentEvent[] {
  switch (block['type']) {
    case 'text':
      return [{ role: 'user', ev: { t: 'text', text: textOf(block['text']) } }]
    case 'tool_result':
      return [stepEnded(textOf(block['tool_use_id']), outputText(block['content']), block['is_error'] === true)]
    default:
      return []
  }
}

/** Codex and ACP lines use the same messages. */
function ofAgentLine(data: Fields): CurrentEvent[] {
  const call = textOf(data['callId'])
  switch (data['type']) {
    case 'message':
      return [eventOf({ t: 'text', text: textOf(data['message']) })]
    case 'reasoning':
      return [eventOf({ t: 'text', text: textOf(data['message']), thinking: true })]
    case 'thinking':
      return [eventOf({ t: 'text', text: textOf(data['text']), thinking: true })]
    case 'tool-call':
      return [stepStarted(call, textOf(data['name']), fieldsOf(data['input']))]
    case 'tool-result':
    case 'tool-call-result':
      return [stepEnded(call, outputText(data['output']), data['isError'] === true)]
    case 'terminal-output':
      return [stepEnded(call, outputText(data['data']), false)]
    case 'file-edit':
      return ofFileEdit(data)
    case 'task_started':
      return [eventOf({ t: 'turn-start' }, textOf(data['id']))]
    case 'task_complete':
      return [eventOf({ t: 'turn-end', status: 'completed' }, textOf(data['id']))]
    case 'turn_aborted':
      return [eventOf({ t: 'turn-end', status: 'cancelled' }, textOf(data['id']))]
    default:
      return []
  }
}

function ofFileEdit(data: Fields): CurrentEvent[] {
  const call = textOf(data['id'])
  const path = textOf(data['filePath'])
  const oldText = typeof data['oldContent'] === 'string' ? data['oldContent'] : null
  const content: StepContent[] =
    typeof data['newContent'] === 'string' ? [{ type: 'diff', path, oldText, newText: data['newContent'] }] : []
  const title = textOf(data['description'])
  return [
    eventOf({ t: 'tool-call-start', call, kind: 'edit', name: 'edit', title, description: '', args: {}, locations: [path], content }),
    eventOf({ t: 'tool-call-end', call })
  ]
}

function stepStarted(call: string, name: string, args: Fields): CurrentEvent {
  const description = typeof args['description'] === 'string' ? args['description'] : ''
  return eventOf({ t: 'tool-call-start', call, name, title: '', description, args: { ...args }, locations: [] })
}

function eventOf(ev: CurrentEvent['ev'], turn?: string): CurrentEvent {
  return { role: 'agent', ev, turn }
}

function stepEnded(call: string, text: string, isError: boolean): CurrentEvent {
  const content: StepContent[] = text === '' ? [] : [{ type: 'text', text }]
  return eventOf({ t: 'tool-call-end', call, status: isError ? 'failed' : 'completed', content })
}

function blocksOf(content: unknown): Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.map(fieldsOf) : []
}

function outputText(output: unknown): string {
  if (typeof output === 'string') return output
  if (output === undefined || output === null) return ''
  if (Array.isArray(output)) return output.map(part => outputText(fieldsOf(part)['text'] ?? '')).join('\n')
  const fields = fieldsOf(output)
  for (const name of ['output', 'stdout', 'formatted_output', 'aggregated_output', 'content', 'text', 'message']) {
    if (typeof fields[name] === 'string') return fields[name]
  }
  return JSON.stringify(output, null, 2)
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
