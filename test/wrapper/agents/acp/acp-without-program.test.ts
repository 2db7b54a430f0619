import t from 'tap'
import { CannotStart } from '../../../../lib/exit.ts'
import { type AcpProgram, openAcp } from '../../../../lib/wrapper/agents/acp/acp.ts'
import { type Place, placeOf, readPlace } from '../../../../lib/wrapper/agents/acp/history.ts'
import { AgentDied, type AgentEvent, type StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import { listenTo } from '../contract.ts'
import { begun, odd, type Played, play, Refusal, type Script, start } from './played-agent.ts'

const loads = { loadSession: true }
const permission = 'session/request_permission'
const commands = { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'plan' }] }

const all = {
  configOptions: [
    select('mode', 'default', 'mode', 'default', 'plan'),
    select('model', 'small', 'model', 'small', 'large'),
    select('thinking', 'low', 'thought_level', 'low', 'high'),
    select('tone', 'dry', undefined, 'dry', 'warm')
  ]
}

t.test('an agent is introduced to Afield, and its abilities are those that it names', async t => {
  const nothing = await begun({ initialize: () => ({ protocolVersion: 1 }) })
  const { agent } = nothing
  t.strictSame([agent.version, agent.takesImages, agent.steer, agent.fork], [undefined, false, undefined, undefined])
  t.strictSame([agent.conversation, agent.unsent], ['one', undefined])
  const all = await begun(able({ promptCapabilities: { image: true }, sessionCapabilities: { fork: {} } }))
  t.strictSame([all.agent.version, all.agent.takesImages], ['3', true])
  t.strictSame([typeof all.agent.steer, typeof all.agent.fork], ['function', 'function'])
})

t.test('a conversation is opened in its folder, with what only this agent is asked for', async t => {
  const more = { asked: { only: 'Odd' }, read: () => undefined }
  const at = { cwd: '/src', mcpServers: [], _meta: { only: 'Odd' } }
  const opened = async (script: Script, how: Partial<StartAgent> = {}) => {
    const { agent, asked } = await begun(script, { program: { more }, ...how })
    return [agent.conversation, ...asked.slice(1)]
  }
  t.strictSame(await opened({}), ['one', ['session/new', at]])
  const known = { ...at, sessionId: 'old' }
  t.strictSame(await opened(able(loads), { resume: 'old' }), ['old', ['session/load', known]])
  t.strictSame(await opened({ ...able(loads), 'session/load': () => ({ sessionId: 'now' }) }, { resume: 'old' }), [
    'now',
    ['session/load', known]
  ])
  t.strictSame(await opened({ 'session/new': () => ({}) }), ['', ['session/new', at]])
})

t.test('it starts in a mode in which it asks, and says if it has none or refuses it', async t => {
  const none = 'Odd has no mode that asks for approval; it decides by itself.'
  const started = async (session: object, mode?: string, more: Script = {}) => {
    const { asked, told } = await begun({ ...sessionWith(session), ...more }, { mode })
    return [...asked.slice(2).map(([, params]) => params.modeId ?? params.value), ...told()]
  }
  t.strictSame(await started({ modes: modes('auto', 'auto', 'default') }), ['default', 'modes default', 'modes default'])
  t.strictSame(await started({ modes: modes('default', 'auto', 'default') }, 'auto'), ['auto', 'modes auto', 'modes auto'])
  t.strictSame(await started({ modes: modes('auto', 'auto') }), [`notice ${none}`, 'modes auto'])
  const refuses = {
    'session/set_mode'() {
      throw new Refusal(-32603)
    }
  }
  t.strictSame(await started({ modes: modes('default', 'default') }, undefined, refuses), ['default', `notice ${none}`, 'modes default'])
  t.strictSame(await started({ modes: modes('default', 'default') }, 'plan'), [
    'default',
    'notice Odd has no mode “Plan only”; it asks first.',
    'modes default'
  ])
  t.strictSame(await started({}, 'plan'), ['notice Odd has no mode “Plan only”; it offers no modes.'])
  t.strictSame(await started({}), [])
})

