import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createMirror } from '../../../../lib/wrapper/agents/opencode/mirror.ts'
import type { OpencodeChoices } from '../../../../lib/wrapper/agents/opencode/options.ts'
import { history, permissions, questions, serverEvent } from '../../../../lib/wrapper/agents/opencode/shapes.ts'

t.test('a turn that started while disconnected continues until its conversation is idle', t => {
  const told: AgentEvent['type'][] = []
  const mirror = createMirror({ emit: ({ type }) => told.push(type), async post() {} })
  mirror.follow('c', 0)
  mirror.beginTurn()
  mirror.catchUp({ history: v.parse(history, [asked('look, then do it'), answered('I looked')]), isIdle: false, waiting: undefined })
  t.notOk(told.includes('turn-ended'), 'its first message is whole, and the next one comes')
  mirror.take({ type: 'session.idle', properties: { sessionID: 'c' } })
  t.equal(told.at(-1), 'turn-ended')
  t.end()
})

t.test('of an answer that failed while disconnected only the last text is marked', t => {
  const told: AgentEvent[] = []
  const mirror = createMirror({ emit: event => told.push(event), async post() {} })
  mirror.follow('c', 0)
  const { info, parts } = answered('half')
  const first = { ...parts[0], id: 'p1', text: 'whole' }
  const failed = { info: { ...info, error: { name: 'APIError', data: { message: 'No more.' } } }, parts: [first, ...parts] }
  mirror.catchUp({ history: v.parse(history, [asked('look'), failed]), isIdle: true, waiting: undefined })
  t.strictSame(
    told.flatMap(event => (event.type === 'text' ? [[event.text, event.isStopped]] : [])),
    [
      ['whole', undefined],
      ['half', true]
    ]
  )
  t.strictSame(told.at(-1), { type: 'turn-ended', reason: 'failed', error: 'No more.' })
  t.end()
})

t.test('a question rejected at the terminal is closed without answers', t => {
  const told: AgentEvent[] = []
  const mirror = createMirror({ emit: event => told.push(event), async post() {} })
  mirror.follow('c', 0)
  const question = { id: 'q', sessionID: 'c', questions: [{ question: 'Which?', options: [] }] }
  mirror.take(v.parse(serverEvent, { type: 'question.asked', properties: question }))
  mirror.take(v.parse(serverEvent, { type: 'question.rejected', properties: { requestID: 'q' } }))
  t.strictSame(told.at(-1), { type: 'question-closed', ask: 'q' })
  t.end()
})

t.test('the next attempt is reported with its reason, as far as opencode says', t => {
  const cases: [status: object, retry: object][] = [
    [{}, { attempt: 1, inMs: 0, why: 'other' }],
    [
      { attempt: 3, next: 1, message: 'Overloaded' },
      { attempt: 3, inMs: 0, why: 'overloaded' }
    ],
    [{ message: 'Too many requests' }, { why: 'limit' }],
    [{ message: 'Usage limit reached' }, { why: 'limit' }],
    [{ message: 'Invalid API key' }, { why: 'sign-in' }],
    [{ message: 'Socket hang up' }, { why: 'unreachable' }]
  ]
  for (const [about, retry] of cases) {
    const told: AgentEvent[] = []
    const mirror = createMirror({ emit: event => told.push(event), async post() {} })
    mirror.follow('c', 0)
    const retrying = (sessionID: string) =>
      v.parse(serverEvent, { type: 'session.status', properties: { sessionID, status: { type: 'retry', ...about } } })
    mirror.take(retrying('another'))
    mirror.take(retrying('c'))
    t.match(told.slice(1), [{ type: 'retrying', ...retry }])
    t.equal(told.length, 2)
  }
  t.end()
})

t.test('a turn that never started has no end', async t => {
  const told: AgentEvent[] = []
  const mirror = createMirror({ emit: event => told.push(event), async post() {} })
  mirror.follow('c', 0)
  mirror.beginTurn()
  const ended = mirror.turnEnded
  mirror.forgetTurn()
  await ended
  t.equal(mirror.turnEnded, undefined)
  mirror.forgetTurn()
  mirror.endTurn({ reason: 'cancelled' })
  t.strictSame(told, [{ type: 'history-read', upTo: { file: 'c', offset: 0 } }])
})

