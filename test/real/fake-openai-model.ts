import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { pause } from '../../lib/async/pause.ts'

/** What the model says in one answer; `everyMs` is the time between its words. */
export type Said = { type: 'text' | 'thinking'; text: string; everyMs?: number } | { type: 'call'; name: string; input: object }

/**
 * The chat completions endpoint on loopback, with a model that says what `answer` tells it for the last thing the person wrote
 * and how often a tool has answered since. Returns its address.
 */
export async function startFakeOpenAi(t: Pick<Test, 'teardown'>, answer: (prompt: string, results: number) => Said[]): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    if (!request.url?.endsWith('/chat/completions')) return void response.writeHead(404).end('{}')
    const { messages, tools }: Body = JSON.parse(text)
    const since = messages.findLastIndex(({ role }) => role === 'user')
    const results = messages.slice(since + 1).filter(({ role }) => role === 'tool').length
    const said = tools?.length ? answer(textOf(messages[since]), results) : [{ type: 'text' as const, text: 'A title' }]
    await stream(response, said)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/v1`
}

interface Body {
  messages: { role: string; content: string | { text?: string }[] }[]
  tools?: unknown[]
}

function textOf(message: Body['messages'][number] | undefined): string {
  if (!message) return ''
  return typeof message.content === 'string' ? message.content : message.content.map(({ text = '' }) => text).join('\n')
}

async function stream(response: ServerResponse, said: readonly Said[]): Promise<void> {
  const about = { id: `chatcmpl-${crypto.randomUUID()}`, object: 'chat.completion.chunk', created: 1, model: 'm' }
  const send = (rest: object) => response.write(`data: ${JSON.stringify({ ...about, ...rest })}\n\n`)
  const delta = (delta: object, finish_reason: string | null = null) => send({ choices: [{ index: 0, delta, finish_reason }] })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const [index, block] of said.entries()) {
    if (block.type === 'call') {
      const call = { index, id: `call_${crypto.randomUUID()}`, type: 'function' }
      delta({ tool_calls: [{ ...call, function: { name: block.name, arguments: JSON.stringify(block.input) } }] })
      continue
    }
    for (const word of block.text.match(/\S+\s*/g) ?? []) {
      if (response.destroyed) return
      delta(block.type === 'text' ? { content: word } : { reasoning_content: word })
      if (block.everyMs) await pause(block.everyMs)
    }
  }
  delta({}, said.some(({ type }) => type === 'call') ? 'tool_calls' : 'stop')
  send({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } })
  response.end('data: [DONE]\n\n')
}