t.test('choices are asked for in its conversation, and only those that it has', async t => {
  const { agent, asked, talk, told } = await begun(
    sessionWith({
      modes: modes('default', 'default', 'yolo'),
      models: { currentModelId: 'small', availableModels: ['small', 'large'].map(modelId => ({ modelId, name: modelId })) },
      configOptions: [select('thinking', 'low', 'thought_level', 'low', 'high'), select('tone', 'dry', undefined, 'dry', 'warm')]
    })
  )
  asked.length = 0
  t.strictSame(
    [await agent.setMode('bypassPermissions'), await agent.setModel?.('large'), await agent.setEffort?.('high')],
    [true, true, true]
  )
  t.equal(await agent.setSetting?.('tone', 'warm'), true)
  const sessionId = 'one'
  const wanted = [
    ['session/set_mode', { sessionId, modeId: 'yolo' }],
    ['session/set_model', { sessionId, modelId: 'large' }],
    ['session/set_config_option', { sessionId, configId: 'thinking', value: 'high' }],
    ['session/set_config_option', { sessionId, configId: 'tone', value: 'warm' }]
  ]
  t.strictSame(asked, wanted)
  await talk.until('settings', ({ settings }) => settings[0]?.current === 'warm')
  t.strictSame(told(), [
    'modes default',
    'options small low',
    'settings dry',
    'modes yolo',
    'options large low',
    'options large high',
    'settings warm'
  ])
  t.strictSame(
    [
      await agent.setMode('plan'),
      await agent.setModel?.('none'),
      await agent.setEffort?.('none'),
      await agent.setSetting?.('tone', 'loud')
    ],
    [false, false, false, false]
  )
  t.strictSame(asked, wanted)
  t.equal(await (await begun({})).agent.setMode('default'), false, 'it has no modes')
})

t.test('changes of its choices by itself are told', async t => {
  const { says, talk } = await begun(
    sessionWith({
      configOptions: [select('mode', 'default', 'mode', 'default', 'plan'), select('model', 'small', 'model', 'small', 'large')]
    })
  )
  says({ sessionUpdate: 'current_mode_update', currentModeId: 'plan' })
  t.equal((await talk.until('modes', ({ modes }) => modes.current !== 'default')).modes.current, 'plan')
  says({ sessionUpdate: 'config_option_update', configOptions: [select('model', 'large', 'model', 'small', 'large')] })
  t.equal((await talk.until('options', ({ models }) => models?.current !== 'small')).models?.current, 'large')
})

t.test('before its conversation is open only commands are told, and afterwards no session but its own', async t => {
  const { agent, says, talk, told } = await begun({
    'session/new'(_, { says }) {
      says(chunk('a banner'))
      says(commands, 'earlier')
      return { sessionId: 'one' }
    }
  })
  says(chunk('not ours'), 'another')
  says(chunk('ours'))
  says({ sessionUpdate: 'notice', title: 'End' })
  await talk.until('notice')
  await agent.stop()
  await talk.end
  t.strictSame(told(), ['commands', 'text-grew ours', 'notice End'])
})

t.test('a prompt is given with its pictures, and one after the other', async t => {
  const replies = [Promise.withResolvers<object>(), Promise.withResolvers<object>()]
  const { agent, asked, talk } = await begun({ 'session/prompt': () => replies[talk.heard.length === 0 ? 0 : 1]?.promise })
  asked.length = 0
  t.equal(await agent.prompt('look', [{ mimeType: 'image/png', bytes: Buffer.from('png') }]), true)
  const second = agent.prompt('and then?')
  replies[0]?.resolve({ stopReason: 'refusal' })
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: 'The agent refused to continue.' })
  t.equal(await second, true)
  replies[1]?.resolve({ stopReason: 'end_turn' })
  t.strictSame(await talk.until('turn-ended'), { type: 'turn-ended', reason: 'done' })
  t.strictSame(asked, [
    [
      'session/prompt',
      {
        sessionId: 'one',
        prompt: [
          { type: 'image', mimeType: 'image/png', data: 'cG5n' },
          { type: 'text', text: 'look' }
        ]
      }
    ],
    ['session/prompt', { sessionId: 'one', prompt: [{ type: 'text', text: 'and then?' }] }]
  ])
})

t.test('a question left open when the turn ends is closed before it', async t => {
  const { agent, talk, told } = await begun({
    'session/prompt'(_, { asks }) {
      void asks(permission, permissionFor('one'))
      return { stopReason: 'end_turn' }
    }
  })
  await agent.prompt('go')
  await talk.until('turn-ended')
  t.strictSame(told(), ['step-started c', 'permission-asked c', 'permission-closed', 'step-ended completed', 'turn-ended done'])
})

t.test('a no denies the step, and a yes does not', async t => {
  for (const [choice, status] of [
    ['n', 'denied'],
    ['y', 'failed']
  ] as const) {
    const { agent, talk } = await begun({
      async 'session/prompt'(_, { asks, says }) {
        const { outcome } = await asks(permission, permissionFor('one'))
        t.strictSame(outcome, { outcome: 'selected', optionId: choice })
        says({ sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'failed' })
        return { stopReason: 'end_turn' }
      }
    })
    await agent.prompt('go')
    const { asked } = await talk.until('permission-asked')
    t.strictSame([agent.answer('another', choice), agent.answer(asked.ask, 'z')], [false, false])
    t.equal(agent.answer(asked.ask, choice), true)
    t.equal((await talk.until('step-ended')).status, status)
  }
})

