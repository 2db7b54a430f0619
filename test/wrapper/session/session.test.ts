import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../lib/async/clock.ts'
import { BoundedQueue } from '../../../lib/async/queue.ts'
import { Unreachable } from '../../../lib/client/link/refusals.ts'
import { envelopeOf, newUserText } from '../../../lib/client/sealed/messages.ts'
import type { MessageBody } from '../../../lib/protocol/sealed/messages.ts'
import { type AgentState, nobody, type SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import { type Agent, AgentDied, type AgentEvent, type UnsentHistory } from '../../../lib/wrapper/agents/agent.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { createSessionFolder, listSessions, readNotes } from '../../../lib/wrapper/home/session-folder.ts'
import { startSession } from '../../../lib/wrapper/session/session.ts'
import { drawSessions, numbered } from '../../../lib/wrapper/terminal/session-list.ts'
import { styleFor } from '../../../lib/wrapper/terminal/style.ts'
import type { LinkState } from '../../../lib/wrapper/uplink/link.ts'
import { fetch } from '../../../lib/wrapper/uplink/network.ts'
import { openUplink } from '../../../lib/wrapper/uplink/uplink.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'
import { computerWithSession } from '../kit/left-behind.ts'

t.test('what the server reports is shown at the terminal and told in the session', async t => {
  const { session, options, uplink, said, changes } = await sessionOf(t)
  options.onFault('message-repeated', 1)
  t.match(session.status.trouble, /^A message was left out: it repeats an earlier one/)
  options.onForged({ why: 'repeated', method: 'abort' })
  t.match(session.status.trouble, /^A call was rejected: it repeats an earlier one/)
  options.onRefused('too large')
  t.match(said.at(-1), /^Your devices may show an outdated state of this session: the server rejected the update \(too large\)\.$/)
  t.match(session.status.trouble, /^A call was rejected/, 'nothing that a person must answer is hidden')
  uplink.trouble = 'no more messages'
  t.equal(session.status.trouble, 'no more messages')
  options.onDropped(2)
  t.match(session.status.trouble, /the oldest thoughts and plans are dropped/)
  uplink.waiting = 3
  options.onChange()
  t.match(session.status, { waiting: 3, trouble: /dropped/ })
  uplink.waiting = 0
  const before = changes()
  options.onChange()
  t.equal(session.status.trouble, 'no more messages', 'the server has everything')
  t.ok(changes() > before)
  await until(() => said.some(text => text.startsWith('Before this, 2 thoughts and plans were left out')))
  session.end('system')
  await session.ended
})

t.test('a decision that devices may not show is named until it is made', async t => {
  const { session, options, events, said, changes } = await sessionOf(t)
  events.offer(asking('a'.repeat(200)))
  await until(() => session.status.questions.length === 1)
  const before = changes()
  options.onRefused('too large')
  t.ok(changes() > before)
  t.match(
    session.status.trouble,
    /^Your devices may not show a pending decision, “a{100}.*”: the server rejected the update \(too large\)\./s
  )
  t.equal(said.at(-1), session.status.trouble)
  events.offer({ type: 'permission-closed', ask: 'q' })
  await until(() => session.status.trouble === undefined)
  session.end('system')
  await session.ended
})

t.test('messages that cannot be read are named when the session ends, and none that it heard resumes it', async t => {
  const { session, options, said, folder } = await sessionOf(t)
  options.onMessage({ ok: false, reason: 'unreadable' } as never, { seq: 3, localId: 'a' } as never)
  options.onOwn({ seq: 5 } as never)
  options.onForgedMessage({ seq: 7, localId: 'forged' } as never)
  options.onOwn({ seq: 4 } as never)
  t.notMatch(said, [/./])
  session.end('person')
  await session.ended
  t.match(said, [/^Message 3 was left out: it is damaged/])
  t.match(folder.notes, { heardUpTo: 7, isEnding: true, endedBy: 'person' })
})

t.test('a forged message is not waited for', async t => {
  const { session, options, folder } = await sessionOf(t)
  options.onForgedMessage({ seq: 1, localId: 'forged' } as never)
  t.match(folder.notes, { cursor: 1 })
  session.end('system')
  await session.ended
})

t.test('messages numbered anew count from the first', async t => {
  const { session, options, folder } = await sessionOf(t)
  options.onOwn({ seq: 9 } as never)
  options.onNumberedAnew()
  session.end('person')
  await session.ended
  t.equal(folder.notes.heardUpTo, 0)
})

t.test('a session ends when its server or another device ends it, and its folder goes with what was deleted', async t => {
  for (const [type, sentence, isThere] of [
    ['gone', 'The session was deleted on another device.', false],
    ['unknown', 'The server no longer has this session.', true]
  ] as const) {
    const { session, options, uplink, home } = await sessionOf(t)
    uplink.delivers = false
    uplink.link = { type }
    options.onChange()
    t.strictSame(await session.ended, { how: { type: 'elsewhere', sentence }, delivered: false })
    t.equal(readdirSync(join(home, 'sessions')).length === 1, isThere, type)
  }
})

t.test('only a session that is known to run is ended by being archived', async t => {
  for (const lifecycleState of ['archived', 'archiveRequested']) {
    const { session, options, folder } = await sessionOf(t)
    options.onMetadata({ lifecycleState } as never)
    await new Promise(resolve => setImmediate(resolve))
    t.notOk(folder.notes.isEnding)
    options.onMetadata({ lifecycleState: 'running' } as never)
    options.onMetadata({ lifecycleState } as never)
    const sentence = 'The session was archived on another device.'
    t.strictSame(await session.ended, { how: { type: 'elsewhere', sentence }, delivered: true })
  }
})

t.test('metadata of a run replaces that of the one before, and the rest stays', async t => {
  const { session, uplink } = await sessionOf(t, { name: 'Apples', agentEnd: { type: 'exited' }, progress: { done: 1 }, agentTitle: 'Old' })
  t.match(uplink.metadata, { name: 'Apples', agentTitle: 'Demo agent', editsQueue: true, methods: Array })
  t.notOk(uplink.metadata['agentEnd'])
  t.notOk(uplink.metadata['progress'])
  t.equal(uplink.control, 'phone')
  session.end('system')
  await session.ended
})

t.test('the end of an agent is in the metadata, and its devices stop showing that it works', async t => {
  const { session, events, uplink } = await sessionOf(t)
  events.fail(new AgentDied('exit code 3', ''))
  t.match(await session.ended, { how: { type: 'agent-died' } })
  t.ok(uplink.metadata['agentEnd'])
  t.equal(uplink.isThinking, false)
  t.match(uplink.notices, ['failed'])
})

t.test('a request that nobody answers in time is denied by nobody', async t => {
  const timers = manualClock()
  t.capture(systemClock, 'after', (ms: number, run: () => void) => timers.after(ms, run))
  const { session, options, events, uplink, answers } = await sessionOf(t)
  await options.handlers.setUnanswered?.({ denyAfterMinutes: 5 }, undefined as never)
  events.offer(asking('make'))
  await until(() => session.status.questions.length === 1)
  timers.advance(5 * 60_000)
  await until(() => answers.length > 0)
  t.match(answers, [['q', 'no']])
  t.match(uplink.state.completedRequests, { q: { status: 'denied', answeredBy: nobody, reason: /^Nobody answered within 5 minutes/ } })
  session.end('system')
  await session.ended
})

t.test('a message of a device begins a turn, whose last words are told and whose end is delivered with the session', async t => {
  const { session, options, prompts, told } = await sessionOf(t)
  options.onMessage({ ok: true, body: newUserText('hello', { sentFrom: 'web' }) } as never, { seq: 1, localId: 'm1' } as never)
  await until(() => prompts.length === 1)
  t.strictSame(prompts, ['hello'])
  t.ok(session.status.isWorking)
  session.end('system')
  t.match(await session.ended, { delivered: true })
  t.strictSame(told.slice(-3), ['last words', 'turn-end', 'the end'])
})

t.test('a session ends once its agent has stopped, and asks nothing any more', async t => {
  const stopped = Promise.withResolvers<void>()
  const { session, events, uplink, told } = await sessionOf(t, {}, { stopped: stopped.promise })
  events.offer(asking('make'))
  await until(() => uplink.state.requests?.['q'] !== undefined)
  session.end('system')
  await new Promise(resolve => setImmediate(resolve))
  t.notOk(told.includes('the end'))
  t.ok(uplink.state.requests?.['q'])
  stopped.resolve()
  await session.ended
  t.strictSame(uplink.state.requests ?? {}, {})
  t.match(uplink.state.completedRequests, { q: { status: 'canceled' } })
})

t.test('what an earlier process did not send is told before the session goes on', async t => {
  const unsent = { events: [{ type: 'text', block: 'b', text: 'recorded', thinking: false }], upTo: undefined } satisfies UnsentHistory
  const { session, told } = await sessionOf(t, {}, { unsent })
  t.strictSame(told, ['recorded'])
  session.end('system')
  await session.ended
})

t.test('a notice that the server did not get is sent with the next connection', async t => {
  const { session, options, uplink, events } = await sessionOf(t)
  uplink.isAway = true
  await session.prompt('go')
  await until(() => session.status.isWorking)
  events.offer({ type: 'turn-ended', reason: 'done' })
  await until(() => !session.status.isWorking)
  t.match(session.status.link, { type: 'connecting' })
  uplink.isAway = false
  options.onChange()
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(uplink.notices, [])
  uplink.link = { type: 'live' }
  options.onChange()
  t.match(session.status.link, { type: 'live' })
  await until(() => uplink.notices.length > 0)
  t.strictSame(uplink.notices, ['done'])
  session.end('system')
  await session.ended
})

t.test('a session that its agent, the system or its own end closes may be resumed, one that a person closes not', async t => {
  for (const [end, endedBy] of [
    [({ session }) => session.end('system'), 'itself'],
    [({ session }) => session.end('person'), 'person'],
    [({ events }) => events.close(), 'person'],
    [({ events }) => events.fail(new AgentDied('exit code 3', '')), 'itself'],
    [({ options }) => void options.handlers.killSession?.({}, undefined as never, Promise.resolve()), 'person']
  ] satisfies [(own: Own) => void, string][]) {
    const own = await sessionOf(t)
    end(own)
    await own.session.ended
    t.equal(own.folder.notes.endedBy, endedBy)
  }
})

t.test('a device stops the turn of the session', async t => {
  const { session, options } = await sessionOf(t)
  await session.prompt('go')
  await until(() => session.status.isWorking)
  await options.handlers.abort?.({}, undefined as never)
  await until(() => !session.status.isWorking)
  session.end('system')
  await session.ended
})

t.test('what was open at the end is open on no device any more, and the session says how it ended', async t => {
  const { begin, phone, home } = await ownSession(t)
  const { session, events } = await begin()
  const device = await phone.session()
  await device.until(({ metadata }) => metadata.methods !== undefined)
  t.equal(session.status.session, device.id)
  t.match(device.metadata, { editsQueue: true })
  t.ok(device.metadata.methods?.includes('permission'))
  await device.say('one')
  await device.until(({ events }) => events().some(({ t }) => t === 'turn-start'))
  t.ok(session.status.isWorking)
  const step = { call: 'c', name: 'Bash', title: 'make', kind: 'execute', input: {}, locations: [], content: [] } as const
  const choices = [{ id: 'yes', label: 'Yes', allows: true }]
  events.offer({ type: 'permission-asked', asked: { ask: 'a', step, choices } } as unknown as AgentEvent)
  await device.until(({ state }) => state.requests?.['a'] !== undefined)
  t.match(session.status.questions, [{ title: 'make' }])
  session.end('person')
  session.end('system')
  t.strictSame(await session.ended, { how: { type: 'asked', by: 'person' }, delivered: true })
  await device.until(({ state }) => state.requests?.['a'] === undefined)
  t.match(device.state.completedRequests, { a: { status: 'canceled' } })
  await device.until(({ metadata }) => metadata.lifecycleState === 'archived')
  const [known] = listSessions(home)
  t.match(known, { pid: undefined, notes: { endedBy: 'person', isEnding: true } })
  t.ok((known?.notes.heardUpTo ?? 0) >= (device.seqOf('one') ?? Number.NaN), 'what it heard does not resume it')
})

t.test('requests and the silence that an earlier process left on devices are over when the session goes on', async t => {
  const { begin, uplink, phone } = await ownSession(t)
  const earlier = await uplink()
  earlier.changeState(state => ({
    ...state,
    requests: { p: { tool: 'Bash', arguments: {}, createdAt: 1 } },
    modelWait: { since: 1 }
  }))
  const device = await phone.session()
  await device.until(({ state }) => state.requests?.['p'] !== undefined)
  await earlier.close()
  await begin()
  await device.until(({ state }) => state.requests?.['p'] === undefined)
  t.match(device.state, { completedRequests: { p: { status: 'canceled' } }, modelWait: undefined })
})

t.test('a session ends by itself, by its person or from elsewhere, and only a person ends it until someone writes', async t => {
  const died = new AgentDied('exit code 3', '')
  const ends = [
    [({ session }) => session.end('system'), { type: 'asked', by: 'system' }, 'itself'],
    [({ events }) => events.close(), { type: 'asked', by: 'person' }, 'person'],
    [({ events }) => events.fail(died), { type: 'agent-died', died }, 'itself'],
    [({ kill }) => kill(), { type: 'elsewhere', sentence: 'The session was ended from another device.' }, 'person']
  ] satisfies [(how: Begun & { kill(): void }) => void, object, string][]
  for (const [end, how, endedBy] of ends) {
    const { begin, phone, home } = await ownSession(t)
    const begun = await begin()
    const device = await phone.session()
    await device.until(({ metadata }) => metadata.methods !== undefined)
    end({ ...begun, kill: () => void device.call('killSession', {}) })
    t.match(await begun.session.ended, { how, delivered: true })
    t.match(listSessions(home), [{ pid: undefined, notes: { endedBy } }])
    device.close()
  }
})

t.test('the terminal shows what the agent remarks between turns, until the next one', async t => {
  const { begin, phone } = await ownSession(t)
  const { session, events, changed } = await begin()
  t.notOk(session.stopTurn(), 'there is none')
  events.offer({ type: 'notice', text: 'It has no such mode.' } as AgentEvent)
  await changed(() => session.status.note === 'It has no such mode.')
  await session.prompt('typed')
  await changed(() => session.status.isWorking)
  events.offer({ type: 'notice', text: 'Of the turn.' } as AgentEvent)
  await changed(() => session.status.note === undefined)
  const device = await phone.session()
  await device.until(({ seqOf }) => seqOf('typed') !== undefined)
  t.ok(session.stopTurn())
  await changed(() => !session.status.isWorking)
})

t.test('a session says what can be asked of it, and notes how far it heard', async t => {
  const { phone, home, begin } = await ownSession(t)
  const { session, changed } = await begin()
  await changed(() => session.status.link.type === 'live')
  const device = await phone.session()
  await device.until(({ metadata }) => metadata['editsQueue'] === true)
  const { methods } = device.metadata
  for (const method of ['abort', 'permission', 'watch']) t.ok(methods?.includes(method), method)
  t.equal(device.state.controlledByUser, false)
  await device.append(device.sealedElsewhere('forged'))
  await device.say('first')
  await changed(() => session.status.isWorking)
  await device.until(({ seqOf }) => seqOf('first') !== undefined)
  const seq = device.seqOf('first') ?? Number.POSITIVE_INFINITY
  t.ok(session.stopTurn())
  await changed(() => !session.status.isWorking)
  session.end('person')
  t.match(await session.ended, { delivered: true, how: { type: 'asked', by: 'person' } })
  const [known] = listSessions(home)
  t.match(known?.notes, { isEnding: true, endedBy: 'person' })
  t.ok((known?.notes.heardUpTo ?? 0) >= seq)
})

t.test('messages written during a turn wait for its end, and the cursor on disk follows what the agent got', async t => {
  const { session, home } = await demo(t)
  await session.say('SCRIPT: slow 1500 one two three four five')
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text second')
  await session.say('SCRIPT: text third')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(texts(session), ['one two three four five', 'second', 'third'])
  const [folder = ''] = readdirSync(join(home, 'sessions'))
  const third = session.seqOf('SCRIPT: text third')
  t.equal(readNotes(join(home, 'sessions', folder))?.cursor, third)
})

t.test('a session is titled by its first prompt', async t => {
  const { session, home } = await demo(t)
  await session.say('SCRIPT: text **Apples** are in.\nThen the pears')
  await session.until(({ metadata }) => metadata.summary !== undefined)
  t.equal(session.metadata.summary?.text, 'SCRIPT: text Apples are in.')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('SCRIPT: text second')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(session.metadata.summary?.text, 'SCRIPT: text Apples are in.')
  const lines = drawSessions(numbered(listSessions(home)), Date.now(), styleFor({ isTTY: false }, {}), 80)
  t.match(lines[0], /SCRIPT: text Apples are in\.$/)
})

t.test('a turn is stopped from the phone, and the next message starts another', async t => {
  const { session } = await demo(t)
  await session.say(`SCRIPT: slow 30000 ${'word '.repeat(300)}`)
  await session.until(({ partials }) => partials.length > 0)
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })
  await session.say('SCRIPT: text on')
  await session.until(session => turnsEnded(session) === 2)
})