t.test('how far a conversation was sent is told once for each of its messages', t => {
  const { mirror, take, told } = mirrored()
  const info = (about: object) => take('message.updated', { info: { ...answered('').info, ...about } })
  mirror.beginTurn()
  info({ id: 'm1', role: 'user', time: { created: 5 } })
  info({ time: { created: 7 } })
  info({ time: { created: 7 } })
  t.strictSame(told(), ['read c 6'], 'what it answers was sent')
  info({ time: { created: 7, completed: 9 } })
  t.strictSame(told().slice(1), ['read c 7', 'turn-ended done'])
  info({ id: 'm3', time: { created: 4 } })
  info({ id: 'm3', time: { created: 4, completed: 5 } })
  t.equal(told().length, 3, 'an older one does not go back')
  t.end()
})

t.test('a turn ends when its conversation is idle and its answer is complete', async t => {
  const { mirror, take, told } = mirrored()
  const info = (about: object) => take('message.updated', { info: { ...answered('').info, ...about } })
  const idle = (sessionID: string) => take('session.idle', { sessionID })
  mirror.beginTurn()
  const ended = mirror.turnEnded
  mirror.beginTurn()
  t.equal(mirror.turnEnded, ended)
  idle('c')
  t.strictSame(told(), [], 'without an answer')
  take('session.status', { sessionID: 'c', status: { type: 'busy' } })
  take('session.status', { sessionID: 'other', status: { type: 'idle' } })
  info({ time: { created: 2 } })
  idle('c')
  take('session.status', { sessionID: 'c', status: { type: 'busy' } })
  info({})
  idle('other')
  t.strictSame(told(), ['read c 1', 'read c 2'], 'it works')
  idle('c')
  await ended
  t.strictSame(told().slice(2), ['turn-ended done'])
  idle('c')
  t.equal(told().length, 3, 'once')

  take('message.updated', { info: { ...asked('').info, time: { created: 4 } } })
  take('message.part.updated', { part: { ...asked('typed there').parts[0] } })
  t.equal(told().at(-1), 'prompted typed there')
  t.ok(mirror.turnEnded, 'a message from its screen begins a turn')
  info({})
  t.ok(mirror.turnEnded, 'the answer of an earlier turn was updated')
})

t.test('a turn that opencode could not run fails with the reason, also without an answer', t => {
  const error = { name: 'APIError', data: { message: 'No key.' } }
  const { mirror, take, told } = mirrored()
  take('session.error', { sessionID: 'c', error })
  mirror.beginTurn()
  take('session.error', { sessionID: 'other', error })
  take('session.idle', { sessionID: 'c' })
  t.strictSame(told(), [], 'neither before it, nor of another conversation')
  take('session.error', { sessionID: 'c', error })
  take('session.idle', { sessionID: 'c' })
  t.strictSame(told(), ['turn-ended failed No key.'])

  const failing = mirrored()
  failing.mirror.beginTurn()
  failing.take('session.error', { sessionID: 'c', error })
  failing.take('message.updated', { info: { ...answered('').info, error: { name: 'MessageAbortedError' } } })
  t.equal(failing.told().at(-1), 'turn-ended cancelled', 'its answer knows better')
  t.end()
})

t.test('text grows, is complete, and belongs to its conversation', t => {
  const { take, told } = mirrored()
  const grows = (about: object) =>
    take('message.part.delta', { sessionID: 'c', messageID: 'm2', partID: 'p2', field: 'text', delta: 'n', ...about })
  take('message.updated', { info: { ...answered('').info, time: { created: 2 } } })
  take('message.part.updated', { part: { ...answered('o').parts[0], time: {} } })
  grows({})
  grows({ field: 'metadata', delta: 'x' })
  grows({ sessionID: 'other' })
  take('message.part.updated', { part: { ...answered('other').parts[0], sessionID: 'other' } })
  take('message.part.updated', { part: answered('one').parts[0] })
  t.strictSame(told().slice(1), ['grows on', 'says one'])
  t.end()
})