t.test('what a subagent says, does and asks in its own session is told as its own', async t => {
  const { agent, talk } = await begun({
    async 'session/prompt'(_, { says, asks }) {
      says({ sessionUpdate: 'subagent_update', sessionId: 'child', title: 'Looker', state: { state: 'running' } })
      says(chunk('I look.'), 'child')
      await asks(permission, permissionFor('child'))
      await asks(permission, { ...permissionFor('one'), toolCall: { toolCallId: 'd' } })
      return { stopReason: 'end_turn' }
    }
  })
  await agent.prompt('go')
  t.match(await talk.until('text'), { text: 'I look.', subagent: 'child' })
  t.match(await talk.until('step-started'), { step: { call: 'c' }, subagent: 'child' })
  agent.answer((await talk.until('permission-asked')).asked.ask, 'y')
  const { step, subagent } = await talk.until('step-started')
  t.strictSame([step.call, subagent], ['d', undefined])
  agent.answer((await talk.until('permission-asked')).asked.ask, 'y')
  await talk.until('turn-ended')
})

t.test('what only this agent reports is read by its kind, and its retry withdraws the text before', async t => {
  const methods: unknown[] = []
  const more: AcpProgram['more'] = {
    asked: {},
    read(method, params) {
      methods.push([method, params])
      if (method === '_odd/retry') return { type: 'retrying', inMs: 5, why: 'overloaded' } as AgentEvent
      return method === '_odd/title' ? { type: 'title', title: 'Tea' } : undefined
    }
  }
  const { agent, talk, told } = await begun(
    {
      'session/prompt'(_, { says, notes }) {
        says(chunk('one'))
        notes('_odd/title', {})
        says(chunk(' two'))
        notes('_odd/retry', { times: 1 })
        notes('_odd/other', {})
        says(chunk('again'))
        return { stopReason: 'end_turn' }
      }
    },
    { program: { more } }
  )
  await agent.prompt('go')
  await talk.until('turn-ended')
  t.strictSame(methods, [
    ['_odd/title', {}],
    ['_odd/retry', { times: 1 }],
    ['_odd/other', {}]
  ])
  t.strictSame(told(), ['text-grew one', 'title', 'text-grew one two', 'retrying', 'text-grew again', 'text again', 'turn-ended done'])
  const plain = await begun({})
  plain.notes('_odd/title', {})
  plain.says({ sessionUpdate: 'notice', title: 'End' })
  await plain.talk.until('notice')
  t.strictSame(plain.told(), ['notice End'])
})

t.test('a turn is cancelled in its conversation, and its questions end with that', async t => {
  const done = Promise.withResolvers<object>()
  const { agent, asked, talk, told } = await begun({
    'session/prompt'(_, { asks }) {
      void asks(permission, permissionFor('one'))
      return done.promise
    },
    'session/cancel': () => done.resolve({ stopReason: 'cancelled' })
  })
  await agent.prompt('go')
  await talk.until('permission-asked')
  asked.length = 0
  await agent.cancel()
  await talk.until('turn-ended')
  t.strictSame(asked, [['session/cancel', { sessionId: 'one' }]])
  t.strictSame(told().slice(-3), ['permission-closed', 'step-ended cancelled', 'turn-ended cancelled'])
})

t.test('a stopped agent ends its turn as cancelled, and takes nothing afterwards', async t => {
  const { agent, asked, ends, talk, told } = await begun({
    'session/prompt'(_, { asks }) {
      void asks(permission, permissionFor('one'))
      return new Promise(() => {})
    }
  })
  await agent.prompt('go')
  await talk.until('permission-asked')
  await agent.stop()
  await talk.end
  t.equal(ends[0], undefined, 'it has time to end by itself')
  t.strictSame(told().slice(-3), ['permission-closed', 'step-ended cancelled', 'turn-ended cancelled'])
  asked.length = 0
  t.equal(await agent.prompt('more'), false)
  await agent.cancel()
  await agent.stop()
  t.strictSame(asked, [])
})

t.test('nothing of a stopped agent runs any more', async t => {
  const { agent, played } = await begun({})
  await agent.stop()
  t.equal(played.isEnded, true)
})