t.test('modes change by call and with a message, and every device shows the current one', async t => {
  const { session } = await demo(t)
  await session.until(({ metadata }) => metadata.operatingModes !== undefined)
  t.match(
    session.metadata.operatingModes?.map(({ code }) => code),
    ['default', 'acceptEdits', 'plan']
  )
  await t.rejects(session.call('setMode', { mode: 'nonsense' }), /no such mode/)
  t.match(await session.call('setMode', { mode: 'plan' }), { mode: 'plan' })
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'plan')
  await session.say('SCRIPT: tool write {"path":"auto.txt","content":"x"}', 'acceptEdits')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(session.state.completedRequests ?? {}, {}, 'nobody was asked')
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'acceptEdits')
})

t.test('an existing app says yes and no in its own format', async t => {
  const { session, home } = await demo(t)
  for (const [answer, status, there] of [
    [{ approved: false, decision: 'denied' as const }, 'denied', false],
    [{ approved: true, decision: 'approved' as const }, 'approved', true]
  ] as const) {
    await session.say('SCRIPT: tool write {"path":"old.txt","content":"x"}')
    await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
    const [id = ''] = Object.keys(session.state.requests ?? {})
    t.equal(await session.call('permission', { id, ...answer }), null)
    await session.until(({ state }) => state.completedRequests?.[id]?.status === status)
    await session.until(session => session.events().some(event => event.t === 'tool-call-end' && event.call === id))
    t.equal(readdirSync(join(home, 'demo')).includes('old.txt'), there)
  }
})