t.test('what was used is told with the size of its model, and with the cost once there is one', t => {
  const tokens = { input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } }
  const { take, told, events, mirror } = mirrored()
  const info = (about: object = {}) =>
    take('message.updated', { info: { ...answered('').info, providerID: 'shop', modelID: 'tea', tokens, ...about } })
  info()
  mirror.use(options({ roomOf: model => (model.modelID === 'tea' ? 100 : undefined) }))
  info()
  take('session.updated', { info: { id: 'other', cost: 7 } })
  info()
  take('session.updated', { info: { id: 'c', cost: 0.5 } })
  info()
  info({ modelID: 'ice' })
  info({ tokens: undefined })
  info({ tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } } })
  const usage = { type: 'usage', used: 15, size: 100 }
  t.equal(told()[0], 'read c 2')
  t.strictSame(events.slice(1), [usage, usage, { ...usage, cost: { amount: 0.5, currency: 'USD' } }])
  t.end()
})

t.test('a conversation has the title that a model found for it, told once', t => {
  const { take, told } = mirrored()
  const titled = (title: string, id = 'c') => take('session.updated', { info: { id, title } })
  for (const title of ['', 'New session - 2026-01-01', 'Tea', 'Tea', 'New sessions']) titled(title)
  titled('Cake', 'other')
  t.strictSame(told(), ['title Tea', 'title New sessions'])
  t.end()
})

t.test('a person who goes to another conversation at the screen is followed, and the turn there ended', t => {
  const { take, told, mirror } = mirrored()
  const message = (about: object) => take('message.updated', { info: { ...asked('').info, ...about } })
  take('session.created', { info: { id: 'helper', parentID: 'c', title: 'Looks' } })
  mirror.beginTurn()
  message({ sessionID: 'other', role: 'assistant' })
  message({ sessionID: 'helper' })
  take('session.created', { info: { id: 'elsewhere', parentID: 'other' } })
  message({ sessionID: 'elsewhere' })
  t.equal(mirror.conversation, 'c')
  message({ id: 'm9', sessionID: 'next', time: { created: 9 } })
  t.equal(mirror.conversation, 'next')
  t.strictSame(told(), ['subagent-started helper', 'subagent-stopped helper', 'turn-ended cancelled', 'conversation next', 'read next 8'])
  message({ id: 'm10', sessionID: 'last', time: { created: 9 } })
  t.strictSame(told().slice(5), ['conversation last', 'read last 8'], 'also from the same time on')
  t.end()
})

t.test('text in the middle of which a turn ends is marked as stopped, or as cut off if opencode is gone', t => {
  const half = (mirror: ReturnType<typeof mirrored>) => {
    mirror.mirror.beginTurn()
    mirror.take('message.updated', { info: { ...answered('').info, time: { created: 2 } } })
    mirror.take('message.part.updated', { part: { ...answered('half').parts[0], time: {} } })
    return mirror
  }
  const text = { type: 'text', block: 'p2', text: 'half', thinking: false }
  type Mirror = ReturnType<typeof mirrored>['mirror']
  const cases: [ends: Parameters<Mirror['endTurn']>, marked: object][] = [
    [[{ reason: 'cancelled' }], { ...text, row: 'p2', isStopped: true }],
    [[{ reason: 'failed', error: 'No.' }], { ...text, row: 'p2', isStopped: true }],
    [[{ reason: 'done' }], { ...text, row: 'p2' }],
    [[{ reason: 'failed', error: 'Gone.' }, true], { ...text, row: 'p2 cut', isCut: true }]
  ]
  for (const [ends, marked] of cases) {
    const { mirror, events } = half(mirrored())
    mirror.endTurn(...ends)
    t.strictSame(events.slice(1), [marked, { type: 'turn-ended', ...ends[0] }])
  }

  const { take, events } = half(mirrored())
  take('session.error', { sessionID: 'c', error: { name: 'APIError', data: { message: 'No more.' } } })
  take('message.part.updated', { part: answered('half').parts[0] })
  t.strictSame(events.at(-1), { ...text, row: 'p2', isStopped: true }, 'its model failed')
  t.end()
})

