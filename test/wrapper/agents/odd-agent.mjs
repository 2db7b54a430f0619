// An ACP agent with the habits of others: modes as a configuration option that begins where it decides by itself, a
// permission before its step is announced, chunks without a message id, a no that ends the turn, errors that hide what
// happened in their data, updates of kinds nobody knows, noise on its output, and a history that it repeats when loaded.
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
if (process.argv.includes('--sign-in-first')) process.env.SIGN_IN = '1'
console.log('a banner that is no JSON')

agent({ name: 'odd' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: process.argv.includes('--version-7') ? 7 : PROTOCOL_VERSION,
    agentCapabilities: { loadSession: true },
    authMethods: [{ id: 'x', name: 'Sign in' }]
  }))
  .onRequest(methods.agent.session.new, () => {
    if (process.argv.includes('--sign-in-first')) throw RequestError.authRequired()
    return { sessionId: 'odd', configOptions: mode('auto') }
  })
  .onRequest(methods.agent.session.load, async ({ client }) => {
    await say(client, chunk('what was said long ago'))
    return { configOptions: mode('auto') }
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => ({ configOptions: mode(params.value) }))
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const text = params.prompt[0].text
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
      await say(client, { sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed', rawOutput: '3 hits' })
      await say(client, chunk('three'))
      return { stopReason: 'end_turn' }
    }
    const toolCall = { toolCallId: 't2', title: 'Run it', kind: 'execute', rawInput: { command: 'make' } }
    const options = [
      { optionId: 'y', name: 'Yes', kind: 'allow_once' },
      { optionId: 'n', name: 'No', kind: 'reject_once' },
      { optionId: 'z', name: 'Whatever', kind: 'allow_everything_for_ever' }
    ]
    const { outcome } = await client.request(methods.client.session.requestPermission, { sessionId: 'odd', toolCall, options })
    if (outcome.outcome !== 'selected' || outcome.optionId !== 'y') return { stopReason: 'cancelled' }
    await say(client, { sessionUpdate: 'tool_call_update', toolCallId: 't2', status: 'completed' })
    return { stopReason: 'end_turn' }
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