t.test('a question outside of a turn is closed when its agent dies', async t => {
  const { asks, dies, talk, told } = await begun({})
  void asks(permission, permissionFor('one'))
  await talk.until('permission-asked')
  dies('exit code 3')
  await talk.end.catch(() => {})
  t.strictSame(told().slice(1), ['permission-asked c', 'permission-closed'])
})

t.test('text between turns is complete when the next one begins', async t => {
  const { agent, says, talk, told } = await begun({
    'session/prompt'(_, { says }) {
      says(chunk('yes'))
      return { stopReason: 'end_turn' }
    }
  })
  says(chunk('by the way'))
  await talk.until('text-grew')
  await agent.prompt('go')
  await talk.until('turn-ended')
  t.strictSame(told(), ['text-grew by the way', 'text by the way', 'text-grew yes', 'text yes', 'turn-ended done'])
})

t.test('what an agent asks besides permissions is answered by the person, or by the page that it opened', async t => {
  const { agent, asks, notes, talk } = await begun({})
  const form = { mode: 'form', message: 'Which tea?', requestedSchema: { properties: { tea: { type: 'string' } } } }
  const answered = asks('elicitation/create', { sessionId: 'one', ...form })
  const { asked } = await talk.until('question-asked')
  t.equal(agent.answerQuestion?.('another', {}), false)
  t.equal(agent.answerQuestion?.(asked.ask, { tea: { values: [], other: 'green' } }), true)
  t.strictSame(await answered, { action: 'accept', content: { tea: 'green' } })
  const url = { mode: 'url', message: 'Sign in', url: 'https://example.org', elicitationId: 'e' }
  const opened = asks('elicitation/create', { sessionId: 'one', ...url })
  await talk.until('question-asked')
  notes('elicitation/complete', { elicitationId: 'e' })
  t.strictSame(await opened, { action: 'accept' })
})

t.test('an agent that dies ends its turn, its questions and its events', async t => {
  const { agent, dies, talk, told } = await begun({
    'session/prompt'(_, { asks, says }) {
      says(chunk('half a sen'))
      void asks(permission, permissionFor('one'))
      return new Promise(() => {})
    }
  })
  await agent.prompt('go')
  await talk.until('permission-asked')
  dies('killed by SIGKILL', 'Out of memory.')
  const error = await talk.end.catch((error: unknown) => error)
  t.match(error, { name: AgentDied.name, how: 'killed by SIGKILL', lastLines: 'Out of memory.' })
  t.strictSame(told().slice(-3), [
    'permission-closed',
    'step-ended cancelled',
    'turn-ended failed lost: The agent exited unexpectedly (killed by SIGKILL).'
  ])
})

t.test('an agent that closes its output is ended', async t => {
  const { ends, closes, talk } = await begun({})
  closes()
  t.match(await talk.end.catch((error: unknown) => error), { how: 'exit code 0' })
  t.strictSame(ends, [undefined])
})

t.test('an agent that could not be opened is ended at once, with the reason and its last lines', async t => {
  const last = '\nIts last output:\n  no key\n  at all'
  const cases: [string, Script, string][] = [
    ['refuses', { 'session/new': refuse(-32603) }, 'Odd did not start: No.'],
    ['is signed out', { 'session/new': refuse(-32000) }, 'Odd needs you to sign in first: run it once in this terminal.'],
    [
      'dies',
      {
        'session/new'(_, { dies }) {
          dies('exit code 4')
          return new Promise(() => {})
        }
      },
      'Odd exited before it was ready (exit code 4).'
    ],
    [
      'closes its output',
      {
        'session/new'(_, { closes }) {
          closes()
          return new Promise(() => {})
        }
      },
      'Odd exited before it was ready (exit code 0).'
    ]
  ]
  for (const [what, script, message] of cases) {
    for (const lines of ['', 'no key\nat all']) {
      const played = play(script, lines)
      const error = await openAcp(odd, played.child, start).catch((error: unknown) => error)
      t.match(error, { name: CannotStart.name }, what)
      t.equal((error as Error).message, `${message}${lines && last}`, what)
      t.strictSame([played.ends.includes(0), played.isEnded], [true, true], what)
    }
  }
  const version = play({ initialize: () => ({ protocolVersion: 7 }) }, 'no key')
  await t.rejects(openAcp(odd, version.child, start), { message: 'Odd speaks version 7 of ACP; this Afield speaks version 1.' })
  const cancelled = new AbortController()
  const waiting = play({ 'session/new': () => cancelled.abort(new Error('Not needed.')) }, '')
  await t.rejects(openAcp(odd, waiting.child, { ...start, signal: cancelled.signal }), { message: 'Odd did not start: Not needed.' })
})

