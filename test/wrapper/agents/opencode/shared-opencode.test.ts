import { chmodSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Clock } from '../../../../lib/async/clock.ts'
import * as v from '../../../../lib/schema.ts'
import { AgentDied, type StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import { Refused } from '../../../../lib/wrapper/agents/opencode/refusals.ts'
import type { OpencodeServer } from '../../../../lib/wrapper/agents/opencode/server.ts'
import { type ServerEvent, serverEvent } from '../../../../lib/wrapper/agents/opencode/shapes.ts'
import { startShared } from '../../../../lib/wrapper/agents/opencode/shared-opencode.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { listenTo } from '../contract.ts'

t.test('a rejected prompt ends its turn with the reason; one that did not arrive is not taken', async t => {
  const { agent, talk, fake } = await begin(t)
  fake.refuses('/prompt_async', new TypeError('fetch failed'))
  t.equal(await agent.prompt('Look'), false)
  t.equal(await agent.steer?.('Look'), false, 'no turn has begun')
  fake.refuses('/prompt_async', new Refused(400, 'No such model.'))
  t.equal(await agent.prompt('Look'), true)
  t.strictSame(await talk.until('turn-ended'), { type: 'turn-ended', reason: 'failed', error: 'No such model.' })
  t.equal(talk.heard.filter(({ type }) => type === 'turn-ended').length, 1)
  fake.refuses('/prompt_async', undefined)
  t.equal(await agent.prompt('Look'), true, 'the next one can begin')
})

t.test('a text during a turn is taken if it arrives', async t => {
  const { agent, fake } = await begin(t)
  t.equal(await agent.steer?.('And this'), false)
  await agent.prompt('Look')
  t.equal(await agent.steer?.('And this'), true)
  fake.refuses('/prompt_async', new Refused(400, 'No.'))
  t.equal(await agent.steer?.('And that'), false)
  t.strictSame(
    fake.sent.filter(([, path]) => path.endsWith('/prompt_async')).map(([, , body]) => body),
    ['Look', 'And this', 'And that'].map(text => ({ ...common, parts: [{ type: 'text', text }] }))
  )
})

t.test('a stopped turn ends as opencode says, and without it after a while', async t => {
  const { agent, talk, fake } = await begin(t)
  await agent.cancel()
  t.strictSame(fake.sent.slice(1), [], 'there is nothing to stop')
  await agent.prompt('Look')
  await agent.cancel()
  t.strictSame(await talk.until('turn-ended'), { type: 'turn-ended', reason: 'cancelled' })

  const clock = manualClock()
  const silent = await begin(t, {}, { clock, abortsAtOnce: false })
  await silent.agent.prompt('Look')
  const cancelled = silent.agent.cancel()
  await new Promise(resolve => setImmediate(resolve))
  t.match(silent.fake.sent.at(-1), ['POST', '/session/new/abort'])
  clock.advance(2_999)
  await new Promise(resolve => setImmediate(resolve))
  t.notOk(silent.talk.heard.some(({ type }) => type === 'turn-ended'))
  clock.advance(1)
  await cancelled
  t.equal(clock.pending, 0)
  t.strictSame(await silent.talk.until('turn-ended'), { type: 'turn-ended', reason: 'cancelled' })
})

t.test('a conversation is forked as opencode does it', async t => {
  const { agent, fake } = await begin(t)
  t.equal(await agent.fork?.(), 'forked')
  t.strictSame(fake.sent.at(-1), ['POST', '/session/new/fork', {}])
})

t.test('a conversation that opencode has is continued; another one starts without it, and says so', async t => {
  const gone = new Refused(404, 'No such session.')
  const notice = 'opencode no longer has this conversation, so a new one starts.'
  const cases: [how: Partial<StartAgent>, history: unknown, conversation: string, told: unknown[]][] = [
    [{}, [], 'new', ['new', 0]],
    [{ resume: 'old' }, [], 'old', ['old', 0]],
    [{ resume: 'old' }, [{ info: { id: 'm', sessionID: 'old', role: 'user', time: { created: 7 } }, parts: [] }], 'old', ['old', 7]],
    [{ resume: 'old' }, gone, 'new', ['conversation new', notice, 'new', 0]],
    [{ resume: 'old', sentUpTo: { file: 'old', offset: 5 } }, gone, 'new', ['conversation new', notice, 'new', 0]],
    [{ resume: 'old', sentUpTo: { file: 'old', offset: 0 } }, gone, 'new', ['conversation new', 'new', 0]]
  ]
  for (const [how, history, conversation, told] of cases) {
    const { agent, talk } = await begin(t, how, { history })
    t.equal(agent.conversation, conversation)
    await talk.until('commands')
    t.strictSame(
      talk.heard.flatMap(event => {
        if (event.type === 'conversation') return `conversation ${event.id}`
        if (event.type === 'notice') return event.text
        return event.type === 'history-read' ? [event.upTo.file, event.upTo.offset] : []
      }),
      told
    )
  }
})

t.test('an empty conversation is deleted at the end, one with messages is not', async t => {
  for (const isEmpty of [true, false]) {
    const { agent, talk, fake } = await begin(t)
    if (!isEmpty) {
      const about = { id: 'm', sessionID: 'new' }
      fake.tell({ type: 'message.updated', properties: { info: { ...about, role: 'user', time: { created: 1 } } } })
      const part = { id: 'p', sessionID: 'new', messageID: 'm', type: 'text', text: 'Look' }
      fake.tell({ type: 'message.part.updated', properties: { part } })
      fake.tell({
        type: 'message.updated',
        properties: { info: { id: 'a', sessionID: 'new', role: 'assistant', time: { created: 2, completed: 3 } } }
      })
      fake.tell({ type: 'session.idle', properties: { sessionID: 'new' } })
      await talk.until('turn-ended')
    }
    await agent.stop()
    t.equal(
      fake.sent.some(([method, path]) => method === 'DELETE' && path === '/session/new'),
      isEmpty
    )
    t.equal(await agent.prompt('Look'), false)
    t.equal(await agent.steer?.('Look'), false)
    t.equal(await agent.setMode?.('plan'), false)
  }
})

t.test('an agent whose server dies ends its turn and its events, with the cause; what was written is cut off', async t => {
  const { agent, talk, fake } = await begin(t)
  await agent.prompt('Look')
  fake.tell(answering('new'))
  fake.tell(text('half', {}))
  fake.dies('exit code 1')
  const died = await talk.end.then(
    () => undefined,
    (error: unknown) => error
  )
  t.ok(died instanceof AgentDied)
  t.match(died, { how: 'exit code 1', lastLines: 'last words' })
  t.match(talk.heard.slice(-2), [
    { type: 'text', text: 'half', isCut: true },
    { type: 'turn-ended', reason: 'failed', error: 'opencode exited unexpectedly (exit code 1).' }
  ])
  t.equal(await agent.prompt('Look'), false)
  await agent.stop()
})

t.test('an agent that is stopped ends its turn as cancelled, and its events without an error', async t => {
  const { agent, talk } = await begin(t)
  await agent.prompt('Look')
  await agent.stop()
  await talk.end
  t.strictSame(
    talk.heard.filter(({ type }) => type === 'turn-ended'),
    [{ type: 'turn-ended', reason: 'cancelled' }]
  )
  await agent.stop()
})

t.test('after a cut connection what was missed comes first, and nothing comes twice', async t => {
  const { agent, talk, fake } = await begin(t, { resume: 'old' })
  await agent.prompt('Look')
  fake.answers['/session/old/message'] = [
    {
      info: { id: 'm', sessionID: 'old', role: 'user', time: { created: 1 } },
      parts: [{ ...text('Look', {}, 'old').properties.part, messageID: 'm', id: 'q' }]
    },
    { info: answering('old').properties.info, parts: [text('first', { end: 3 }, 'old').properties.part] }
  ]
  fake.answers['/session/status'] = { old: { type: 'busy' } }
  fake.cuts()
  await fake.isHeardAgain()
  fake.tell(text('first', { end: 3 }, 'old'))
  fake.tell({ ...text('second', { end: 4 }, 'old', 'p2') })
  fake.tell(answering('old', 5))
  fake.tell({ type: 'session.idle', properties: { sessionID: 'old' } })
  await talk.until('turn-ended')
  t.strictSame(
    talk.heard.flatMap(event => (event.type === 'text' || event.type === 'prompted' ? event.text : [])),
    ['Look', 'first', 'second']
  )
})

t.test('what opencode stored while nobody listened is handed over, as far as it was not sent', async t => {
  const history = [
    {
      info: { id: 'm', sessionID: 'old', role: 'user', time: { created: 1 } },
      parts: [{ ...text('Look', {}, 'old').properties.part, messageID: 'm' }]
    },
    { info: answering('old', 3).properties.info, parts: [text('Done', { end: 3 }, 'old').properties.part] }
  ]
  const cases: [how: Partial<StartAgent>, told: string[] | undefined][] = [
    [{}, undefined],
    [{ isUnsent: true }, ['Look', 'Done']],
    [{ sentUpTo: { file: 'old', offset: 1 } }, ['Done']],
    [{ sentUpTo: { file: 'old', offset: 1 }, isUnsent: true }, ['Done']],
    [{ sentUpTo: { file: 'other', offset: 1 } }, undefined]
  ]
  for (const [how, told] of cases) {
    const { agent } = await begin(t, { resume: 'old', ...how }, { history })
    t.strictSame(
      agent.unsent?.events.flatMap(event => ('text' in event ? event.text : [])),
      told
    )
  }
})

t.test('a prompt has the mode, and the pictures; a command of opencode goes to it', async t => {
  const { agent, talk, fake } = await begin(t, { mode: 'plan' })
  t.strictSame(await talk.until('commands'), { type: 'commands', commands: [{ name: 'review', description: 'Looks' }] })
  await agent.prompt('Look', [{ mimeType: 'image/png', bytes: Buffer.from('abc') }])
  t.match(fake.sent.at(-1), ['POST', '/session/new/prompt_async', { agent: 'plan', parts: [{ text: 'Look' }, { mime: 'image/png' }] }])
  t.equal(await agent.setMode('build'), true)
  t.equal(await agent.setMode('unheard of'), false)
  t.strictSame([await agent.setModel?.('none'), await agent.setEffort?.('none')], [false, false])
  await agent.steer?.('/review this')
  t.match(fake.sent.at(-1), ['POST', '/session/new/command', { agent: 'build', command: 'review', arguments: 'this' }])
})

t.test('a request is answered once, and its step ends as denied; those left open are closed with the turn', async t => {
  const { agent, talk, fake } = await begin(t)
  await agent.prompt('Look')
  const step = (status: string) => {
    const { part } = text('', {}).properties
    const state = { status, input: { command: 'make' }, error: 'No.' }
    fake.tell({ type: 'message.part.updated', properties: { part: { ...part, type: 'tool', callID: 'call', tool: 'bash', state } } })
  }
  const asks = (id: string) =>
    fake.tell({
      type: 'permission.asked',
      properties: { id, sessionID: 'new', permission: 'bash', tool: { messageID: 'a', callID: 'call' } }
    })
  fake.tell(answering('new'))
  step('running')
  asks('one')
  await talk.until('permission-asked')
  t.equal(agent.answer('one', 'unheard of'), false)
  t.equal(agent.answer('one', 'reject', 'later'), true)
  t.equal(agent.answer('one', 'reject'), false)
  t.match(fake.sent.at(-1), ['POST', '/permission/one/reply', { reply: 'reject', message: 'later' }])
  step('error')
  t.equal((await talk.until('step-ended')).status, 'denied')
  fake.tell({
    type: 'question.asked',
    properties: { id: 'q', sessionID: 'new', questions: [{ question: 'Which?', options: [{ label: 'Red' }] }] }
  })
  await talk.until('question-asked')
  t.equal(agent.answerQuestion?.('other', {}), false)
  t.equal(agent.answerQuestion?.('q', { 0: { values: ['Red'], other: undefined } }), true)
  t.match(fake.sent.at(-1), ['POST', '/question/q/reply', { answers: [['Red']] }])
  asks('two')
  await talk.until('permission-asked')
  await agent.cancel()
  t.match(await talk.until('permission-closed', ({ ask }) => ask === 'two'), { ask: 'two' })
})

t.test('a slow reader misses growing text, and nothing else', async t => {
  const { agent, fake } = await begin(t)
  await agent.prompt('Look')
  fake.tell(answering('new'))
  fake.tell(text('', {}))
  for (let times = 0; times < 100; times++)
    fake.tell({ type: 'message.part.delta', properties: { sessionID: 'new', messageID: 'a', partID: 'p', field: 'text', delta: 'x' } })
  fake.tell(text('x'.repeat(100), { end: 3 }))
  fake.tell(answering('new', 3))
  fake.tell({ type: 'session.idle', properties: { sessionID: 'new' } })
  const talk = listenTo(agent)
  await talk.until('turn-ended')
  const grown = talk.heard.filter(({ type }) => type === 'text-grew')
  t.ok(grown.length > 0 && grown.length < 70, `${grown.length} of them`)
  t.equal(talk.heard.filter(({ type }) => type === 'text').length, 1)
})

t.test('a version newer than tested is used, and named', async t => {
  const { talk } = await begin(t, {}, { version: '99.1.0' })
  t.match(await talk.until('notice'), { text: /^opencode 99\.1\.0 is newer than tested \(/ })
})

t.test('what is said while it stops is not taken, and it stops once', async t => {
  const clock = manualClock()
  const { agent, fake } = await begin(t, {}, { clock, abortsAtOnce: false })
  await agent.prompt('Look')
  fake.refuses('', new Refused(404, 'No such session.'))
  const stopped = Promise.all([agent.stop(), agent.stop()])
  t.equal(await agent.steer?.('And this'), false)
  await new Promise(resolve => setImmediate(resolve))
  clock.advance(3_000)
  await stopped
  t.strictSame(
    fake.sent.slice(1).map(([method, path]) => `${method} ${path}`),
    ['POST /session/new/prompt_async', 'POST /session/new/abort', 'DELETE /session/new'],
    'what opencode refuses then holds nothing up'
  )
})

t.test('a connection that breaks is opened again', async t => {
  const { fake, talk } = await begin(t)
  fake.breaks(new TypeError('terminated'))
  await fake.isHeardAgain()
  fake.tell(answering('new'))
  fake.tell(text('Done', { end: 3 }))
  t.match(await talk.until('text'), { text: 'Done' })
})

const isScript = { skip: process.platform === 'win32' && 'the program is a script' }

t.test('its own screen is attached to the conversation, with the password of the server', isScript, async t => {
  const directory = t.testdir()
  const { talk, drawing } = await screened(t, 'printf "%s\\n" "$*" "$OPENCODE_SERVER_PASSWORD" "$OTHER" "$(pwd)" > ran', directory)
  await talk.end
  t.equal(
    readFileSync(join(directory, 'ran'), 'utf8'),
    `attach http://127.0.0.1:1 --session new --dir ${directory}\nsecret\nkept\n${realpathSync(directory)}\n`
  )
  t.strictSame(drawing, [true, false])
  t.notOk(
    talk.heard.some(({ type }) => type === 'notice'),
    'its person left it, which ends the session'
  )
})

t.test('a session outlives a screen that fails, and says so; a screen is closed with its session', isScript, async t => {
  const { agent, talk } = await screened(t, 'exit 3', t.testdir())
  t.strictSame(await talk.until('notice'), {
    type: 'notice',
    text: 'The screen of opencode was closed (exit code 3). The session continues on your phone.'
  })
  t.strictSame([agent.ownScreen?.isOpen, await agent.prompt('Look')], [false, true])

  const stopped = await screened(t, 'exec sleep 60', t.testdir())
  t.equal(stopped.agent.ownScreen?.isOpen, true)
  await stopped.agent.stop()
  await stopped.talk.end
  t.strictSame(stopped.drawing, [true, false])

  const dead = await screened(t, 'exec sleep 60', t.testdir())
  dead.fake.dies('exit code 1')
  await t.rejects(dead.talk.end, AgentDied)
  t.strictSame(dead.drawing, [true, false], 'before anyone hears of it')
})

/** The same with a program for its screen that does this. */
async function screened(t: Test, script: string, directory: string) {
  const program = join(directory, 'opencode')
  writeFileSync(program, `#!/bin/sh\n${script}\n`)
  chmodSync(program, 0o700)
  const drawing: boolean[] = []
  const screen = {
    console: { columns: 80, rows: 24, write() {}, takeKeys: () => () => {}, onResize: () => () => {} },
    announcement: '',
    prompt: undefined,
    onDrawing: (isDrawing: boolean) => void drawing.push(isDrawing)
  }
  const env = { PATH: process.env['PATH'] ?? '', OTHER: 'kept' }
  return { drawing, ...(await begin(t, { directory, env, screen }, { program })) }
}

interface Begin {
  program?: string
  version?: string
  history?: unknown
  clock?: Clock
  abortsAtOnce?: boolean
}

/** A message of the model. */
function answering(sessionID: string, completed?: number) {
  const info = { id: 'a', sessionID, role: 'assistant', time: { created: 2, ...(completed && { completed }) } }
  return { type: 'message.updated', properties: { info } }
}

function text(text: string, time: object, sessionID = 'new', id = 'p') {
  return { type: 'message.part.updated', properties: { part: { id, sessionID, messageID: 'a', type: 'text', text, time } } }
}

const common = { agent: 'build', model: undefined, variant: undefined }

/** An agent on a server that has this history of the old conversation. */
async function begin(
  t: Test,
  how: Partial<StartAgent> = {},
  { program = 'opencode', version, history = [], clock, abortsAtOnce = true }: Begin = {}
) {
  const answers: Record<string, unknown> = {
    '/session/old/message': history,
    '/agent': [{ name: 'build' }, { name: 'plan' }],
    '/config/providers': { default: {}, providers: [] },
    '/config': {},
    '/command': [{ name: 'review', description: 'Looks' }],
    '/permission': [],
    '/question': [],
    '/session/status': {}
  }
  const fake = fakeServer(answers, abortsAtOnce)
  if (version !== undefined) Object.assign(fake.server, { version })
  const agent = await startShared({
    server: fake.server,
    program,
    how: { directory: '/', env: {}, ...how },
    ...(clock && { clock })
  })
  t.teardown(() => agent.stop())
  let talk: ReturnType<typeof listenTo> | undefined
  return {
    agent,
    fake,
    get talk() {
      talk ??= listenTo(agent)
      return talk
    }
  }
}

/** Answers like this. Ends a turn that is to be aborted at once, or not at all. */
function fakeServer(answers: Record<string, unknown>, abortsAtOnce: boolean) {
  const ended = Promise.withResolvers<string>()
  const sent: [method: string, path: string, body: unknown][] = []
  const failures = new Map<string, Error | undefined>()
  let listener: (event: ServerEvent) => void = () => {}
  let cut = Promise.withResolvers<unknown>()
  const heardAgain = Promise.withResolvers<void>()
  let connections = 0
  const server: OpencodeServer = {
    url: 'http://127.0.0.1:1',
    password: 'secret',
    version: '1.18.33',
    ended: ended.promise,
    lastLines: () => 'last words',
    async get(path, shape) {
      const answer = answers[path]
      if (answer instanceof Error) throw answer
      return v.parse(shape, answer)
    },
    async send(method, path, body) {
      const { messageID: _, ...rest } = (body ?? {}) as { messageID?: string }
      sent.push([method, path, rest])
      if (path.endsWith('/abort') && abortsAtOnce) {
        tell({ type: 'session.error', properties: { sessionID: 'new', error: { name: 'MessageAbortedError' } } })
        tell({ type: 'session.idle', properties: { sessionID: 'new' } })
      }
      const failure = failures.get(path.replace(/^\/session\/[^/]+/, ''))
      if (failure) throw failure
      return { id: path.endsWith('/fork') ? 'forked' : 'new', title: '', cost: 0 }
    },
    async listen(onEvent, onOpen) {
      listener = onEvent
      cut = Promise.withResolvers()
      onOpen()
      if (++connections > 1) heardAgain.resolve()
      await Promise.race([ended.promise, cut.promise])
    },
    async end() {
      ended.resolve('code 0')
    }
  }
  const refuses = (path: string, failure: Error | undefined) => failures.set(path, failure)
  const tell = (event: object) => listener(v.parse(serverEvent, event))
  return {
    server,
    sent,
    answers,
    refuses,
    tell,
    dies: (how: string) => ended.resolve(how),
    cuts: () => cut.resolve(undefined),
    breaks: (how: Error) => cut.reject(how),
    isHeardAgain: () => heardAgain.promise
  }
}