t.test('a message not started when the session ended does not count as read', async t => {
  const { session, wrapper } = await demo(t)
  await session.say(`SCRIPT: slow 30000 ${'word '.repeat(300)}`)
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text too late')
  await wrapper.kill('SIGTERM')
  t.match(wrapper.output, /Everything was delivered/)
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })
  t.equal(session.events().filter(event => event.t === 'turn-start').length, 1)
})

t.test('the phone reads and changes files of the session’s folder, and runs commands there', async t => {
  const { session } = await demo(t)
  await session.call('writeFile', { path: 'note.txt', content: btoa('from the phone') })
  t.match(await session.call('readFile', { path: 'note.txt' }), { success: true, content: btoa('from the phone') })
  t.match(await session.call('bash', { command: 'cat note.txt', cwd: '/' }), { success: true, stdout: 'from the phone' })
  // The demo's folder has files of its own.
  await session.call('bash', { command: 'mkdir notes && cp note.txt notes', cwd: '/' })
  t.match(await session.call('listDirectory', { path: 'notes' }), { success: true, entries: [{ name: 'note.txt', type: 'file' }] })
  await t.rejects(session.call('readFile', { path: '/etc/passwd' }), /allowed/)
})

const asking = (title: string) =>
  ({
    type: 'permission-asked',
    asked: {
      ask: 'q',
      step: { call: 'c', name: 'Bash', title, kind: 'execute', input: {}, locations: [], content: [] },
      choices: [
        { id: 'yes', label: 'Yes', kind: 'allow_once' },
        { id: 'no', label: 'No', kind: 'reject_once' }
      ]
    }
  }) satisfies AgentEvent

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setImmediate(resolve))
}

