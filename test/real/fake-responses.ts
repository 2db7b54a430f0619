import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'

/** What the model says in one answer; `everyMs` is how long it takes for each word. */
export type Said = { type: 'text'; text: string; everyMs?: number } | { type: 'run'; command: string } | { type: 'patch'; patch: string }

interface Input {
  type: string
  role?: string
  content?: { text?: string }[]
}

/**
 * The Responses endpoint on loopback, with a model that says what `answer` tells it for the last thing the person wrote and
 * whether a tool has answered since. Returns its address.
 */
export async function startFakeResponses(
  t: Pick<Test, 'teardown'>,
  answer: (prompt: string, hasToolResult: boolean) => Said[]
): Promise<string> {
  let calls = 0
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    if (request.method !== 'POST' || !request.url?.endsWith('/responses')) return void response.writeHead(404).end('{}')
    const { input }: { input: Input[] } = JSON.parse(text)
    const call = `${++calls}-${crypto.randomUUID()}`
    const send = (event: { type: string } & Record<string, unknown>) =>
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    send({ type: 'response.created', response: { id: `resp_${call}` } })
    for (const [index, said] of answer(...lastOf(input)).entries()) {
      const item = itemOf(said, `${call}_${index}`)
      if (said.type === 'text') {
        send({ type: 'response.output_item.added', item: { ...item, content: [] } })
        for (const delta of said.text.match(/\S+\s*/g) ?? []) {
          send({ type: 'response.output_text.delta', item_id: item.id, delta })
          if (said.everyMs) await wait(said.everyMs)
        }
      }
      send({ type: 'response.output_item.done', item })
    }
    const usage = { input_tokens: 100, input_tokens_details: null, output_tokens: 10, output_tokens_details: null, total_tokens: 110 }
    send({ type: 'response.completed', response: { id: `resp_${call}`, usage } })
    response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/v1`
}

function lastOf(input: readonly Input[]): [prompt: string, hasToolResult: boolean] {
  let prompt = ''
  let hasToolResult = false
  for (const { type, role, content } of input) {
    if (type.endsWith('_output')) hasToolResult = true
    if (type !== 'message' || role !== 'user') continue
    const text = content?.map(part => part.text ?? '').join('\n') ?? ''
    // What Codex says about where it is comes as a message of the person too.
    if (/^[<#]/.test(text.trim())) continue
    prompt = text.trim()
    hasToolResult = false
  }
  return [prompt, hasToolResult]
}

function itemOf(said: Said, id: string): { id: string } & Record<string, unknown> {
  switch (said.type) {
    case 'text':
      return { type: 'message', id: `msg_${id}`, role: 'assistant', content: [{ type: 'output_text', text: said.text }] }
    case 'run': {
      const asks = { cmd: said.command, sandbox_permissions: 'require_escalated', justification: 'it has to' }
      return { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name: 'exec_command', arguments: JSON.stringify(asks) }
    }
    case 'patch':
      return { type: 'custom_tool_call', id: `ct_${id}`, call_id: `call_${id}`, name: 'apply_patch', input: said.patch }
  }
}
