#!/usr/bin/env node
// An ACP agent without a library, so that it adds no load of its own. For the prompt `words 2000` it sends that many
// messages, one every few milliseconds or as in `words 700 every 100`, two of three being a step and its output; for
// `pieces 2000` one long text; for `turn` one of the turns of bench/phone.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

const sentence = 'The apples of the third tree fell because nobody had told the script about the wind. '
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const tell = update => send({ method: 'session/update', params: { sessionId: 'speaking', update } })

/** Each yields how long it pauses. */
const turns = {
  *words(count, everyMs) {
    for (let index = 0; index < count; index++) {
      yield everyMs
      const call = `call-${Math.floor(index / 3)}`
      if (index % 3 === 0) tell(chunk(`${index}: ${sentence}`, `message-${index}`))
      else if (index % 3 === 1) beginStep(call)
      else endStep(call, sentence.repeat(4))
    }
  },
  *pieces(count, everyMs) {
    for (let index = 0; index < count; index++) {
      yield everyMs
      tell(chunk(sentence.slice(0, charactersAtOnce), 'message'))
    }
  },
  *turn() {
    yield* grow(600, 'agent_thought_chunk')
    for (let step = 0; step < 8; step++) {
      yield* grow(150)
      beginStep(`step-${step}`)
      yield 2_000
      endStep(`step-${step}`, read(1_500))
    }
    yield* grow(1_200)
  }
}

const charactersAtOnce = 28

function* grow(characters, kind) {
  const text = read(characters)
  for (let from = 0; from < characters; from += charactersAtOnce) {
    tell(chunk(text.slice(from, from + charactersAtOnce), undefined, kind))
    yield 100
  }
}

/** The next of a text that no compression finds easier than people's. */
function read(characters) {
  page ??= readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  at += characters
  return page.slice(at - characters, at)
}

let page
let at = 0

function chunk(text, messageId, sessionUpdate = 'agent_message_chunk') {
  return { sessionUpdate, content: { type: 'text', text }, messageId }
}

function beginStep(toolCallId) {
  const rawInput = { command: 'npm test' }
  tell({ sessionUpdate: 'tool_call', toolCallId, title: 'npm test', kind: 'execute', status: 'pending', rawInput })
}

function endStep(toolCallId, text) {
  tell({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    content: [{ type: 'content', content: { type: 'text', text } }],
    status: 'completed'
  })
}

async function speak(id, turn) {
  for (const ms of turn) await pause(ms)
  send({ id, result: { stopReason: 'end_turn' } })
}

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: 'speaking' })
}

createInterface(process.stdin).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'session/prompt') {
    const [, what, count, everyMs = 10] = /(words|pieces|turn)(?: (\d+))?(?: every (\d+))?/.exec(params.prompt[0].text) ?? []
    return void speak(id, turns[what](Number(count), Number(everyMs)))
  }
  if (id !== undefined && method !== undefined) send({ id, result: answers[method]?.() ?? {} })
})