t.test('what a person chose at the screen for a message is followed; what the model used is not', t => {
  const { take, mirror } = mirrored()
  const followed: string[] = []
  mirror.use(options({ follow: ({ id }) => void followed.push(id) }))
  take('message.updated', { info: asked('').info })
  take('message.updated', { info: answered('').info })
  t.strictSame(followed, ['m1'])
  t.end()
})

t.test('an answer is passed on, and a denied step ends as denied', t => {
  const { take, told, posted, mirror } = mirrored()
  const step = (state: object) =>
    take('message.part.updated', { part: { ...answered('').parts[0], type: 'tool', callID: 'call', tool: 'bash', state } })
  take('message.updated', { info: { ...answered('').info, time: { created: 2 } } })
  step({ status: 'running', input: { command: 'make' } })
  take('permission.asked', { id: 'one', sessionID: 'c', permission: 'bash', tool: { messageID: 'm2', callID: 'call' } })
  t.strictSame(mirror.requests.answer('one', 'reject'), { call: 'call', isNo: true })
  t.match(posted, [['/permission/one/reply', { reply: 'reject' }]])
  mirror.deny('call')
  step({ status: 'error', error: 'No.' })
  t.equal(told().at(-1), 'call denied')
  t.end()
})

t.test('a connection that comes back without the state of its server leaves that as it was', t => {
  const missed = { history: v.parse(history, [asked('look'), answered('done')]), isIdle: undefined, waiting: undefined }
  const idle = mirrored()
  idle.mirror.catchUp(missed)
  t.equal(idle.told().at(-1), 'turn-ended done')
  const busy = mirrored()
  busy.take('session.status', { sessionID: 'c', status: { type: 'busy' } })
  busy.mirror.catchUp(missed)
  t.ok(busy.mirror.turnEnded)
  t.end()
})

t.test('a subagent has its own text and ends with its conversation', t => {
  const { take, told } = mirrored()
  take('session.created', { info: { id: 'helper', parentID: 'c' } })
  take('message.updated', { info: { ...answered('').info, sessionID: 'helper' } })
  take('message.part.updated', { part: { ...answered('found it').parts[0], sessionID: 'helper' } })
  take('session.idle', { sessionID: 'helper' })
  t.strictSame(told(), ['subagent-started helper', 'helper says found it', 'subagent-stopped helper'])
  t.end()
})

t.test('a request is asked about its step, answered at the screen, and answered by itself where edits are free', async t => {
  const { take, told, posted, mirror } = mirrored()
  const permission = (id: string, about: object = {}) =>
    take('permission.asked', { id, sessionID: 'c', permission: 'edit', tool: { messageID: 'm2', callID: 'call' }, ...about })
  take('message.updated', { info: { ...answered('').info, time: { created: 2 } } })
  const state = { status: 'running', input: { filePath: '/a' } }
  take('message.part.updated', { part: { ...answered('').parts[0], type: 'tool', callID: 'call', tool: 'write', state } })
  permission('one')
  take('permission.replied', { requestID: 'one', reply: 'once' })
  permission('two')
  take('permission.replied', { requestID: 'two', reply: 'reject' })
  t.strictSame(told().slice(1), ['starts call', 'step-updated', 'asks call', 'closed true', 'step-updated', 'asks call', 'closed false'])
  const before = told().length
  mirror.use(options({ editsFreely: true }))
  permission('three')
  permission('four', { permission: 'bash', tool: undefined })
  t.strictSame(posted, [['/permission/three/reply', { reply: 'once' }]])
  t.strictSame(told().slice(before), ['asks four'], 'only edits are free')
  await new Promise(resolve => setImmediate(resolve))

  const form = mirrored()
  form.take('question.asked', { id: 'q', sessionID: 'c', questions: [{ question: 'Which?', options: [{ label: 'Red' }] }] })
  form.take('question.replied', { requestID: 'q', answers: [['Red']] })
  t.match(form.events, [{ type: 'question-asked' }, { type: 'question-closed', answers: { 0: { values: ['Red'] } } }])
})

