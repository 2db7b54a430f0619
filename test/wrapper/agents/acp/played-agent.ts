import { type AcpProgram, openAcp } from '../../../../lib/wrapper/agents/acp/acp.ts'
import type { AgentEvent, StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import type { AgentProcess } from '../../../../lib/wrapper/agents/process.ts'
import { listenTo } from '../contract.ts'

export const odd: AcpProgram = { command: 'odd', args: [], title: 'Odd' }
export const start: StartAgent = { directory: '/src', env: {} }

export class Refusal extends Error {
  readonly code: number

  constructor(code: number) {
    super('No.')
    this.code = code
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the parameters of any request
type Params = any
export type Script = Record<string, (params: Params, played: Played) => unknown>
export type Played = ReturnType<typeof play>

/** An agent that is in this test: it answers each request by its method, a prompt with the end of its turn, and others with nothing. */
export function play(script: Script, lines = '') {
  const asked: [method: string, params: Params][] = []
  const ends: (number | undefined)[] = []
  const input = new TransformStream<Uint8Array, Uint8Array>()
  const output = new TransformStream<Uint8Array, Uint8Array>()
  const said = output.writable.getWriter()
  const waiting = new Map<number, (result: Params) => void>()
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  let last = lines
  const write = (message: object) => void said.write(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)).catch(() => {})
  const played = {
    asked,
    isEnded: false,
    /** With how much time to end by itself it was ended. */
    ends,
    notes: (method: string, params: object) => write({ method, params }),
    says: (update: object, sessionId = 'one') => write({ method: 'session/update', params: { sessionId, update } }),
    asks(method: string, params: object): Promise<Params> {
      const id = 1000 + waiting.size
      write({ id, method, params })
      return new Promise(resolve => waiting.set(id, resolve))
    },
    closes: () => void said.close().catch(() => {}),
    dies(how: string, words = last) {
      last = words
      played.closes()
      end(how)
    },
    child: {
      input: input.writable,
      output: output.readable,
      ended,
      lastLines: () => last,
      async end(graceMs) {
        ends.push(graceMs)
        played.dies('exit code 0')
        await new Promise(resolve => setImmediate(resolve))
        played.isEnded = true
      }
    } satisfies AgentProcess
  }
  const answers: Script = {
    initialize: () => ({ protocolVersion: 1, _meta: { steering: { supported: true } } }),
    'session/new': () => ({ sessionId: 'one' }),
    'session/prompt': () => ({ stopReason: 'end_turn' }),
    ...script
  }
  const reply = async (id: number | undefined, method: string, params: Params) => {
    asked.push([method, params])
    try {
      const result = (await answers[method]?.(params, played)) ?? {}
      if (id !== undefined) write({ id, result })
    } catch (error) {
      write({ id, error: { code: (error as Refusal).code, message: 'No.' } })
    }
  }
  void (async () => {
    let rest = ''
    for await (const text of input.readable.pipeThrough(new TextDecoderStream())) {
      const [...complete] = `${rest}${text}`.split('\n')
      rest = complete.pop() ?? ''
      for (const line of complete) {
        const { id, method, params, result } = JSON.parse(line)
        if (method !== undefined) void reply(id, method, params)
        else waiting.get(id)?.(result)
      }
    }
  })()
  return played
}

/** Its conversation, and what is told of it: in short, too. */
export async function begun(script: Script, { program, ...how }: Partial<StartAgent> & { program?: Partial<AcpProgram> } = {}) {
  const played = play(script)
  const agent = await openAcp({ ...odd, ...program }, played.child, { ...start, ...how })
  const talk = listenTo(agent)
  await new Promise(resolve => setImmediate(resolve))
  return { ...played, played, agent, talk, told: () => talk.heard.map(inShort) }
}

function inShort(event: AgentEvent): string {
  switch (event.type) {
    case 'modes':
      return `modes ${event.modes.current}`
    case 'options':
      return `options ${event.models?.current} ${event.efforts?.current}`
    case 'settings':
      return `settings ${event.settings.map(({ current }) => current)}`
    case 'notice':
    case 'text':
    case 'text-grew':
      return `${event.type} ${event.text}`
    case 'conversation':
      return `conversation ${event.id}`
    case 'step-started':
      return `step-started ${event.step.call}`
    case 'step-ended':
      return `step-ended ${event.status}`
    case 'permission-asked':
      return `permission-asked ${event.asked.ask}`
    case 'turn-ended':
      return `turn-ended ${event.reason}${event.isLost ? ' lost' : ''}${event.reason === 'failed' ? `: ${event.error}` : ''}`
    default:
      return event.type
  }
}
