import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { pause } from '../../lib/async/pause.ts'

/**
 * What it says for the last thing the person wrote, of which so many uses of tools have come back. `heard` is what the last of them
 * said, `attempt` counts the requests that were just the same, from 1, and `plan` names the file that a plan is to be written to.
 */
export type Answer = (
  prompt: string,
  results: number,
  more: { heard: string; attempt: number; plan: string | undefined }
) => Block[] | Trouble

/** Instead of an answer: a refusal with that status, or nothing at all until who asks gives up. */
export type Trouble = { status: number } | 'silence'

/** What the model says in one answer. */
export type Block =
  | { type: 'text'; text: string; wordEveryMs?: number }
  | { type: 'tool_use'; name: string; input: object }
  /** In the middle of what was before it: nothing more comes, the connection is cut, or the model says that it is overloaded. */
  | { type: 'pause' | 'cut' | 'overloaded' }

/**
 * The Anthropic Messages endpoint on loopback, with a model that says what `answer` tells it. Returns its
 * address.
 */
export async function startFakeModel(t: Pick<Test, 'teardown'>, answer: Answer): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    if (request.url?.includes('count_tokens')) return void response.end('{"input_tokens":100}')
    if (request.method !== 'POST' || !request.url?.includes('/messages')) return void response.writeHead(404).end('{}')
    const body: { messages: Message[]; tools?: unknown[]; stream?: boolean } = JSON.parse(text)
    if (!body.tools?.length) return void stream(response, [{ type: 'text', text: '{"title":"A title"}' }])
    const last = lastOf(body.messages)
    const key = JSON.stringify([body.messages.length, last])
    const attempt = (attempts.get(key) ?? 0) + 1
    attempts.set(key, attempt)
    const plan = /\/[^\s"\\]+\/plans\/[^\s"\\]+\.md/.exec(text)?.[0]
    const said = answer(last.prompt, last.results, { heard: last.heard, attempt, plan })
    if (Array.isArray(said) && body.stream === true) await stream(response, said)
    else if (Array.isArray(said)) answerWhole(response, said)
    else if (said !== 'silence') refuse(response, said.status)
  })
  const attempts = new Map<string, number>()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

interface Message {
  role: string
  content: string | Part[]
}

interface Part {
  type: string
  text?: string
  /** Of the result of a tool. */
  content?: string | Part[]
}

function lastOf(messages: readonly Message[]): { prompt: string; results: number; heard: string } {
  let last = { prompt: '', results: 0, heard: '' }
  for (const { role, content } of messages) {
    if (role !== 'user') continue
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    // What was stopped before it was answered stands in front of it.
    const said = parts.flatMap(({ type, text }) => (type === 'text' && text && !isOfClaude.test(text.trim()) ? text : [])).at(-1) ?? ''
    const results = parts.filter(({ type }) => type === 'tool_result')
    // What was said after an interruption comes in one message with what was interrupted.
    const isAnew = said !== '' && parts.some(({ text }) => text?.startsWith('[Request interrupted'))
    if (results.length > 0 && !isAnew) last = { ...last, results: last.results + 1, heard: results.map(textOf).join('\n') }
    else if (said !== '') last = { prompt: said, results: 0, heard: '' }
  }
  return last
}

// What Claude Code says in the person's name.
const isOfClaude = /^(<system-reminder>|\[Request interrupted)/

function textOf({ text, content }: Part): string {
  return Array.isArray(content) ? content.map(textOf).join('') : (content ?? text ?? '')
}

/** As the API says that it has too much to do. */
function refuse(response: ServerResponse, status: number): void {
  const type =
    status === 401 ? 'authentication_error' : status === 429 ? 'rate_limit_error' : status === 529 ? 'overloaded_error' : 'api_error'
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ type: 'error', error: { type, message: 'Try again.' } }))
}

/** As it is asked again when its stream broke off. */
function answerWhole(response: ServerResponse, blocks: readonly Block[]): void {
  const content = blocks.flatMap(block => {
    if (block.type === 'text') return { type: 'text', text: block.text }
    return block.type === 'tool_use' ? { ...block, id: `toolu_${crypto.randomUUID()}` } : []
  })
  const usage = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 30 }
  const reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  const id = `msg_${crypto.randomUUID()}`
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': `req_${id}` })
  response.end(
    JSON.stringify({ id, type: 'message', role: 'assistant', model: 'fake', content, stop_reason: reason, stop_sequence: null, usage })
  )
}

async function stream(response: ServerResponse, blocks: readonly Block[]): Promise<void> {
  const send = (event: { type: string } & Record<string, unknown>) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const usage = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
  const id = `msg_${crypto.randomUUID()}`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  send({
    type: 'message_start',
    message: { id, type: 'message', role: 'assistant', model: 'fake', content: [], stop_reason: null, stop_sequence: null, usage }
  })
  for (const [index, block] of blocks.entries()) {
    if (block.type === 'pause') return
    if (block.type === 'cut') return void response.socket?.end()
    if (block.type === 'overloaded') {
      send({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
      return void response.end()
    }
    if (block.type === 'text') {
      send({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } })
      for (const word of block.text.match(/\S+\s*/g) ?? []) {
        send({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: word } })
        if (block.wordEveryMs) await pause(block.wordEveryMs)
      }
    } else if (block.type === 'tool_use') {
      const { name, input } = block
      send({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: `toolu_${crypto.randomUUID()}`, name, input: {} } })
      send({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } })
    }
    const next = blocks[index + 1]?.type
    if (next !== 'pause' && next !== 'cut' && next !== 'overloaded') send({ type: 'content_block_stop', index })
  }
  const reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  send({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 30 } })
  send({ type: 'message_stop' })
  response.end()
}