t.test('what reports beside an agent ends with it', async t => {
  const calls: string[] = []
  const beside: AcpProgram['beside'] = (agent, tell) => {
    calls.push(`begins with ${agent.conversation}`)
    tell({ type: 'title', title: 'Beside' })
    return () => void calls.push('ends')
  }
  const { agent, talk } = await begun({}, { program: { beside } })
  await talk.until('title')
  t.strictSame(calls, ['begins with one'])
  await agent.stop()
  t.strictSame(calls, ['begins with one', 'ends'])
})

t.test('input into a turn stays in our queue if the agent wants it as a prompt, or fails', async t => {
  const { agent, asked } = await begun({
    '_session/steering': ({ prompt }) => {
      const { text } = prompt.at(-1)
      if (text === 'fail') throw new Refusal(-32603)
      return text === 'odd' ? {} : { outcome: text }
    }
  })
  asked.length = 0
  t.equal(await agent.steer?.('injected', [{ mimeType: 'image/png', bytes: Buffer.from('png') }]), true)
  const _meta = { steering: { idleBehavior: 'promptRequired' } }
  const prompt = [
    { type: 'image', mimeType: 'image/png', data: 'cG5n' },
    { type: 'text', text: 'injected' }
  ]
  t.strictSame(asked, [['_session/steering', { sessionId: 'one', prompt, _meta }]])
  for (const refused of ['promptRequired', 'fail', 'odd']) t.equal(await agent.steer?.(refused), false, refused)
})

t.test('a second conversation begins in the same folder, and needs an id', async t => {
  const { agent, asked } = await begun({
    ...able({ sessionCapabilities: { fork: {} } }),
    'session/fork': () => (asked.length === 1 ? { sessionId: 'two' } : {})
  })
  asked.length = 0
  t.equal(await agent.fork?.(), 'two')
  t.strictSame(asked, [['session/fork', { sessionId: 'one', cwd: '/src', mcpServers: [] }]])
  await t.rejects(async () => void (await agent.fork?.()), { message: 'Odd did not return the ID of the forked conversation.' })
})

t.test('growing text is skipped for a reader who is far behind, and complete text is not', async t => {
  const played = play({
    'session/prompt'({ prompt }, { says }) {
      if (prompt[0].text === 'wait') return new Promise(() => {})
      for (let n = 0; n < 200; n++) says(chunk('x'))
      return { stopReason: 'end_turn' }
    }
  })
  const agent = await openAcp(odd, played.child, start)
  for (const text of ['go', 'go', 'wait']) await agent.prompt(text)
  await agent.stop()
  const talk = listenTo(agent)
  await talk.end
  const grown = talk.heard.filter(({ type }) => type === 'text-grew').length
  const texts = talk.heard.flatMap(event => (event.type === 'text' ? [event.text.length] : []))
  t.equal(grown, 65)
  t.strictSame(texts, [200, 200])
})

t.test('how far a conversation was told is told with it, if the agent can repeat the conversation', async t => {
  const script = {
    'session/prompt'(_: unknown, { says }: Played) {
      says(chunk('one'))
      says({ sessionUpdate: 'tool_call', toolCallId: 'a', title: 'Look', kind: 'read', status: 'completed' })
      return { stopReason: 'end_turn' }
    },
    '_session/steering': () => ({ outcome: 'injected' })
  }
  const { agent, talk } = await begun({ ...able(loads), ...script }, { program: { isHeardAgain: true } })
  await agent.prompt('go on')
  await talk.until('turn-ended')
  await agent.steer?.('and on')
  await agent.stop()
  await talk.end
  const places = talk.heard.flatMap(event => (event.type === 'history-read' ? [readPlace(event.upTo)] : []))
  const { turn } = places[0] ?? {}
  const at = { conversation: 'one', messages: 1, turn, prompt: 'goon', steered: [] }
  t.match(places[0], { ...at, said: {}, isEnded: false })
  t.match(places.at(-2), { ...at, said: { says: { length: 3 } }, isEnded: true })
  t.match(places.at(-1), { ...at, messages: 2, steered: ['andon'] })
  const rows = talk.heard.flatMap(event => ('row' in event ? [event.row] : []))
  t.equal(rows.length, 3)
  t.ok(rows.every(row => row?.startsWith(`${turn} `)))

  for (const [script2, program] of [
    [able(loads), {}],
    [able({}), { isHeardAgain: true }]
  ] as const) {
    const { agent, talk } = await begun({ ...script2, ...script }, { program })
    await agent.prompt('go')
    await talk.until('turn-ended')
    t.equal(talk.heard.filter(event => event.type === 'history-read' || 'row' in event).length, 0)
  }
})