type GivenOptions = Parameters<typeof openUplink>[0]
type Given = { [Name in keyof Required<GivenOptions>]: NonNullable<GivenOptions[Name]> }

/** A session in this process whose server is the test's, as far as a session sees one. */
async function sessionOf(t: Test, before: object = {}, how: { stopped?: Promise<void>; unsent?: UnsentHistory } = {}) {
  const home = openHome({ AFIELD_HOME: t.testdir() })
  const metadata = { path: home.path, host: 'here', machineId: home.machineId, agentTitle: 'Demo agent' } as SessionMetadata
  const folder = createSessionFolder(home.path, {
    tag: 'own',
    server: 'https://home.example',
    program: { kind: 'demo' },
    key: null,
    metadata,
    cursor: 0,
    turn: null
  })
  const events = new BoundedQueue<AgentEvent>(100)
  const [said, told, prompts, answers]: [string[], string[], string[], unknown[][]] = [[], [], [], []]
  const uplink = {
    session: 's1',
    link: { type: 'connecting' } as LinkState,
    waiting: 0,
    trouble: undefined as string | undefined,
    delivers: true,
    control: '',
    isThinking: undefined as boolean | undefined,
    state: {} as AgentState,
    metadata: before as SessionMetadata,
    notices: [] as string[],
    async put(body: MessageBody) {
      const ev = envelopeOf(body)?.ev
      if (ev?.t === 'service' && !('fault' in ev)) said.push(ev.text)
      if (ev) told.push(ev.t === 'text' ? ev.text : ev.t)
    },
    showPartial: () => true,
    caughtUp: async () => {},
    setThinking: (isThinking: boolean) => Object.assign(uplink, { isThinking }),
    isAway: false,
    async notify({ kind }: { kind: string }) {
      if (uplink.isAway) throw new Unreachable('network')
      uplink.notices.push(kind)
    },
    tellRead() {},
    setControl: (control: string) => Object.assign(uplink, { control }),
    changeState: (change: (state: AgentState) => AgentState) => Object.assign(uplink, { state: change(uplink.state) }),
    changeMetadata: (change: (known: SessionMetadata) => SessionMetadata) => Object.assign(uplink, { metadata: change(uplink.metadata) }),
    async end() {
      told.push('the end')
      return uplink.delivers
    },
    close: async () => {}
  }
  const given: Given[] = []
  let changes = 0
  const session = await startSession({
    agent: {
      ...quietAgent(events, answers),
      async prompt(text) {
        prompts.push(text)
        return true
      },
      async stop() {
        await how.stopped
        events.offer({ type: 'text', block: 'b', text: 'last words', thinking: false })
        events.offer({ type: 'turn-ended', reason: 'cancelled' })
        events.close()
      }
    },
    ...(how.unsent && { unsent: how.unsent }),
    home,
    credentials: { server: 'https://home.example' } as never,
    folder,
    metadata,
    env: {},
    fetch,
    onChange: () => void changes++,
    async connect(options) {
      given.push(options as Given)
      return uplink as never
    }
  })
  t.teardown(() => {
    session.end('system')
    return session.ended
  })
  const [options] = given
  if (!options) throw new Error('the session did not connect')
  return { session, options, uplink, events, said, told, prompts, answers, folder, home: home.path, changes: () => changes }
}

