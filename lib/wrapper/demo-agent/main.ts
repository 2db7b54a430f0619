import { Readable, Writable } from 'node:stream'
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import { version } from '../../assets.ts'
import { openSessions } from './sessions.ts'
import { runTurn } from './turn.ts'

/**
 * A coding agent without a model: a real ACP agent on standard input and output whose turns are scripted. It serves
 * newcomers, who can try everything without an account anywhere, and tests. Runs until its input ends.
 */
export function runDemoAgent(stateFolder: string): Promise<void> {
  const sessions = openSessions(stateFolder)
  const turns = new Map<string, AbortController>()
  const connection = agent({ name: 'afield-demo' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'afield-demo', title: 'Demo agent', version: version() },
      agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {} } },
      authMethods: []
    }))
    .onRequest(methods.agent.session.new, ({ params }) => {
      const { id, mode } = sessions.create(params.cwd)
      return { sessionId: id, modes: modes(mode) }
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const { id, mode, history } = sessions.find(params.sessionId)
      for (const update of history) await client.notify(methods.client.session.update, { sessionId: id, update })
      return { modes: modes(mode) }
    })
    .onRequest(methods.agent.session.resume, ({ params }) => ({ modes: modes(sessions.find(params.sessionId).mode) }))
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
      const prompt = params.prompt.map(block => (block.type === 'text' ? block.text : '')).join('\n')
      try {
        await runTurn({ session, prompt, client, signal: turn.signal })
      } finally {
        turns.delete(session.id)
        sessions.save(session)
      }
      return { stopReason: turn.signal.aborted ? ('cancelled' as const) : ('end_turn' as const) }
    })
    .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
  return connection.closed
}

function modes(currentModeId: string) {
  return {
    currentModeId,
    availableModes: [
      { id: 'default', name: 'Ask first', description: 'Asks before it changes a file or runs a command.' },
      { id: 'acceptEdits', name: 'Accept edits', description: 'Changes files without asking.' },
      { id: 'plan', name: 'Plan', description: 'Says what it would do and changes nothing.' }
    ]
  }
}