t.test('a place within a turn is told to a reader who keeps up, and not to one who is behind', async t => {
  const replies = Promise.withResolvers<object>()
  const script = { ...able(loads), 'session/prompt': () => replies.promise }
  const { agent, says, talk } = await begun(script, { program: { isHeardAgain: true } })
  await agent.prompt('go')
  await talk.until('history-read')
  says(chunk('one'))
  says({ sessionUpdate: 'plan', entries: [] })
  await talk.until('text')
  const { upTo } = await talk.until('history-read')
  t.match(readPlace(upTo), { said: { says: { length: 3 } } })
  const behind = play({
    ...script,
    'session/prompt'({ prompt }, { says }) {
      if (prompt[0].text === 'wait') return new Promise(() => {})
      for (let n = 0; n < 5; n++) {
        says(chunk('one'))
        says({ sessionUpdate: 'plan', entries: [] })
      }
      return { stopReason: 'end_turn' }
    }
  })
  const other = await openAcp({ ...odd, isHeardAgain: true }, behind.child, start)
  for (const text of ['go', 'go', 'wait']) await other.prompt(text)
  await other.stop()
  const late = listenTo(other)
  await late.end
  const kinds = late.heard.filter(({ type }) => type === 'history-read' || type === 'turn-ended').map(({ type }) => type)
  const oneTurn = ['history-read', 'turn-ended', 'history-read']
  t.strictSame(kinds, [...oneTurn, ...oneTurn, ...oneTurn])
})

t.test('a conversation that was told in part is repeated from there, and counted on', async t => {
  const place: Place = { conversation: 'old', turn: 'turn', prompt: 'second', steered: [], messages: 2, said: {}, isEnded: false }
  const repeats: Script = {
    ...able({ ...loads, sessionCapabilities: { resume: {} } }),
    'session/load'(_, { says }) {
      for (const text of ['first', 'second']) {
        says({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text } })
        says(chunk(`to the ${text}`))
      }
      return {}
    }
  }
  const resumed = async (how: Partial<StartAgent>, script: Script = repeats) => {
    const { agent, asked, talk, told } = await begun(script, { program: { isHeardAgain: true }, resume: 'old', ...how })
    await agent.prompt('next')
    const { upTo } = await talk.until('history-read')
    t.notOk(told().some(line => line.includes('to the')))
    const said = agent.unsent?.events.flatMap(event => (event.type === 'text' ? [event.text] : []))
    return [asked[1]?.[0], said, readPlace(upTo)?.messages]
  }
  t.strictSame(await resumed({ sentUpTo: placeOf(place) }), ['session/load', ['to the second'], 3])
  t.strictSame(await resumed({ sentUpTo: placeOf({ ...place, isEnded: true }) }), ['session/resume', undefined, 3])
  t.strictSame(await resumed({ sentUpTo: placeOf({ ...place, conversation: 'other' }) }), ['session/resume', undefined, 3])
  t.strictSame(await resumed({ sentUpTo: { file: 'other', offset: 0 } }), ['session/resume', undefined, undefined])
  t.strictSame(await resumed({ isUnsent: true }), ['session/load', ['to the first', 'to the second'], 3])
  t.strictSame(await resumed({}), ['session/resume', undefined, undefined])
  const unheard = await begun(repeats, { resume: 'old', sentUpTo: placeOf(place) })
  t.strictSame([unheard.asked[1]?.[0], unheard.agent.unsent], ['session/resume', undefined], 'it is recovered in another way')
  const forgot = { ...repeats, 'session/load': refuse(-32603) }
  t.strictSame(await resumed({ sentUpTo: placeOf(place) }, forgot), ['session/load', undefined, 3])
})

