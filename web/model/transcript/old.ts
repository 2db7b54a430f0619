import type { MessageBody, StepContent } from '../../../lib/protocol/sealed/messages.ts'
import type { Happening, StepStarted } from './happenings.ts'
import { contentOfArgs, kindOf } from './steps.ts'

type OldContent = Extract<MessageBody, { role: 'agent' }>['content']
type Fields = Readonly<Record<string, unknown>>

/** The four older families of agent messages, read leniently: what is not understood is left out. */
export function happeningsOfOld(content: OldContent): Happening[] {
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

function ofEvent(data: Fields): Happening[] {
  switch (data['type']) {
    case 'ready':
      return [{ type: 'turn-ended', status: 'completed' }]
    case 'message':
      return [{ type: 'note', text: textOf(data['message']) }]
    case 'switch':
      return [{ type: 'control', to: data['mode'] === 'local' ? 'terminal' : 'app' }]
    case 'limit-reached':
      return [{ type: 'limit', endsAt: limitEnd(data['endsAt']) }]
    default:
      return []
  }
}

// Seconds or milliseconds since 1970, by what is plausible.
function limitEnd(endsAt: unknown): number | undefined {
  if (typeof endsAt !== 'number' || !Number.isFinite(endsAt)) return undefined
  return endsAt < 1e11 ? endsAt * 1000 : endsAt
}

/** A line of Claude's own transcript. */
function ofTranscriptLine(data: Fields): Happening[] {
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

function ofAssistantBlock(block: Fields): Happening[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: textOf(block['text']), thinking: false, block: undefined }]
    case 'thinking':
      return [{ type: 'text', text: textOf(block['thinking']), thinking: true, block: undefined }]
    case 'tool_use':
      return [stepStarted(textOf(block['id']), textOf(block['name']), fieldsOf(block['input']))]
    default:
      return []
  }
}

function ofUserBlock(block: Fields): Happening[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'mine', text: textOf(block['text']), from: 'terminal' }]
    case 'tool_result':
      return [stepEnded(textOf(block['tool_use_id']), outputText(block['content']), block['is_error'] === true)]
    default:
      return []
  }
}

/** Codex and ACP lines share their words. */
function ofAgentLine(data: Fields): Happening[] {
  const call = textOf(data['callId'])
  switch (data['type']) {
    case 'message':
      return [{ type: 'text', text: textOf(data['message']), thinking: false, block: undefined }]
    case 'reasoning':
      return [{ type: 'text', text: textOf(data['message']), thinking: true, block: undefined }]
    case 'thinking':
      return [{ type: 'text', text: textOf(data['text']), thinking: true, block: undefined }]
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
      return [{ type: 'turn-started', turn: textOf(data['id']) }]
    case 'task_complete':
      return [{ type: 'turn-ended', status: 'completed', turn: textOf(data['id']) }]
    case 'turn_aborted':
      return [{ type: 'turn-ended', status: 'cancelled', turn: textOf(data['id']) }]
    default:
      return []
  }
}

function ofFileEdit(data: Fields): Happening[] {
  const call = textOf(data['id'])
  const path = textOf(data['filePath'])
  const oldText = typeof data['oldContent'] === 'string' ? data['oldContent'] : null
  const content: StepContent[] =
    typeof data['newContent'] === 'string' ? [{ type: 'diff', path, oldText, newText: data['newContent'] }] : []
  const title = textOf(data['description'])
  return [
    { type: 'step-started', call, kind: 'edit', name: 'edit', title, description: '', args: {}, locations: [path], content },
    { type: 'step-ended', call, status: undefined, content: [] }
  ]
}

function stepStarted(call: string, name: string, args: Fields): StepStarted {
  return {
    type: 'step-started',
    call,
    kind: kindOf(name),
    name,
    title: '',
    description: typeof args['description'] === 'string' ? args['description'] : '',
    args,
    locations: [],
    content: contentOfArgs(name, args)
  }
}

function stepEnded(call: string, text: string, isError: boolean): Happening {
  const content: StepContent[] = text === '' ? [] : [{ type: 'text', text }]
  return { type: 'step-ended', call, status: isError ? 'failed' : 'completed', content }
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
