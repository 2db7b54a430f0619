import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** What it says for the last thing the person wrote, of which so many uses of tools have come back. */
export type Answer = (prompt: string, results: number) => Block[]

/** What the model says in one answer. */
export type Block = { type: 'text'; text: string } | { type: 'tool_use'; name: string; input: object }

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
    const body: { messages: { role: string; content: string | { type: string; text?: string }[] }[]; tools?: unknown[] } = JSON.parse(text)
    const blocks = body.tools?.length ? answer(...lastOf(body.messages)) : [{ type: 'text' as const, text: '{"title":"A title"}' }]
    stream(response, blocks)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

function lastOf(messages: { role: string; content: string | { type: string; text?: string }[] }[]): Parameters<Answer> {
  let prompt = ''
  let results = 0
  for (const { role, content } of messages) {
    if (role !== 'user') continue
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    const said = parts
      .flatMap(({ type, text }) => (type === 'text' && text && !text.trim().startsWith('<system-reminder>') ? text : []))
      .join('\n')
    if (parts.some(({ type }) => type === 'tool_result')) results++
    else if (said !== '') {
      prompt = said
      results = 0
    }
  }
  return [prompt, results]
}

function stream(response: ServerResponse, blocks: readonly Block[]): void {
  const send = (event: { type: string } & Record<string, unknown>) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const usage = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
  const id = `msg_${crypto.randomUUID()}`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  send({
    type: 'message_start',
    message: { id, type: 'message', role: 'assistant', model: 'fake', content: [], stop_reason: null, stop_sequence: null, usage }
  })
  blocks.forEach((block, index) => {
    if (block.type === 'text') {
      send({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } })
      for (const word of block.text.match(/\S+\s*/g) ?? [])
        send({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: word } })
    } else {
      const { name, input } = block
      send({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: `toolu_${crypto.randomUUID()}`, name, input: {} } })
      send({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } })
    }
    send({ type: 'content_block_stop', index })
  })
  const reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  send({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 30 } })
  send({ type: 'message_stop' })
  response.end()
}