t.test('after a broken connection what was missed is told, and what still waits is asked', t => {
  const { mirror, take, told } = mirrored()
  const permission = (id: string) => ({ id, sessionID: 'c', permission: 'bash' })
  const question = (id: string) => ({ id, sessionID: 'c', questions: [{ question: 'Which?', options: [] }] })
  take('permission.asked', permission('over'))
  take('permission.asked', permission('open'))
  mirror.catchUp({ history: v.parse(history, [asked('look'), answered('done')]), isIdle: true, waiting: undefined })
  t.strictSame(told().slice(2), [
    'prompted look',
    'read c 1',
    'says done',
    'read c 2',
    'closed undefined',
    'closed undefined',
    'turn-ended done'
  ])
  const before = told().length
  mirror.catchUp({
    history: v.parse(history, [asked('look'), answered('done')]),
    isIdle: true,
    waiting: { permissions: v.parse(permissions, [permission('new')]), questions: v.parse(questions, [question('q')]) }
  })
  t.strictSame(told().slice(before), ['asks new', 'question-asked'])
  mirror.catchUp({ history: [], isIdle: undefined, waiting: { permissions: [], questions: [] } })
  t.strictSame(told().slice(before + 2), ['closed undefined', 'question-closed'])
  t.end()
})

/** A conversation `c` of which everything up to now was sent. */
function mirrored() {
  const events: AgentEvent[] = []
  const posted: [path: string, body: object][] = []
  const mirror = createMirror({
    emit: event => events.push(event),
    async post(...request) {
      posted.push(request)
      throw new Error('nobody listens')
    }
  })
  mirror.follow('c', 0)
  events.length = 0
  const take = (type: string, properties: object) => mirror.take(v.parse(serverEvent, { type, properties }))
  return { mirror, take, events, posted, told: () => events.map(lineOf) }
}

function options(about: Partial<OpencodeChoices>): OpencodeChoices {
  return { follow() {}, roomOf: () => undefined, editsFreely: false, ...about } as OpencodeChoices
}

function lineOf(event: AgentEvent): string {
  switch (event.type) {
    case 'history-read':
      return `read ${event.upTo.file} ${event.upTo.offset}`
    case 'text':
      return `${event.subagent ? `${event.subagent} ` : ''}says ${event.text}`
    case 'text-grew':
      return `grows ${event.text}`
    case 'prompted':
      return `prompted ${event.text}`
    case 'turn-ended':
      return `turn-ended ${event.reason}${event.reason === 'failed' ? ` ${event.error}` : ''}`
    case 'title':
      return `title ${event.title}`
    case 'conversation':
      return `conversation ${event.id}`
    case 'subagent-started':
    case 'subagent-stopped':
      return `${event.type} ${event.subagent}`
    case 'step-started':
      return `starts ${event.step.call}`
    case 'step-ended':
      return `${event.step.call} ${event.status}`
    case 'permission-asked':
      return `asks ${event.asked.step.call}`
    case 'permission-closed':
      return `closed ${event.approved}`
    default:
      return event.type
  }
}

function asked(text: string) {
  const info = { id: 'm1', sessionID: 'c', role: 'user', time: { created: 1 } }
  return { info, parts: [{ id: 'p1', sessionID: 'c', messageID: 'm1', type: 'text', text }] }
}

function answered(text: string) {
  const info = { id: 'm2', sessionID: 'c', role: 'assistant', time: { created: 2, completed: 3 } }
  return { info, parts: [{ id: 'p2', sessionID: 'c', messageID: 'm2', type: 'text', text, time: { start: 2, end: 3 } }] }
}
