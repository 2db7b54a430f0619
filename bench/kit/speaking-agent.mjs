#!/usr/bin/env node
// An ACP agent without a library, so that it adds no load of its own. For the prompt `words 2000` it sends that many
// messages, one every few milliseconds, two of three being a step and its output; for `pieces 2000` one long text.
import { createInterface } from 'node:readline'

const everyMs = 10
const sentence = 'The apples of the third tree fell because nobody had told the script about the wind. '
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const tell = update => send({ method: 'session/update', params: { sessionId: 'speaking', update } })

const told = {
  words(index) {
    if (index % 3 === 0) return tell({ ...chunk(`${index}: ${sentence}`), messageId: `message-${index}` })
    const toolCallId = `call-${Math.floor(index / 3)}`
    if (index % 3 === 1)
      return tell({
        sessionUpdate: 'tool_call',
        toolCallId,
        title: 'npm test',
        kind: 'execute',
        status: 'pending',
        rawInput: { command: 'npm test' }
      })
    const content = [{ type: 'content', content: { type: 'text', text: sentence.repeat(4) } }]
    return tell({ sessionUpdate: 'tool_call_update', toolCallId, content, status: 'completed' })
  },
  pieces: () => tell({ ...chunk(sentence.slice(0, 28)), messageId: 'message' })
}

function chunk(text) {
  return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
}

function speak(id, what, count) {
  let index = 0
  const timer = setInterval(() => {
    if (index < count) return told[what](index++)
    clearInterval(timer)
    send({ id, result: { stopReason: 'end_turn' } })
  }, everyMs)
}

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: 'speaking' })
}

createInterface(process.stdin).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'session/prompt') {
    const [, what, count] = /(words|pieces) (\d+)/.exec(params.prompt[0].text) ?? []
    return speak(id, what, Number(count))
  }
  if (id !== undefined && method !== undefined) send({ id, result: answers[method]?.() ?? {} })
})