type Own = Awaited<ReturnType<typeof sessionOf>>

/** It says what the test lets it say. */
function quietAgent(events: BoundedQueue<AgentEvent>, answers: unknown[][] = []): Agent {
  const over = () => void events.offer({ type: 'turn-ended', reason: 'cancelled' })
  return {
    conversation: 'own',
    version: undefined,
    events,
    prompt: async () => true,
    answer: (...answer) => answers.push(answer) > 0,
    setMode: async () => false,
    cancel: async () => over(),
    async stop() {
      over()
      events.close()
    }
  }
}

type Begun = Awaited<ReturnType<Awaited<ReturnType<typeof ownSession>>['begin']>>

/** A session in this process, whose agent says what the test lets it say. */
async function ownSession(t: Test) {
  const { server, phone, home: path, folder } = await computerWithSession(t)
  folder.note({ turn: null })
  const home = openHome({ AFIELD_HOME: path })
  const credentials = home.credentials(server.url)
  if (!credentials) throw new Error('the computer is linked')
  return {
    phone,
    home: path,
    uplink: () => openUplink({ home, credentials, folder, fetch }),
    async begin() {
      const events = new BoundedQueue<AgentEvent>(100)
      const bell = new EventTarget()
      const metadata = { ...folder.notes.metadata, lifecycleState: 'running', hostPid: process.pid }
      const onChange = () => bell.dispatchEvent(new Event('change'))
      const session = await startSession({ agent: quietAgent(events), home, credentials, folder, metadata, env: {}, fetch, onChange })
      t.teardown(() => {
        session.end('system')
        return session.ended.catch(() => {})
      })
      return {
        session,
        events,
        async changed(isSo: () => boolean) {
          while (!isSo()) await once(bell, 'change')
        }
      }
    }
  }
}