t.test('an agent whose program has ended resumes its conversation as it was, and gets the prompt again', async t => {
  let times = 0
  const { agent, asked, talk, told } = await begun({
    ...able(loads),
    ...sessionWith(all),
    'session/load'(_, { says }) {
      says(chunk('long ago'))
      return all
    },
    'session/prompt'(_, { says }) {
      // No output of the turn.
      says(commands)
      if (++times === 1) throw new Refusal(-32002)
      says(chunk('here'))
      return { stopReason: 'end_turn' }
    }
  })
  await agent.setMode('plan')
  await agent.setModel?.('large')
  await agent.setEffort?.('high')
  await agent.setSetting?.('tone', 'warm')
  asked.length = 0
  const before = told().length
  await agent.prompt('go')
  await talk.until('turn-ended')
  const sessionId = 'one'
  const prompt = ['session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] }]
  t.strictSame(asked, [
    prompt,
    ['session/load', { cwd: '/src', mcpServers: [], sessionId }],
    ['session/set_config_option', { sessionId, configId: 'model', value: 'large' }],
    ['session/set_config_option', { sessionId, configId: 'thinking', value: 'high' }],
    ['session/set_config_option', { sessionId, configId: 'tone', value: 'warm' }],
    ['session/set_config_option', { sessionId, configId: 'mode', value: 'plan' }],
    prompt
  ])
  const after = told().slice(before)
  t.strictSame(after.slice(after.indexOf('modes plan')), [
    'modes plan',
    'modes plan',
    'notice Odd exited unexpectedly and was restarted.',
    'commands',
    'text-grew here',
    'text here',
    'turn-ended done'
  ])
})

t.test('a turn with output is not begun again, and one that was cancelled meanwhile neither', async t => {
  const seen: [string, (played: Played) => unknown][] = [
    ['text', ({ says }) => says(chunk('one'))],
    ['a plan', ({ says }) => says({ sessionUpdate: 'plan', entries: [] })],
    ['a question', ({ asks }) => void asks(permission, permissionFor('one'))]
  ]
  for (const [what, does] of seen) {
    const { agent, asked, talk } = await begun({
      ...able(loads),
      'session/prompt'(_, played) {
        does(played)
        throw new Refusal(-32002)
      }
    })
    await agent.prompt('go')
    t.strictSame(
      await talk.until('turn-ended'),
      {
        type: 'turn-ended',
        reason: 'failed',
        error: 'Odd exited unexpectedly during this turn. It is running again: send a message to continue.',
        isLost: true
      },
      what
    )
    t.equal(asked.filter(([method]) => method === 'session/prompt').length, 1)
  }
  const { agent, asked, talk } = await begun({
    ...able(loads),
    'session/prompt': refuse(-32002),
    'session/load': () => agent.cancel().then(() => ({}))
  })
  await agent.prompt('go')
  t.match(await talk.until('turn-ended'), { reason: 'cancelled' })
  t.equal(asked.filter(([method]) => method === 'session/prompt').length, 1)
})

t.test('a conversation that was not saved yet begins anew, under its new id; a saved one is not given up', async t => {
  const lost = (times: number[]): Script => {
    let [prompts, opened] = [0, 0]
    return {
      ...able(loads),
      'session/new': () => ({ sessionId: ++opened === 1 ? 'one' : 'two' }),
      'session/load': refuse(-32002),
      'session/prompt'({ prompt }) {
        if (times.includes(++prompts)) throw new Refusal(-32002)
        if (prompt[0].text === 'fail') throw new Refusal(-32603)
        return { stopReason: prompt[0].text === 'cancel' ? 'cancelled' : 'end_turn' }
      }
    }
  }
  const isHeardAgain = true
  const { agent, talk, told } = await begun(lost([1]), { program: { isHeardAgain } })
  await agent.prompt('go')
  await talk.until('turn-ended')
  t.strictSame(
    told().filter(line => !line.startsWith('history-read')),
    [
      'conversation two',
      'notice Odd had not saved this conversation yet, so a new one starts.',
      'notice Odd exited unexpectedly and was restarted.',
      'turn-ended done'
    ]
  )
  t.equal(agent.conversation, 'two')
  t.match(readPlace((await talk.until('history-read')).upTo), { conversation: 'two', messages: 1 })
  await agent.prompt('more')
  t.match(readPlace((await talk.until('history-read')).upTo), { conversation: 'two', messages: 2 })

  const after = async (first: string, how: Partial<StartAgent> = {}, script = lost([2])) => {
    const { agent, talk, ends } = await begun(script, how)
    await agent.prompt(first)
    await talk.until('turn-ended')
    await agent.prompt('go')
    const { reason } = await talk.until('turn-ended')
    return [reason, agent.conversation, ...ends.slice(0, 1)]
  }
  t.strictSame(await after('fail'), ['done', 'two'])
  t.strictSame(await after('done'), ['failed', 'one', 0])
  t.strictSame(await after('cancel'), ['failed', 'one', 0])
  let loads2 = 0
  const resumed = { ...lost([2]), 'session/load': () => (++loads2 === 1 ? {} : refuse(-32002)()) }
  t.strictSame(await after('fail', { resume: 'old' }, resumed), ['failed', 'old', 0])
})

t.test('an agent that cannot resume its conversation is ended, with the reason', async t => {
  const { agent, ends, talk } = await begun({
    ...able(loads),
    'session/prompt': refuse(-32002),
    'session/load': refuse(-32603)
  })
  await agent.prompt('go')
  const how = 'it could not start the conversation over: No.'
  t.strictSame(await talk.until('turn-ended'), {
    type: 'turn-ended',
    reason: 'failed',
    error: `The agent exited unexpectedly (${how}).`,
    isLost: true
  })
  t.match(await talk.end.catch((error: unknown) => error), { name: AgentDied.name, how })
  t.equal(ends[0], 0)
  const other = await begun({
    ...able(loads),
    ...sessionWith(all),
    'session/set_config_option': ({ configId }) => (configId === 'tone' ? refuse(-32002)() : {}),
    'session/load': refuse(-32603)
  })
  t.equal(await other.agent.setSetting?.('tone', 'warm'), false)
  await other.talk.end.catch(() => {})
  t.notOk(
    other.told().some(line => line.startsWith('notice')),
    'it was not restarted'
  )
})

t.test('a choice and a prompt given while its program is gone reopen it once, and a later one again', async t => {
  let isUp = true
  const setting = () => {
    if (!isUp) throw new Refusal(-32002)
    return {}
  }
  const { agent, asked, talk, told, says } = await begun({
    ...able(loads),
    ...sessionWith(all),
    'session/load'() {
      isUp = true
      return all
    },
    'session/set_config_option': setting,
    'session/prompt': () => ({ ...setting(), stopReason: 'end_turn' })
  })
  const loadsAsked = () => asked.filter(([method]) => method === 'session/load').length
  isUp = false
  t.strictSame(await Promise.all([agent.setModel?.('large'), agent.prompt('go')]), [true, true])
  t.match(await talk.until('turn-ended'), { reason: 'done' })
  t.equal(loadsAsked(), 1)
  isUp = false
  t.equal(await agent.setSetting?.('tone', 'warm'), true)
  t.equal(loadsAsked(), 2)
  t.ok(told().includes('notice Odd exited unexpectedly and was restarted.'))
  says(chunk('here'))
  await talk.until('text-grew')
})

t.test('one that is gone again while its choices are restored is not reopened within that', async t => {
  const { agent, asked } = await begun({
    ...able(loads),
    ...sessionWith({ models: { currentModelId: 'small', availableModels: [{ modelId: 'small', name: 'Small' }] } }),
    'session/load': () => ({}),
    'session/set_model': refuse(-32002)
  })
  t.equal(await agent.setModel?.('small'), false)
  t.equal(asked.filter(([method]) => method === 'session/load').length, 1)
})

t.test('a prompt that fails for another reason is given up, unless the program turns out to be gone', async t => {
  const failing = async (more: Script) => {
    const { agent, asked, talk } = await begun({ ...able(loads), ...sessionWith(all), 'session/prompt': refuse(-32603), ...more })
    asked.length = 0
    await agent.prompt('go')
    const end = await talk.until('turn-ended')
    return [end.reason === 'failed' && end.error, ...asked.map(([method]) => method)]
  }
  t.strictSame(await failing({}), ['No.', 'session/prompt', 'session/set_config_option'])
  let times = 0
  const gone = () => {
    // The first time it is asked as it opens.
    if (++times === 2) throw new Refusal(-32002)
    return {}
  }
  t.strictSame((await failing({ 'session/set_config_option': gone })).slice(0, 4), [
    'No.',
    'session/prompt',
    'session/set_config_option',
    'session/load'
  ])
})

function refuse(code: number) {
  return (): never => {
    throw new Refusal(code)
  }
}

function chunk(text: string) {
  return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
}

function modes(currentModeId: string, ...ids: string[]) {
  return { currentModeId, availableModes: ids.map(id => ({ id, name: id })) }
}

function select(id: string, currentValue: string, category: string | undefined, ...values: string[]) {
  return { id, name: id, category, type: 'select', currentValue, options: values.map(value => ({ value, name: value })) }
}

function permissionFor(sessionId: string) {
  const options = [
    { optionId: 'y', name: 'Yes', kind: 'allow_once' },
    { optionId: 'n', name: 'No', kind: 'reject_once' }
  ]
  return { sessionId, toolCall: { toolCallId: 'c', title: 'Run it', kind: 'execute' }, options }
}

function able(agentCapabilities: object): Script {
  const agentInfo = { name: 'odd', version: '3' }
  return { initialize: () => ({ protocolVersion: 1, agentInfo, agentCapabilities, _meta: { steering: { supported: true } } }) }
}

function sessionWith(session: object): Script {
  return { 'session/new': () => ({ sessionId: 'one', ...session }) }
}
