// An ACP agent that presents one plan to approve, and reports in which mode it was started.
import { Readable, Writable } from 'node:stream'
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'

const plan = '1. **Clear** the ditch in `ditch.md`.\n2. **Mend** the gate.'
const modes = {
  currentModeId: 'plan',
  availableModes: ['plan', 'default', 'acceptEdits', 'bypassPermissions'].map(id => ({ id, name: id }))
}
let mode = 'plan'
let left = Promise.withResolvers()

agent({ name: 'planner' })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: 'plan', modes }))
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    mode = params.modeId
    if (mode === 'plan') left = Promise.withResolvers()
    else left.resolve()
    return {}
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const say = text =>
      client.notify(methods.client.session.update, {
        sessionId: 'plan',
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
      })
    const [{ text }] = params.prompt
    if (text !== 'Plan it') {
      await say(`I hear: ${text}`)
      return { stopReason: 'end_turn' }
    }
    const { outcome } = await client.request(methods.client.session.requestPermission, {
      sessionId: 'plan',
      toolCall: { toolCallId: `plan-${Date.now()}`, title: 'Ready to code?', kind: 'switch_mode', rawInput: { plan } },
      options: [
        { optionId: 'go', name: 'Yes', kind: 'allow_once' },
        { optionId: 'no', name: 'No, keep planning', kind: 'reject_once' }
      ]
    })
    // The mode is set right after the answer.
    await new Promise(resolve => setImmediate(resolve))
    if (outcome.optionId === 'go' && mode === 'plan') await left.promise
    await say(outcome.optionId === 'go' ? `Off I go in ${mode}.` : 'Back to the map.')
    return { stopReason: 'end_turn' }
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
