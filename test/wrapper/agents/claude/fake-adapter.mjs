// The ACP adapter of the fake Claude Code: goes on with the conversations that it wrote down, in the same files.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { agent, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk'
import { openConversation, runTurn } from './conversation.mjs'

let conversation
let mode = 'auto'
let turn = { signal: undefined, abort() {} }
// The program behind the adapter has ended: its conversation is gone until it is resumed.
let isGone = false
// Given again to the resumed conversation, it ends nothing.
let endedAt
const refuseGone = () => {
  if (isGone) throw RequestError.resourceNotFound(conversation.id)
}
const modes = () => ({ currentModeId: mode, availableModes: ['auto', 'default', 'acceptEdits', 'plan'].map(id => ({ id, name: id })) })

const choices = {
  model: { category: 'model', values: ['quick', 'deep'], now: 'quick' },
  effort: { category: 'thought_level', values: ['low', 'high'], now: 'low' }
}
const configOptions = () =>
  Object.entries(choices).map(([id, { category, values, now }]) => ({
    id,
    name: id,
    category,
    type: 'select',
    currentValue: now,
    options: values.map(value => ({ value, name: value }))
  }))

function toolsFor(client, signal) {
  const tell = update => client.notify(methods.client.session.update, { sessionId: conversation.id, update })
  return {
    async say(text, { overMs = 0, reason }) {
      const messageId = randomUUID()
      let said = ''
      for (const word of text.match(/\s*\S+\s*/g) ?? [text]) {
        if (overMs > 0) await pause(overMs / (text.split(/\s+/).length || 1))
        if (signal.aborted) break
        said += word
        await tell({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: word } })
      }
      if (said) conversation.assistant({ type: 'text', text: said }, signal.aborted ? null : reason)
      if (!signal.aborted) return
      conversation.user([{ type: 'text', text: '[Request interrupted by user]' }])
      throw new RequestError(0, 'cut')
    },
    async write(name, content) {
      const file = resolve(name)
      const toolCallId = `toolu_${randomUUID()}`
      const rawInput = { file_path: file, content }
      conversation.assistant({ type: 'tool_use', id: toolCallId, name: 'Write', input: rawInput }, 'tool_use')
      const toolCall = {
        toolCallId,
        title: `Write ${name}`,
        kind: 'edit',
        rawInput,
        content: [{ type: 'diff', path: file, oldText: existsSync(file) ? readFileSync(file, 'utf8') : null, newText: content }]
      }
      await tell({ sessionUpdate: 'tool_call', status: 'pending', ...toolCall })
      const options = [
        { optionId: 'allow', name: 'Yes', kind: 'allow_once' },
        { optionId: 'always', name: 'Yes, allow all edits', kind: 'allow_always' },
        { optionId: 'reject', name: 'No', kind: 'reject_once' }
      ]
      const asking = { sessionId: conversation.id, toolCall, options }
      const isFree = mode === 'acceptEdits'
      const { outcome } = isFree ? { outcome: undefined } : await client.request(methods.client.session.requestPermission, asking)
      if (signal.aborted) throw new RequestError(0, 'cut')
      const isYes = isFree || outcome.optionId === 'allow'
      if (isYes) writeFileSync(file, content)
      conversation.user([{ type: 'tool_result', tool_use_id: toolCallId, content: 'x', is_error: !isYes }])
      await tell({ sessionUpdate: 'tool_call_update', toolCallId, status: isYes ? 'completed' : 'failed' })
      return isYes
    }
  }
}

agent({ name: 'fake-claude-agent-acp' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'fake', version: '0.0.0' },
    agentCapabilities: { sessionCapabilities: { resume: {} } }
  }))
  .onRequest(methods.agent.session.new, () => {
    if (process.env.FAKE_REFUSES === 'both') throw new RequestError(-32603, 'Internal error', { details: 'this Claude Code is too old' })
    conversation = openConversation(randomUUID(), 'sdk-ts')
    if (isGone) mode = 'auto'
    isGone = false
    return { sessionId: conversation.id, modes: modes(), configOptions: configOptions() }
  })
  .onRequest(methods.agent.session.resume, ({ params }) => {
    conversation = openConversation(params.sessionId, 'sdk-ts')
    if (!conversation.exists() || (isGone && process.env.FAKE_REFUSES === 'again')) throw RequestError.resourceNotFound(params.sessionId)
    if (isGone) mode = 'auto'
    if (isGone) for (const choice of Object.values(choices)) choice.now = choice.values[0]
    isGone = false
    return { modes: modes(), configOptions: configOptions() }
  })
  .onRequest(methods.agent.session.setMode, async ({ params, client }) => {
    refuseGone()
    mode = params.modeId
    await client.notify(methods.client.session.update, {
      sessionId: conversation.id,
      update: { sessionUpdate: 'current_mode_update', currentModeId: mode }
    })
    return {}
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    refuseGone()
    const choice = choices[params.configId]
    if (!choice?.values.includes(params.value)) throw RequestError.invalidParams()
    choice.now = params.value
    return { configOptions: configOptions() }
  })
  .onNotification(methods.agent.session.cancel, () => turn.abort())
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    refuseGone()
    turn = new AbortController()
    const { signal } = turn
    const prompt = params.prompt.map(({ text }) => text ?? '').join('\n')
    conversation.user([{ type: 'text', text: prompt }])
    const [, when] = /^end (before|in it|after)/.exec(prompt) ?? []
    if (when === 'in it') {
      const update = { sessionUpdate: 'agent_message_chunk', messageId: 'm', content: { type: 'text', text: 'half a sent' } }
      await client.notify(methods.client.session.update, { sessionId: conversation.id, update })
    }
    if (when && endedAt !== prompt) {
      endedAt = prompt
      isGone = true
    }
    if (isGone && prompt.includes('unwritten')) conversation.forget()
    if (isGone && when !== 'after') throw RequestError.internalError(undefined, 'The Claude Agent process exited unexpectedly.')
    const [, goal] = /^\/goal (.*)$/s.exec(prompt) ?? []
    if (goal !== undefined) conversation.goal({ met: goal === 'clear', sentinel: true, condition: goal })
    if (prompt.startsWith('die ')) {
      const { say } = toolsFor(client, signal)
      await say('heard', { reason: 'tool_use' })
      for (const text of ['kept whole', 'kept too']) conversation.assistant({ type: 'text', text }, 'tool_use')
      const update = { sessionUpdate: 'agent_message_chunk', messageId: 'm', content: { type: 'text', text: 'kept' } }
      await client.notify(methods.client.session.update, { sessionId: conversation.id, update })
      process.stdout.write('', () => process.kill(process.pid, 'SIGKILL'))
      return new Promise(() => {})
    }
    try {
      await runTurn(prompt, toolsFor(client, signal))
    } catch (error) {
      if (!signal.aborted) throw error
    }
    return { stopReason: signal.aborted ? 'cancelled' : 'end_turn' }
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
