import { Readable, Writable } from 'node:stream'
import {
  type AgentContext,
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate
} from '@agentclientprotocol/sdk'
import { version } from '../../../assets.ts'
import * as v from '../../../schema.ts'
import { choose, configOptions, sessionModes } from './options.ts'
import { type DemoSession, openSessions } from './sessions.ts'
import { describeImages, runTurn } from './turn.ts'

/**
 * A coding agent without a model: a real ACP agent on standard input and output with scripted turns. It
 * serves newcomers, who can try everything without any account, and tests. Runs until its input ends.
 */
export function runDemoAgent(stateFolder: string): Promise<void> {
  const sessions = openSessions(stateFolder)
  const turns = new Map<string, AbortController>()
  let canAsk = false
  const connection = agent({ name: 'afield-demo' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      canAsk = Boolean(params.clientCapabilities?.elicitation?.form)
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'afield-demo', title: 'Demo agent', version: version() },
        agentCapabilities: { loadSession: true, promptCapabilities: { image: true }, sessionCapabilities: { resume: {}, fork: {} } },
        authMethods: []
      }
    })
    .onRequest(methods.agent.session.new, ({ params, client }) => {
      const session = sessions.create(params.cwd)
      offerCommands(client, session.id)
      return { sessionId: session.id, ...choices(session) }
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const session = sessions.find(params.sessionId)
      for (const update of session.history) await client.notify(methods.client.session.update, { sessionId: session.id, update })
      offerCommands(client, session.id)
      return choices(session)
    })
    .onRequest(methods.agent.session.resume, ({ params, client }) => {
      const session = sessions.find(params.sessionId)
      offerCommands(client, session.id)
      return choices(session)
    })
    .onRequest(
      'session/fork',
      params => v.parse(forked, params),
      ({ params }) => ({ sessionId: sessions.copy(params.sessionId).id })
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
      const session = sessions.find(params.sessionId)
      if (!choose(session, params.configId, params.value)) throw RequestError.invalidParams()
      sessions.save(session)
      return { configOptions: configOptions(session) }
    })
    .onRequest(methods.agent.session.setMode, async ({ params, client }) => {
      const session = sessions.find(params.sessionId)
      session.mode = params.modeId
      sessions.save(session)
      const update = { sessionUpdate: 'current_mode_update' as const, currentModeId: params.modeId }
      await client.notify(methods.client.session.update, { sessionId: session.id, update })
      return {}
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => turns.get(params.sessionId)?.abort())
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const session = sessions.find(params.sessionId)
      const turn = new AbortController()
      turns.set(session.id, turn)
      const prompt = params.prompt.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n')
      const images = describeImages(params.prompt)
      try {
        const note = (update: SessionUpdate) => sessions.note(session, update)
        await runTurn({ session, prompt, images, client, note, canAsk, signal: turn.signal })
      } finally {
        turns.delete(session.id)
        sessions.save(session)
      }
      return { stopReason: turn.signal.aborted ? ('cancelled' as const) : ('end_turn' as const) }
    })
    .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
  return connection.closed
}

const forked = v.object({ sessionId: v.string() })

/** Once the session exists: clients ignore an unknown one. */
function offerCommands(client: AgentContext, sessionId: string) {
  const update = { sessionUpdate: 'available_commands_update' as const, availableCommands: [...commands] }
  setImmediate(() => void client.notify(methods.client.session.update, { sessionId, update }).catch(() => {}))
}

const commands = [
  { name: 'plan', description: 'Makes a plan and carries it out.' },
  { name: 'ask', description: 'Asks you something with a form.' },
  { name: 'risky', description: 'Asks for something risky.' }
]

function choices(session: DemoSession) {
  return { modes: sessionModes(session), configOptions: configOptions(session) }
}
