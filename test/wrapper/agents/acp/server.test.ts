import { type ClientConnection, RequestError } from '@agentclientprotocol/sdk'
import t from 'tap'
import { version } from '../../../../lib/assets.ts'
import { CannotStart } from '../../../../lib/exit.ts'
import * as v from '../../../../lib/schema.ts'
import { type Initialized, initialized, openedSession } from '../../../../lib/wrapper/agents/acp/messages.ts'
import { isGone, isSignedOut, openConversation, openLine, sayHello, whyNotOpened } from '../../../../lib/wrapper/agents/acp/server.ts'
import type { AgentProcess } from '../../../../lib/wrapper/agents/process.ts'

const gone = new RequestError(-32002, 'Resource not found')

t.test('an agent learns what Afield shows, and is refused if it speaks another version', async t => {
  const { line, asked } = answering({ protocolVersion: 1, agentInfo: { name: 'odd', version: '3' } })
  t.match(await sayHello(line, 'Odd'), { agentInfo: { version: '3' } })
  t.strictSame(asked, [
    [
      'initialize',
      {
        protocolVersion: 1,
        clientInfo: { name: 'afield', version: version() },
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          elicitation: { form: {}, url: {} },
          session: { compaction: {}, notices: {}, configOptions: { boolean: {} } }
        }
      }
    ]
  ])
  const message = 'Odd speaks version 2 of ACP; this Afield speaks version 1.'
  await t.rejects(sayHello(answering({ protocolVersion: 2 }).line, 'Odd'), { name: CannotStart.name, message })
  await t.rejects(sayHello(answering({ odd: true }).line, 'Odd'), v.Misfit)
})

t.test('a conversation is begun, resumed or loaded, as the agent can and as its history is needed', async t => {
  const load = { loadSession: true }
  const resume = { sessionCapabilities: { resume: {} } }
  const neither = 'Odd cannot continue an earlier conversation.'
  const known = { sessionId: 'old' }
  const lost = [gone]
  interface Case {
    can: object
    is?: { resume?: string; isUnsent?: boolean }
    replies?: readonly unknown[]
  }
  const cases: [name: string, how: Case, asked: [method: string, more: object][], result: boolean | string][] = [
    ['a new one', { can: { ...load, ...resume }, is: {} }, [['session/new', {}]], false],
    ['by resuming', { can: resume }, [['session/resume', known]], false],
    ['by loading', { can: load }, [['session/load', known]], true],
    ['by resuming, of both', { can: { ...load, ...resume } }, [['session/resume', known]], false],
    ['with its history', { can: { ...load, ...resume }, is: { resume: 'old', isUnsent: true } }, [['session/load', known]], true],
    ['with a history that it cannot repeat', { can: resume, is: { resume: 'old', isUnsent: true } }, [['session/resume', known]], false],
    [
      'with a history that it lost',
      { can: { ...load, ...resume }, is: { resume: 'old', isUnsent: true }, replies: lost },
      [
        ['session/load', known],
        ['session/resume', known]
      ],
      false
    ],
    [
      'with a broken line',
      { can: { ...load, ...resume }, is: { resume: 'old', isUnsent: true }, replies: [new Error('closed')] },
      [['session/load', known]],
      'closed'
    ],
    ['one that it lost', { can: load, replies: [gone] }, [['session/load', known]], 'Resource not found'],
    ['by neither', { can: {} }, [], neither]
  ]
  for (const [name, { can, is = { resume: 'old' }, replies = [] }, requests, result] of cases) {
    for (const more of [undefined, { asked: true }]) {
      const { line, asked } = answering(...replies)
      const opening = openConversation(line, 'Odd', { directory: '/src', ...is, more }, able(can))
      if (typeof result === 'string') await t.rejects(opening, { message: result }, name)
      else t.strictSame(await opening, { opened: v.parse(openedSession, { sessionId: 'new' }), isRepeated: result }, name)
      const at = { cwd: '/src', mcpServers: [], ...(more && { _meta: more }) }
      t.strictSame(
        asked,
        requests.map(([method, about]) => [method, { ...at, ...about }]),
        name
      )
    }
  }
  const silent = { agentCapabilities: undefined }
  await t.rejects(openConversation(answering().line, 'Odd', { directory: '/src', resume: 'old' }, { ...able({}), ...silent }), {
    message: neither
  })
})

