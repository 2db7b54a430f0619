import t from 'tap'
import { AgentDied, type AgentEvent, type StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import { type CodexServer, type LineHandlers, Refused } from '../../../../lib/wrapper/agents/codex/server.ts'
import { openSharedCodex } from '../../../../lib/wrapper/agents/codex/shared-codex.ts'
import { listenTo } from '../contract.ts'

const start: StartAgent = { directory: '/src', env: {} }

t.test('a new conversation asks first, and its id is known to whoever started it', async t => {
  const { agent, asked, told } = await begun({})
  t.strictSame(
    asked.map(([method]) => method),
    ['initialize', 'model/list', 'account/rateLimits/read', 'thread/start', 'thread/settings/update']
  )
  t.match(asked.at(-1)?.[1], { threadId: 'one', approvalPolicy: 'untrusted' })
  t.strictSame([agent.conversation, agent.version, agent.takesImages, agent.writesDown], ['one', '0.1.0', true, true])
  t.strictSame(told(), ['history-read codex:one/', 'modes default', 'options deep high'])
})

t.test('a conversation is resumed, or if Codex has lost it another one begins', async t => {
  const known = await begun({}, { resume: 'old' })
  t.equal(known.agent.conversation, 'old')
  t.notOk(known.asked.some(([method]) => method === 'thread/start'))
  t.notOk(known.told().some(line => line.startsWith('conversation')))
  const lost = await begun({ 'thread/resume': refuse('no rollout found') }, { resume: 'old' })
  t.equal(lost.agent.conversation, 'one')
  t.strictSame(lost.told(), [
    'notice Codex no longer has this conversation, so a new one starts.',
    'history-read codex:one/',
    'modes default',
    'options deep high',
    'conversation one'
  ])
})

t.test('what was not sent of a resumed conversation comes with it', async t => {
  const items = [{ type: 'agentMessage', id: 'm', text: 'done' }]
  const page = { data: [{ id: 't0', status: 'completed', items }], nextCursor: null }
  const { agent } = await begun({ 'thread/turns/list': () => page }, { resume: 'old', sentUpTo: { file: 'codex:old/', offset: 0 } })
  t.match(agent.unsent?.events, [
    { type: 'text', row: 't0 m' },
    { type: 'turn-ended', reason: 'done' }
  ])
  t.equal((await begun({})).agent.unsent, undefined)
})

t.test('it starts in the mode that was wished, and says what it lacks or what is untested', async t => {
  const all = await begun({}, { mode: 'yolo' }, '9999.1.0')
  const { told } = all
  t.match(all.asked.at(-1)?.[1], { approvalPolicy: 'never' })
  t.ok(told().includes('modes bypassPermissions'))
  const [notice = ''] = told().filter(line => line.startsWith('notice'))
  t.match(notice, /^notice Codex 9999\.1\.0 is newer than tested /)
  const none = await begun({}, { mode: 'no such mode' })
  t.strictSame(
    none.told().filter(line => line.startsWith('notice')),
    ['notice Codex has no mode “no such mode”; it asks first.']
  )
})

t.test('how much of its plan is used is told, if Codex says so', async t => {
  const windows = async (reply: Script[string]) => {
    const { told } = await begun({ 'account/rateLimits/read': reply })
    return told().filter(line => line.startsWith('usage'))
  }
  const one = { rateLimits: { primary: { usedPercent: 5, windowDurationMins: 300 } } }
  t.strictSame(await windows(() => one), ['usage-windows 5'])
  t.strictSame(await windows(() => ({ rateLimits: {} })), [])
  t.strictSame(await windows(() => ({})), [])
  t.strictSame(await windows(refuse('No plan.')), [])
})

t.test('a prompt is given with its pictures under an id of ours, and its turn ends when Codex says so', async t => {
  const { agent, asked, hears, talk } = await begun({})
  asked.length = 0
  t.equal(await agent.prompt('look', [{ mimeType: 'image/png', bytes: Buffer.from('png') }]), true)
  const { clientUserMessageId, ...message } = asked[0]?.[1] ?? {}
  t.match(clientUserMessageId, /^afield-[-0-9a-f]{36}$/)
  t.strictSame(
    [asked.length, asked[0]?.[0], message],
    [
      1,
      'turn/start',
      {
        threadId: 'one',
        input: [
          { type: 'text', text: 'look', text_elements: [] },
          { type: 'image', url: 'data:image/png;base64,cG5n' }
        ]
      }
    ]
  )
  hears('item/completed', { turnId: 't1', item: { type: 'userMessage', id: 'u', clientId: clientUserMessageId, content: [] } })
  t.equal((await talk.until('prompted')).isOurs, true)
  hears('item/completed', { turnId: 't1', item: { type: 'userMessage', id: 'v', clientId: 'other', content: [] } })
  t.equal((await talk.until('prompted')).isOurs, false)
  hears('unheard/of', {})
  hears('turn/completed', { turn: { id: 't1', status: 'completed', items: [] } })
  t.match(await talk.until('turn-ended'), { reason: 'done' })
})

t.test('a prompt that Codex refuses ends its turn with the reason; one that it never got is given again later', async t => {
  const prompted = async (reply: Script[string]) => {
    const { agent, told } = await begun({ 'turn/start': reply })
    const before = told().length
    const isGiven = await agent.prompt('go')
    await settled()
    return [isGiven, ...told().slice(before)]
  }
  t.strictSame(await prompted(refuse('No such model.')), [true, 'turn-ended failed: No such model.'])
  const strange = 'Codex accepted this message and sent an answer that Afield does not understand.'
  t.strictSame(await prompted(() => ({ odd: true })), [true, `turn-ended failed: ${strange}`])
  const lost = () => {
    throw new Error('Codex has exited.')
  }
  t.strictSame(await prompted(lost), [false])
  const closes: Script[string] = (_, codex) => {
    codex.closes()
    throw new Refused('No.')
  }
  t.strictSame((await prompted(closes)).slice(0, 1), [false])
  const { agent, asked } = await begun({})
  await agent.stop()
  asked.length = 0
  t.equal(await agent.prompt('go'), false)
  t.strictSame(asked, [])
})

t.test('input goes into the running turn, if there is one that takes it', async t => {
  let isRefused = false
  const { agent, asked } = await begun({ 'turn/steer': () => (isRefused ? refuse('No.')() : {}) })
  t.equal(await agent.steer?.('and'), false)
  await agent.prompt('go')
  asked.length = 0
  t.equal(await agent.steer?.('and'), true)
  const { clientUserMessageId, ...message } = asked[0]?.[1] ?? {}
  t.match(clientUserMessageId, /^afield-[-0-9a-f]{36}$/)
  const input = [{ type: 'text', text: 'and', text_elements: [] }]
  t.strictSame([asked[0]?.[0], message], ['turn/steer', { threadId: 'one', input, expectedTurnId: 't1' }])
  isRefused = true
  t.equal(await agent.steer?.('and'), false)
})

t.test('what Codex asks is answered under its own id', async t => {
  const { agent, asks, replies, talk } = await begun({})
  const about = { threadId: 'one', turnId: 't1' }
  asks(7, 'item/fileChange/requestApproval', { ...about, itemId: 'write' })
  const { asked } = await talk.until('permission-asked')
  t.strictSame([agent.answer('other', 'accept'), agent.answer(asked.ask, 'accept')], [false, true])
  asks(8, 'item/tool/requestUserInput', { ...about, itemId: 'ask', questions: [{ id: 'tea', question: 'Which tea?' }] })
  await talk.until('question-asked')
  const green = { tea: { values: [], other: 'green' } }
  t.strictSame([agent.answerQuestion?.('other', green), agent.answerQuestion?.('ask', green)], [false, true])
  t.strictSame(replies, [
    [7, { decision: 'accept' }],
    [8, { answers: { tea: { answers: ['green'] } } }]
  ])
})

t.test('a request is shown with the step that it is about', async t => {
  const { asks, hears, talk } = await begun({})
  const item = { type: 'commandExecution', id: 'run', command: 'make', status: 'inProgress' }
  hears('item/started', { turnId: 't1', item })
  asks(7, 'item/commandExecution/requestApproval', { threadId: 'one', turnId: 't1', itemId: 'run', command: 'other' })
  t.equal((await talk.until('permission-asked')).asked.step.title, 'make')
})

t.test('choices are set in its conversation, and changes at the terminal are told', async t => {
  const models = ['deep', 'quick'].map(model => ({
    model,
    displayName: model,
    supportedReasoningEfforts: [{ reasoningEffort: 'low' }, { reasoningEffort: 'high' }],
    defaultReasoningEffort: 'low'
  }))
  const { agent, asked, hears, talk } = await begun({ 'model/list': () => ({ data: models }) })
  asked.length = 0
  t.strictSame([await agent.setMode('plan'), await agent.setModel?.('quick'), await agent.setEffort?.('low')], [true, true, true])
  t.strictSame([await agent.setMode('none'), await agent.setModel?.('none'), await agent.setEffort?.('none')], [false, false, false])
  t.match(asked, [
    ['thread/settings/update', { threadId: 'one', sandboxPolicy: { type: 'readOnly' } }],
    ['thread/settings/update', { threadId: 'one', model: 'quick' }],
    ['thread/settings/update', { threadId: 'one', effort: 'low' }]
  ])
  t.equal(asked.length, 3)
  hears('thread/settings/updated', { threadSettings: { sandboxPolicy: { type: 'readOnly' }, approvalPolicy: 'on-request', model: 'deep' } })
  await talk.until('options', ({ models, efforts }) => models?.current === 'deep' && efforts?.current === 'low')
  t.equal(talk.heard.filter(({ type }) => type === 'modes').length, 3)
})

t.test('a fork has an id of its own', async t => {
  const { agent, asked } = await begun({ 'thread/fork': () => ({ thread: { id: 'two' } }) })
  t.equal(await agent.fork?.(), 'two')
  t.match(asked.at(-1), ['thread/fork', { threadId: 'one' }])
  t.equal(agent.conversation, 'one')
})

t.test('a turn is cancelled by its id, and none is asked for when none runs', async t => {
  const { agent, asked } = await begun({ 'turn/interrupt': refuse('It has ended.') })
  asked.length = 0
  await agent.cancel()
  t.strictSame(asked, [])
  await agent.prompt('go')
  asked.length = 0
  await agent.cancel()
  t.strictSame(asked, [['turn/interrupt', { threadId: 'one', turnId: 't1' }]])
})

t.test('a stopped agent lets its turn end, and then ends its server', async t => {
  const { agent, asked, done, hears, talk, told } = await begun({
    async 'turn/interrupt'() {
      await settled()
      done.push('interrupted')
      setImmediate(() => {
        done.push('turn over')
        hears('turn/completed', { turn: { id: 't1', status: 'interrupted', items: [] } })
      })
    }
  })
  await agent.prompt('go')
  const before = told().length
  const stopped = agent.stop()
  t.equal(await agent.prompt('more'), false, 'it takes nothing meanwhile')
  await stopped
  t.strictSame(done.slice(0, 4), ['interrupted', 'turn over', 'line closed', 'ends within 500'])
  t.equal(done.includes('ended'), true)
  await talk.end
  t.strictSame(told().slice(before), ['turn-ended cancelled', 'history-read codex:one/t1/end'])
  t.equal(asked.filter(([method]) => method === 'turn/start').length, 1)
})

t.test('a turn whose server ends while it is stopped was cancelled; without a turn nothing is told', async t => {
  const { agent, asks, dies, talk, told } = await begun({ 'turn/interrupt': () => dies('exit code 1') })
  await agent.prompt('go')
  asks(7, 'item/fileChange/requestApproval', { threadId: 'one', turnId: 't1', itemId: 'write' })
  const before = told().length
  await agent.stop()
  await talk.end
  t.strictSame(told().slice(before), [
    'permission-asked write',
    'permission-closed write',
    'turn-ended cancelled',
    'history-read codex:one/t1/end'
  ])
  const idle = await begun({})
  const until = idle.told().length
  await idle.agent.stop()
  await idle.talk.end
  t.strictSame(idle.told().slice(until), [])
})

t.test('an agent whose server dies ends its turn, its questions and its events', async t => {
  const { agent, asks, dies, talk, told } = await begun({})
  asks(7, 'item/fileChange/requestApproval', { threadId: 'one', turnId: 't0', itemId: 'write' })
  await talk.until('permission-asked')
  dies('exit code 3')
  const error = await talk.end.catch((error: unknown) => error)
  t.match(error, { name: AgentDied.name, how: 'exit code 3', lastLines: 'Out of memory.' })
  t.equal(told().at(-1), 'permission-closed write')
  t.equal(await agent.prompt('go'), false)
  const working = await begun({})
  await working.agent.prompt('go')
  working.dies('exit code 3')
  await working.talk.end.catch(() => {})
  t.strictSame(working.told().slice(-2), [
    'turn-ended failed: The agent exited unexpectedly (exit code 3).',
    'history-read codex:one/t1/cut'
  ])
})

t.test('a server whose connection is lost is ended', async t => {
  const { closes, done, talk } = await begun({})
  closes()
  await talk.end.catch(() => {})
  t.ok(done.includes('ends within 500'))
})

t.test('a server on which no conversation opens is ended', async t => {
  const codex = play({ 'thread/start': refuse('Not signed in.') })
  await t.rejects(
    openSharedCodex({ codex: 'codex', version: undefined, how: start }, async () => codex.server),
    { message: 'Not signed in.' }
  )
  t.equal(codex.done.at(-1), 'ended')
  const old = play({ initialize: refuse('Too old.') })
  await t.rejects(
    openSharedCodex({ codex: 'codex', version: undefined, how: start }, async () => old.server),
    { message: 'Too old.' }
  )
  t.equal(old.asked.length, 1)
  const odd = play({ 'model/list': () => ({}) })
  await t.rejects(openSharedCodex({ codex: 'codex', version: undefined, how: start }, async () => odd.server))
})

t.test('growing text is skipped for a reader who is far behind, and complete text is not', async t => {
  const codex = play({})
  let handlers: LineHandlers | undefined
  const agent = await openSharedCodex({ codex: 'codex', version: undefined, how: start }, async given => {
    handlers = given
    return codex.server
  })
  const hears = (method: string, params: object) => handlers?.onNotification(method, { threadId: 'one', turnId: 't1', ...params })
  for (let n = 0; n < 100; n++) hears('item/agentMessage/delta', { itemId: 'm', delta: 'x' })
  hears('item/completed', { item: { type: 'agentMessage', id: 'm', text: 'x'.repeat(100) } })
  await agent.stop()
  const talk = listenTo(agent)
  await talk.end
  t.equal(
    talk.heard.findIndex(({ type }) => type === 'text'),
    65
  )
})

// biome-ignore lint/suspicious/noExplicitAny: the parameters of any request
type Params = any
type Script = Record<string, (params: Params, codex: Codex) => unknown>
type Codex = ReturnType<typeof play>

function refuse(message: string) {
  return (): never => {
    throw new Refused(message)
  }
}

/** What was asked is answered at once. */
function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** A server of Codex that is in this test. */
function play(script: Script) {
  const asked: [method: string, params: Params][] = []
  const replies: unknown[] = []
  const done: string[] = []
  const closed = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  let isClosed = false
  const thread = (id: string) => ({ thread: { id }, model: 'deep', reasoningEffort: 'high', sandbox: { type: '' } })
  const model = {
    model: 'deep',
    displayName: 'Deep',
    supportedReasoningEfforts: [{ reasoningEffort: 'high' }],
    defaultReasoningEffort: 'high'
  }
  const answers: Script = {
    'model/list': () => ({ data: [model] }),
    'thread/start': () => thread('one'),
    'thread/resume': ({ threadId }) => thread(threadId),
    'thread/turns/list': () => ({ data: [], nextCursor: null }),
    'turn/start': () => ({ turn: { id: 't1' } }),
    ...script
  }
  const codex = {
    asked,
    replies,
    /** How it was ended. */
    done,
    closes() {
      isClosed = true
      closed.resolve()
    },
    dies(how: string) {
      codex.closes()
      ended.resolve(how)
    }
  }
  const server: CodexServer = {
    address: 'unix:///socket',
    line: {
      async request(method, params) {
        asked.push([method, params])
        return answers[method]?.(params, codex as Codex) ?? {}
      },
      notify() {},
      reply: (id, result) => replies.push([id, result]),
      closed: closed.promise,
      get isClosed() {
        return isClosed
      },
      close() {
        done.push('line closed')
        codex.closes()
      }
    },
    process: {
      input: new WritableStream(),
      output: new ReadableStream(),
      ended: ended.promise,
      lastLines: () => 'Out of memory.',
      async end(graceMs) {
        done.push(`ends within ${graceMs}`)
        codex.dies('exit code 0')
        await settled()
        done.push('ended')
      }
    }
  }
  return { ...codex, server }
}

async function begun(script: Script, how: Partial<StartAgent> = {}, version = '0.1.0') {
  const codex = play(script)
  let handlers: LineHandlers | undefined
  const agent = await openSharedCodex({ codex: 'codex', version, how: { ...start, ...how } }, async given => {
    handlers = given
    return codex.server
  })
  const talk = listenTo(agent)
  await settled()
  return {
    ...codex,
    agent,
    talk,
    told: () => talk.heard.map(inShort),
    hears: (method: string, params: object) => handlers?.onNotification(method, { threadId: 'one', ...params }),
    asks: (id: number, method: string, params: object) => handlers?.onRequest(id, method, params)
  }
}

function inShort(event: AgentEvent): string {
  switch (event.type) {
    case 'conversation':
      return `conversation ${event.id}`
    case 'history-read':
      return `history-read ${event.upTo.file}`
    case 'modes':
      return `modes ${event.modes.current}`
    case 'options':
      return `options ${event.models?.current} ${event.efforts?.current}`
    case 'notice':
      return `notice ${event.text}`
    case 'usage-windows':
      return `usage-windows ${event.windows.map(({ usedPercent }) => usedPercent)}`
    case 'permission-asked':
      return `permission-asked ${event.asked.ask}`
    case 'permission-closed':
      return `permission-closed ${event.ask}`
    case 'turn-ended':
      return `turn-ended ${event.reason}${event.reason === 'failed' ? `: ${event.error}` : ''}`
    default:
      return event.type
  }
}
