import { newEnvelope, newId } from '../../../lib/client/sealed/messages.ts'
import { type MessageBody, type SessionEvent, type StepKind, stepKind } from '../../../lib/protocol/sealed/messages.ts'
import { type Evil, evilChange, evilName, urls } from './xss.ts'

/** Every kind of session event, with hostile text in every field. */
export function eventsOf(evil: Evil, turn: string): MessageBody[] {
  const told = (ev: SessionEvent): MessageBody => ({ role: 'session', content: newEnvelope(ev, { role: 'agent', turn }) })
  const subagent = newId()
  const inside = (ev: SessionEvent): MessageBody => ({
    role: 'session',
    content: { ...newEnvelope(ev, { role: 'agent', turn }), subagent }
  })
  const file = (name: string, mimeType: string): SessionEvent => ({
    t: 'file',
    ref: name,
    name: evil(`${name}.name`),
    size: 3,
    mimeType
  })
  const outside: SessionEvent[] = [
    { t: 'turn-start' },
    { t: 'text', text: evil('prose') },
    { t: 'text', text: evil('thinking'), thinking: true },
    { t: 'service', text: evil('service') },
    { t: 'plan', entries: [{ content: evil('plan.entry'), status: 'in_progress' }] },
    file('svg', 'image/svg+xml'),
    file('picture', 'image/png'),
    ...stepKind.options.flatMap(kind => stepsOf(evil, kind)),
    ...urls.flatMap((url, index) => fetching(url, index)),
    ...finding(evil),
    // Still running.
    { t: 'tool-call-start', call: 'now', name: 'Bash', title: '', description: '', args: { command: evil('now.command') }, kind: 'execute' }
  ]
  const within: SessionEvent[] = [
    { t: 'start', title: evil('subagent.title') },
    { t: 'text', text: evil('subagent.prose') },
    ...stepsOf(evil, 'execute', 'subagent.'),
    { t: 'stop' }
  ]
  return [...outside.map(told), ...within.map(inside)]
}

function stepsOf(evil: Evil, kind: StepKind, where = ''): SessionEvent[] {
  const at = `${where}${kind}`
  const path = ['read', 'edit', 'delete', 'move'].includes(kind) ? evilName(evil, `${at}.path`) : ''
  const said = { type: 'text' as const, text: evil(`${at}.said`) }
  const content =
    kind === 'edit'
      ? [
          { type: 'diff' as const, path, ...evilChange(evil, at) },
          { type: 'diff' as const, path: evilName(evil, `${at}.other`), oldText: null, newText: 'x' }
        ]
      : [said]
  const isListed = ['delete', 'move', 'think', 'other'].includes(kind)
  const more = isListed ? { [evil(`${at}.key`)]: { a: evil(`${at}.value`) } } : {}
  const args = { ...mainArgument(evil, kind, at), ...more }
  const call = `${at}.${newId()}`
  const named = { call: `${call}.named`, name: kind === 'fetch' ? 'a' : evil(`${at}.name`), title: '', description: '', args: {}, kind }
  const titled = { ...named, call: `${call}.titled`, title: evil(`${at}.title`) }
  return [
    { t: 'tool-call-start', ...named, call, args, locations: path === '' ? [] : [path], content },
    { t: 'tool-call-end', call, status: 'failed', content: [...content, said] },
    { t: 'tool-call-start', ...named },
    { t: 'tool-call-end', call: named.call, status: 'denied', content: [] },
    { t: 'tool-call-start', ...titled },
    { t: 'tool-call-end', call: titled.call, status: 'completed', content: [] }
  ]
}

function mainArgument(evil: Evil, kind: StepKind, at: string): Record<string, string> {
  switch (kind) {
    case 'execute':
      return { command: evil(`${at}.command`) }
    case 'fetch':
      return { url: evil(`${at}.url`) }
    case 'search':
      return { pattern: evil(`${at}.pattern`) }
    default:
      return {}
  }
}

/** A bare address, where one is expected. */
function fetching(url: string, index: number): SessionEvent[] {
  const call = `fetch.${index}`
  return [
    { t: 'tool-call-start', call, name: 'WebFetch', title: '', description: '', args: { url }, kind: 'fetch' },
    { t: 'tool-call-end', call, status: 'failed', content: [{ type: 'text', text: 'no' }] }
  ]
}

/** The results of a search, as lines of files. */
function finding(evil: Evil): SessionEvent[] {
  const line = (field: string) => evil(field).split('\n')[0]
  const text = `${line('hits.file')}:3:${line('hits.line')}`
  return [
    { t: 'tool-call-start', call: 'hits', name: 'Grep', title: '', description: '', args: { pattern: 'a' }, kind: 'search' },
    { t: 'tool-call-end', call: 'hits', status: 'completed', content: [{ type: 'text', text }] }
  ]
}

/** Messages in the formats of older wrappers, whose content is not validated. */
export function bodiesOf(evil: Evil): MessageBody[] {
  const said = (content: unknown[]) => ({ type: 'assistant', message: { role: 'assistant', content } })
  const heard = (content: unknown[]) => ({ type: 'user', message: { role: 'user', content } })
  const acp = (data: { type: string; [name: string]: unknown }): MessageBody => ({
    role: 'agent',
    content: { type: 'acp', provider: 'a', data }
  })
  const output = (data: { type: string; [name: string]: unknown }): MessageBody => ({ role: 'agent', content: { type: 'output', data } })
  const mine = (name: string, mimeType: string): MessageBody => {
    const ev = { t: 'file' as const, ref: name, name: evil(name), size: 3, mimeType }
    return { role: 'session', content: { type: 'session', data: newEnvelope(ev, { role: 'user' }) } }
  }
  return [
    mine('mine.picture', 'image/png'),
    mine('mine.file', 'text/plain'),
    { role: 'user', content: { type: 'text', text: 'told otherwise' }, meta: { displayText: evil('mine.displayText') } },
    { role: 'user', content: { type: 'text', text: evil('mine.text') } },
    { role: 'user', content: { type: 'text', text: evil('mine.cli') }, meta: { sentFrom: 'cli' } },
    output(said([{ type: 'text', text: evil('old.text') }])),
    output(said([{ type: 'thinking', thinking: evil('old.thinking') }])),
    output(said([{ type: 'tool_use', id: 'u1', name: evil('old.tool'), input: { file_path: evil('old.path'), a: evil('old.input') } }])),
    output(heard([{ type: 'tool_result', tool_use_id: 'u1', is_error: true, content: [{ type: 'text', text: evil('old.result') }] }])),
    acp({ type: 'message', message: evil('acp.message') }),
    acp({ type: 'tool-call', callId: 'c1', name: evil('acp.tool'), input: { a: evil('acp.input') } }),
    acp({ type: 'tool-result', callId: 'c1', isError: true, output: evil('acp.output') }),
    acp({
      type: 'file-edit',
      id: 'f1',
      filePath: evil('acp.filePath'),
      description: '',
      newContent: evil('acp.newContent')
    }),
    { role: 'agent', content: { type: 'event', data: { type: 'message', message: evil('old.note') } } }
  ]
}
