// An ACP agent with the habits of others: modes as a configuration option that begins where it decides by itself, a
// permission before its step is announced, chunks without a message id, a no that ends the turn, errors that hide what
// happened in their data, updates of kinds nobody knows, noise on its output, and a history that it repeats when loaded. Its
// models come in a way older than configuration options, its levels of thought as an option without a category of their own,
// one option is broken; its helpers come in both ways that there are, and its forms have fields of every kind.
import { Readable, Writable } from 'node:stream'
import { agent, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk'

const say = (client, update) => client.notify(methods.client.session.update, { sessionId: 'odd', update })
const chunk = text => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
const mode = current => [
  {
    id: 'mode',
    name: 'Mode',
    category: 'mode',
    type: 'select',
    currentValue: current,
    options: ['auto', 'default', 'yolo'].map(value => ({ value, name: value }))
  }
]
const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
const gif = Buffer.from('R0lGODlhAQABAAAAACw=', 'base64')
let effort = 'low'
const options = current => [
  ...(process.argv.includes('--no-modes') ? [] : mode(current)),
  { id: 'broken' },
  ...(process.argv.includes('--settings') ? others() : []),
  {
    id: 'reasoning_effort',
    name: 'Thinking',
    category: 'model_config',
    type: 'select',
    currentValue: effort,
    options: [{ group: 'all', name: 'All', options: ['low', 'high'].map(value => ({ value, name: value })) }]
  }
]
const models = { currentModelId: 'm1', availableModels: ['m1', 'm2'].map(modelId => ({ modelId, name: modelId })) }
const rateLimit = {
  status: 'allowed',
  resetsAt: 1788465600,
  rateLimitType: 'five_hour',
  unifiedWindows: { five_hour: { utilization: 0.24, resetsAt: 1788465600 }, seven_day: { utilization: 0.13, resetsAt: 1789005600 } }
}
let isFast = false
let tone = 'dry'
const others = () => [
  { id: 'fast', name: 'Fast', description: 'Costs more.', type: 'boolean', currentValue: isFast },
  { id: 'tone', name: 'Tone', type: 'select', currentValue: tone, options: ['dry', 'warm'].map(value => ({ value, name: value })) },
  { id: 'dial', name: 'Dial', type: 'dial-of-the-future', currentValue: 7, options: ['dry'].map(value => ({ value, name: value })) },
  { id: 'no-name', type: 'boolean', currentValue: 'yes' }
]
let steer = () => {}
let cancel = () => {}
const form = (properties, required = []) => ({
  mode: 'form',
  message: 'Tell me',
  requestedSchema: { type: 'object', properties, required }
})
const allFields = {
  sure: { type: 'boolean', title: 'Sure?' },
  some: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
  size: { type: 'number', minimum: 0.5 },
  strange: { type: 'colour-of-the-future' }
}

async function ask(client, question) {
  const reply = await client.request(methods.client.elicitation.create, { sessionId: 'odd', ...question })
  await say(client, chunk(JSON.stringify(reply)))
  return { stopReason: 'end_turn' }
}

const inNewWays = {
  form: client => ask(client, form(allFields)),
  'strange form': client => ask(client, form(allFields, ['strange'])),
  'file link': client => ask(client, { mode: 'url', message: 'Look', elicitationId: 'e1', url: 'file:///etc/passwd' }),
  link: client => {
    setTimeout(() => client.notify(methods.client.elicitation.complete, { elicitationId: 'e2' }), 50)
    return ask(client, { mode: 'url', message: 'Look', elicitationId: 'e2', url: 'https://example.org/' })
  },
  async helpers(client) {
    const inChild = update => client.notify(methods.client.session.update, { sessionId: 'child', update })
    await say(client, { sessionUpdate: 'subagent_update', sessionId: 'child', title: 'Looker', state: { state: 'running' } })
    await inChild(chunk('I look. '))
    await say(client, chunk('Meanwhile '))
    await inChild({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Look', kind: 'read', status: 'completed' })
    await inChild({ sessionUpdate: 'plan', entries: [{ content: 'of the helper', priority: 'low', status: 'pending' }] })
    await say(client, chunk('I wait.'))
    await say(client, { sessionUpdate: 'subagent_update', sessionId: 'child', state: { state: 'idle' } })
    await say(client, { sessionUpdate: 'tool_call', toolCallId: 'task', title: 'Ask a helper', kind: 'think', status: 'pending' })
    const _meta = { claudeCode: { parentToolUseId: 'task' } }
    await say(client, { sessionUpdate: 'tool_call', toolCallId: 'c2', title: 'Search', kind: 'search', status: 'completed', _meta })
    await say(client, { sessionUpdate: 'tool_call_update', toolCallId: 'task', status: 'completed' })
    return { stopReason: 'end_turn' }
  },
  async news(client) {
    const entries = [{ content: 'one', priority: 'low', status: 'pending' }]
    await say(client, { sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'p', entries } })
    await say(client, { sessionUpdate: 'plan_update', plan: { type: 'file', planId: 'p', uri: 'file:///p.md' } })
    await say(client, { sessionUpdate: 'plan_removed', planId: 'p' })
    await say(client, { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'in_progress' })
    for (let n = 0; n < 2; n++) await say(client, { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'completed' })
    await say(client, { sessionUpdate: 'notice', severity: 'warning', title: 'Careful' })
    await say(client, { sessionUpdate: 'session_info_update', title: 'A name' })
    await say(client, {
      sessionUpdate: 'usage_update',
      used: 5,
      size: 10,
      cost: { amount: 0.25, currency: 'USD' },
      _meta: { '_claude/rateLimit': rateLimit }
    })
    return { stopReason: 'end_turn' }
  },
  async show(client) {
    const show = content => say(client, { sessionUpdate: 'agent_message_chunk', content })
    const image = (data, mimeType = 'image/png') => ({ type: 'image', data: data.toString('base64'), mimeType })
    await say(client, chunk('Look '))
    await show({ ...image(picture), uri: 'file:///tmp/plots/sine.png' })
    await say(client, chunk('and this'))
    await show(image(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'))
    await show(image(Buffer.concat([picture, Buffer.alloc(9 * 1024 * 1024)])))
    await show({ type: 'image' })
    await show({ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' })
    await show({ type: 'resource_link', uri: 'file:///a.md', name: 'a.md' })
    await show({ type: 'resource', resource: { uri: 'file:///b.txt', text: 'what stands in it' } })
    await show({ type: 'resource', resource: { uri: 'file:///c.gif', blob: gif.toString('base64'), mimeType: 'image/gif' } })
    await show({ type: 'resource', resource: { uri: 'file:///d.bin', blob: 'AAAA', mimeType: 'application/octet-stream' } })
    await show({ type: 'hologram', data: 'AAAA' })
    const content = [{ type: 'content', content: image(picture) }]
    await say(client, { sessionUpdate: 'tool_call', toolCallId: 's1', title: 'Take a picture', kind: 'read', status: 'pending', content })
    await say(client, { sessionUpdate: 'tool_call_update', toolCallId: 's1', status: 'completed' })
    return { stopReason: 'end_turn' }
  },
  async 'ask and wait'(client) {
    const ended = inNewWays.wait(client)
    const toolCall = { toolCallId: 'w1', title: 'Write', kind: 'edit', status: 'pending' }
    const options = [{ optionId: 'no', name: 'No', kind: 'reject_once' }]
    await client.request(methods.client.session.requestPermission, { sessionId: 'odd', toolCall, options })
    return ended
  },
  async 'ask and end'(client) {
    let isOver = false
    // It needs a moment to take a word in.
    steer = async text => {
      await new Promise(resolve => setTimeout(resolve, 50))
      if (!isOver) await say(client, { ...chunk(`heard ${text}`), messageId: 'm2' })
      return !isOver
    }
    const toolCall = { toolCallId: 'w2', title: 'Write', kind: 'edit', status: 'pending' }
    const options = [{ optionId: 'no', name: 'No', kind: 'reject_once' }]
    await client.request(methods.client.session.requestPermission, { sessionId: 'odd', toolCall, options })
    isOver = true
    steer = () => {}
    return { stopReason: 'end_turn' }
  },
  deaf: client =>
    new Promise(resolve => {
      void say(client, chunk('busy'))
      cancel = () => resolve({ stopReason: 'cancelled' })
    }),
  wait: client =>
    new Promise(resolve => {
      void say(client, chunk('waiting'))
      steer = async text => {
        await say(client, { ...chunk(`heard ${text}`), messageId: 'm2' })
        resolve({ stopReason: 'end_turn' })
        steer = () => {}
      }
    })
}

if (process.argv.includes('--sign-in-first')) process.env.SIGN_IN = '1'
console.log('a banner that is no JSON')

agent({ name: 'odd' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: process.argv.includes('--version-7') ? 7 : PROTOCOL_VERSION,
    agentCapabilities: {
      loadSession: true,
      sessionCapabilities: {
        ...(!process.argv.includes('--no-fork') && { fork: {} }),
        ...(process.argv.includes('--resumes') && { resume: {} })
      }
    },
    _meta: { steering: { supported: true } },
    authMethods: [{ id: 'x', name: 'Sign in' }]
  }))
  .onRequest(methods.agent.session.new, () => {
    if (process.argv.includes('--sign-in-first')) throw RequestError.authRequired()
    if (process.argv.includes('--hangs')) return new Promise(() => console.error('hanging'))
    return { sessionId: 'odd', models, configOptions: options('auto') }
  })
  .onRequest(methods.agent.session.load, async ({ client, params }) => {
    if (params.sessionId === 'unknown') throw RequestError.resourceNotFound(params.sessionId)
    const asked = text => ({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text } })
    await say(client, chunk('a welcome'))
    await say(client, asked('do '))
    await say(client, asked('it'))
    await say(client, chunk('what was said '))
    await say(client, chunk('long ago'))
    await say(client, { sessionUpdate: 'tool_call', toolCallId: 'old', title: 'Look', kind: 'search', status: 'completed' })
    await say(client, asked('and that'))
    return { configOptions: options('auto') }
  })
  .onNotification(methods.agent.session.cancel, () => cancel())
  .onRequest(methods.agent.session.resume, () => {
    effort = 'resumed'
    return { configOptions: options('auto') }
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    if (params.configId === 'fast' && params.type === 'boolean') isFast = params.value
    if (params.configId === 'tone') tone = params.value
    if (process.argv.includes('--says-little')) return {}
    if (['fast', 'tone'].includes(params.configId)) return { configOptions: options('default') }
    if (params.configId === 'mode') return { configOptions: options(params.value) }
    effort = params.value
    return { configOptions: options('default') }
  })
  .onRequest(
    'session/set_model',
    params => params,
    ({ params }) => {
      models.currentModelId = params.modelId
      return {}
    }
  )
  .onRequest(
    'session/fork',
    params => params,
    ({ params }) => ({ sessionId: `${params.sessionId}-again` })
  )
  .onRequest(
    '_session/steering',
    params => params,
    async ({ params }) => {
      if (steer.length === 0 || (await steer(params.prompt[0].text)) === false)
        return { outcome: 'promptRequired', reason: 'noRunningTurn' }
      return { outcome: 'injected' }
    }
  )
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const text = params.prompt[0].text
    if (inNewWays[text]) return inNewWays[text](client)
    if (text === 'fail') throw new RequestError(-32603, 'Internal error', { details: 'the model is overloaded' })
    if (text === 'refuse') return { stopReason: 'refusal' }
    if (text === 'talk') {
      await say(client, { sessionUpdate: 'something_from_the_future', text: 'x' })
      await say(client, { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'well' } })
      for (const part of ['one ', 'two']) await say(client, chunk(part))
      await say(client, {
        sessionUpdate: 'tool_call',
        toolCallId: 't1',
        title: 'Look',
        kind: 'search',
        status: 'pending',
        rawInput: { pattern: 'x' }
      })
      await say(client, { sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed', rawInput: ['x'], rawOutput: '3 hits' })
      await say(client, chunk('three'))
      return { stopReason: 'end_turn' }
    }
    const toolCall = { toolCallId: 't2', title: 'Run it', kind: 'execute', rawInput: { command: 'make' } }
    const options = [
      { optionId: 'y', name: 'Yes', kind: 'allow_once' },
      { optionId: 'n', name: 'No', kind: 'reject_once' },
      { optionId: 'z', name: 'Whatever', kind: 'allow_everything_for_ever' },
      { optionId: 'exit-plan-clear-auto', name: 'Yes, clear context and use auto mode', kind: 'allow_always' }
    ]
    const { outcome } = await client.request(methods.client.session.requestPermission, { sessionId: 'odd', toolCall, options })
    if (outcome.outcome !== 'selected' || outcome.optionId !== 'y') return { stopReason: 'cancelled' }
    await say(client, { sessionUpdate: 'tool_call_update', toolCallId: 't2', status: 'completed' })
    return { stopReason: 'end_turn' }
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