t.test('why an agent did not start is a sentence about it', t => {
  const late = Object.assign(new Error('late'), { name: 'DeadlineExceeded' })
  const noProtocol = 'Odd does not speak ACP on its standard input and output.'
  const cases: [error: unknown, sentence: string][] = [
    [new RequestError(-32000, 'Authentication required'), 'Odd needs you to sign in first: run it once in this terminal.'],
    [gone, 'Odd has no such conversation on this computer.'],
    [new RequestError(-32601, 'Method not found'), noProtocol],
    [misfit(), noProtocol],
    [late, 'Odd did not answer within 1.5 s. Does this command speak ACP on its standard input and output?'],
    [new RequestError(-32603, 'Internal error', { details: 'No key.' }), 'Odd did not start: No key.'],
    [new Error('Broken.'), 'Odd did not start: Broken.'],
    ['odd', 'Odd did not start: odd']
  ]
  for (const [error, sentence] of cases) t.equal(whyNotOpened('Odd', error, 1_500), sentence)
  const other = Object.assign(new Error('No.'), { code: -32002 })
  t.strictSame([isGone(gone), isGone(other), isGone(new RequestError(-32000, ''))], [true, false, false])
  t.strictSame([isSignedOut(gone), isSignedOut(new RequestError(-32000, '')), isSignedOut('no')], [false, true, false])
  t.end()
})

t.test('updates are heard before the reply that follows them; unknown ones and broken ones are skipped', async t => {
  const { connection, agent, heard } = connected()
  const replied = connection.agent.request('session/new', { cwd: '/', mcpServers: [] }).then(() => heard.push('reply'))
  const { id } = await agent.hears()
  const update = (sessionUpdate: string, more = {}) =>
    agent.says({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate, ...more } } })
  update('agent_message_chunk', { content: { type: 'text', text: 'one' } })
  update('unheard_of')
  update('tool_call', { title: 'without an id' })
  agent.says({ method: 'session/update', params: {} })
  agent.says({ method: '_odd/report', params: { five: 5 } })
  update('plan_removed')
  agent.says({ id, result: { sessionId: 'new' } })
  await replied
  t.strictSame(heard, ['s agent_message_chunk', '_odd/report {"five":5}', 's plan_removed', 'reply'])
  agent.ends()
  await connection.closed
})

t.test('a permission is answered with the choice, or cancelled without one; a question with its answer', async t => {
  const { agent, heard } = connected('y', undefined)
  const ask = { sessionId: 's', toolCall: { toolCallId: 'c' }, options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }] }
  for (const [id, outcome] of [
    [1, { outcome: 'selected', optionId: 'y' }],
    [2, { outcome: 'cancelled' }]
  ] as const) {
    agent.says({ id, method: 'session/request_permission', params: ask })
    t.strictSame(await agent.hears(), { jsonrpc: '2.0', id, result: { outcome } })
  }
  agent.says({
    id: 3,
    method: 'elicitation/create',
    params: { sessionId: 's', mode: 'url', message: 'Sign in', url: 'https://example.org', elicitationId: 'e' }
  })
  t.strictSame(await agent.hears(), { jsonrpc: '2.0', id: 3, result: { action: 'decline' } })
  agent.says({ method: 'elicitation/complete', params: { elicitationId: 'e' } })
  while (heard.length < 4) await new Promise(resolve => setImmediate(resolve))
  t.strictSame(heard, ['asks c', 'asks c', 'asks Sign in', 'done e'])
})

/** Answers one request after the other with these, then with a conversation. */
function answering(...replies: readonly unknown[]) {
  const asked: unknown[][] = []
  const left = [...replies]
  const request = async (...about: unknown[]) => {
    asked.push(about)
    const reply = left.shift() ?? { sessionId: 'new' }
    if (reply instanceof Error) throw reply
    return reply
  }
  return { line: { request } as unknown as ClientConnection['agent'], asked }
}

function able(agentCapabilities: object): Initialized {
  return v.parse(initialized, { protocolVersion: 1, agentCapabilities })
}

function misfit(): unknown {
  try {
    return v.parse(v.string(), 5)
  } catch (error) {
    return error
  }
}

/** A line to an agent that is in this test, and what is heard on it. */
function connected(...choices: (string | undefined)[]) {
  const heard: string[] = []
  const input = new TransformStream<Uint8Array, Uint8Array>()
  const output = new TransformStream<Uint8Array, Uint8Array>()
  const connection = openLine({ input: input.writable, output: output.readable } as AgentProcess, {
    async onPermission({ toolCall }) {
      heard.push(`asks ${toolCall.toolCallId}`)
      return choices.shift()
    },
    async onQuestion({ message }) {
      heard.push(`asks ${message}`)
      return { action: 'decline' }
    },
    onLinkDone: id => heard.push(`done ${id}`),
    onUpdate: (session, { sessionUpdate }) => heard.push(`${session} ${sessionUpdate}`),
    onMore: (method, params) => heard.push(`${method} ${JSON.stringify(params)}`)
  })
  const said = output.writable.getWriter()
  const lines = input.readable.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  const agent = {
    says: (message: object) => void said.write(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)),
    ends: () => void said.close(),
    async hears(): Promise<Record<string, unknown>> {
      while (!rest.includes('\n')) rest += (await lines.read()).value ?? ''
      const end = rest.indexOf('\n')
      const line = rest.slice(0, end)
      rest = rest.slice(end + 1)
      return JSON.parse(line)
    }
  }
  return { connection, agent, heard }
}
