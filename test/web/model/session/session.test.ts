import 'fake-indexeddb/auto'
import { signal } from '@preact/signals'
import t, { type Test } from 'tap'
import {
  cryptoReady,
  type Draft,
  newEnvelope,
  newSessionMessage,
  newUserText,
  sealDraft,
  Unreachable
} from '../../../../lib/client/index.ts'
import { type MessageBody, messageBody, type SessionEvent } from '../../../../lib/protocol/sealed/messages.ts'
import { type AgentState, type SessionMetadata, sessionMetadata } from '../../../../lib/protocol/sealed/session.ts'
import { localId, sealed } from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import { noteLink } from '../../../../web/core/connection.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import { closedDecisions, forgetClosed, noteClosed } from '../../../../web/model/decisions/closed-decisions.ts'
import { updateHome } from '../../../../web/model/home.ts'
import { openedOf } from '../../../../web/model/outbox/messages.ts'
import { openSession } from '../../../../web/model/session/session.ts'
import type { MachineView, SessionView } from '../../../../web/model/store.ts'
import { FakeLink, turn } from '../../../client/link/fake-link.ts'
import { until } from '../../kit/device.ts'
import { machine as machineOf } from '../../kit/machine.ts'
import { pageGlobals } from '../../kit/page-globals.ts'
import { sessionRow } from '../../kit/session-row.ts'

t.before(() => cryptoReady())

const noReply = new Unreachable('not-connected')
const methods = ['findFiles', 'setModel']
const daemon = {
  id: 'm1',
  isActive: true,
  activeAt: 5,
  createdAt: 1,
  metadata: undefined,
  daemonState: { status: 'running' }
} as MachineView

interface Given {
  /** What the session and its machine return, by method. */
  results?: Record<string, unknown>
  metadata?: Partial<SessionMetadata>
  session?: Partial<SessionView>
  machine?: MachineView | undefined
}

/** Session `s1`, connected and idle. */
async function open(t: Test, { results = {}, metadata = {}, session: more = {}, machine = daemon }: Given = {}) {
  const db = await deviceDb()
  await db.erase()
  pageGlobals(t, {
    requestAnimationFrame: (draw: () => void) => setTimeout(draw),
    navigator: { vibrate: () => true },
    matchMedia: () => ({ matches: false })
  })
  const about = v.parse(sessionMetadata, { path: '/work/pears', host: 'studio', machineId: 'm1', methods, ...metadata })
  const view = (change: Partial<SessionView> = {}): SessionView => ({
    ...{ ...sessionRow, id: 's1', last: undefined, metadata: about, activeAt: Date.now(), ...more },
    ...change
  })
  const { link: answering, asked, state } = machineOf<Pick<Live, 'socket' | 'cipherOfMachine'>>(results)
  const cipher = answering.cipherOfMachine('m1')
  if (!cipher) throw new Error('It has a key.')
  const link = new FakeLink()
  link.up()
  const queued: Draft[] = []
  const live = {
    rest: { call: async () => ({ messages: [], hasMore: false }) },
    socket: Object.assign(link, { request: answering.socket.request }),
    cipherOf: answering.cipherOfMachine,
    cipherOfMachine: answering.cipherOfMachine,
    onStored: () => () => {},
    onSetAside: () => () => {},
    outbox: { pending: [], put: async (draft: Draft) => void queued.push(draft) },
    queue: { of: () => [], send: async () => {}, withdraw: async () => {}, dismiss() {} },
    files: {},
    feed: { sessions: new Map() },
    vault: {}
  }
  const session = signal<SessionView | undefined>(view())
  const there = signal<MachineView | undefined>(machine)
  const model = openSession({
    id: 's1',
    // Only the members that are used.
    live: live as unknown as Live,
    session,
    machine: there,
    isLinked: signal(true),
    me: 'This phone'
  })
  t.teardown(async () => {
    model.close()
    forgetClosed('s1')
    await (await deviceDb()).read('history.s1')
  })
  let last = 0
  const deliver = ({ content, localId: own }: Pick<Draft, 'content' | 'localId'>) => {
    last++
    const at = Date.now()
    const stored = { createdAt: at, updatedAt: at, content: { t: 'encrypted' as const, c: v.parse(sealed, content) } }
    link.message({ id: `m${last}`, seq: last, localId: v.parse(localId, own), ...stored })
    return until(model.transcript, now => now.messages.length === last)
  }
  const record = (body: MessageBody) => deliver(sealDraft(cipher, 's1', body))
  await until(model.feed, now => now === 'live')
  return {
    ...{ model, asked, session, there, state, queued, results, deliver, cipher },
    told: (ev: SessionEvent) => record(newSessionMessage(newEnvelope(ev, { role: 'agent', turn: 't1' }))),
    mine: (text: string) => record(v.parse(messageBody, newUserText(text, { sentFrom: 'web' }))),
    /** The session as it is from now on. */
    hear(change: Partial<SessionView>) {
      session.value = view(change)
    }
  }
}

t.test('a session that is not known has nothing to show, and its calls fail', async t => {
  const { model, session } = await open(t)
  session.value = undefined
  t.same([model.facts.value, model.requests.value, model.questions.value, model.answered.value], [undefined, [], [], []])
  t.same([model.unread.value, model.queue.value, model.isWorking.value], [[], [], false])
  t.same(await model.findFiles('pear'), [])
  t.equal(model.me, 'This phone')
  t.equal(model.id, 's1')
})

t.test('permissions and questions are open while the session is connected, and those answered are known', async t => {
  const ask = { tool: 'Bash', arguments: { command: 'ls' }, createdAt: 1 }
  const form = { questions: [{ question: 'Which?', header: '', options: [{ label: 'Pear', description: '' }], multiSelect: false }] }
  const question = { tool: 'AskUserQuestion', arguments: form, createdAt: 2 }
  const over = { completedAt: 3, status: 'approved' as const }
  const agentState = {
    requests: { p1: ask, q1: question },
    completedRequests: { p0: { ...ask, ...over }, q0: { ...question, ...over } }
  } as unknown as AgentState
  const { model, hear } = await open(t, { session: { agentState } })
  const ids = () => [model.requests.value, model.questions.value, model.answered.value].map(all => all.map(({ id }) => id))
  t.same(ids(), [['p1'], ['q1'], ['p0', 'q0']])
  hear({ isActive: false })
  t.same(ids(), [[], [], ['p0', 'q0']])
  hear({ agentState: undefined })
  t.same(ids(), [[], [], []])
})

t.test('an agent works while it says so, or its turn goes on and its wrapper was heard since', async t => {
  const { model, told, hear } = await open(t)
  const at = Date.now()
  t.equal(model.isWorking.value, false)
  hear({ isThinking: true })
  t.equal(model.isWorking.value, true)
  hear({ isThinking: true, isActive: false })
  t.equal(model.isWorking.value, false, 'not connected')
  hear({ activeAt: at })
  await told({ t: 'turn-start' })
  t.equal(model.isWorking.value, true)
  await told({ t: 'text', text: 'I look.' })
  const lastAt = model.transcript.value.items.at(-1)?.at ?? 0
  hear({ activeAt: lastAt + 29_999 })
  t.equal(model.isWorking.value, true)
  hear({ activeAt: lastAt + 30_000 })
  t.equal(model.isWorking.value, false, 'cut off: it reported to be idle since')
  hear({ activeAt: lastAt })
  await told({ t: 'turn-end', status: 'completed' })
  t.equal(model.isWorking.value, false)
})

t.test('a turn without anything in it yet counts from its start', async t => {
  const { model, told, hear } = await open(t)
  await told({ t: 'turn-start' })
  const began = model.transcript.value.turn?.startedAt ?? 0
  hear({ activeAt: began + 29_999 })
  t.equal(model.isWorking.value, true)
  hear({ activeAt: began + 30_000 })
  t.equal(model.isWorking.value, false)
})

t.test('a message that the agent has not read waits, in the queue while it works', async t => {
  const { model, mine, hear } = await open(t)
  await mine('Prune')
  await model.texts.send('Rake')
  const texts = () => [model.unread.value, model.queue.value].map(all => all.map(({ text }) => text))
  t.same(texts(), [['Prune', 'Rake'], []])
  hear({ isThinking: true })
  t.same(texts(), [
    ['Prune', 'Rake'],
    ['Prune', 'Rake']
  ])
  hear({ isThinking: true, readSeq: 1 })
  t.same(texts(), [['Rake'], ['Rake']])
})

t.test('when a message reached the machine and the agent is known since the session was opened', async t => {
  const { model, hear } = await open(t, { session: { deliveredSeq: 1, readSeq: 1 } })
  const before = Date.now()
  hear({ deliveredSeq: 3, readSeq: 2 })
  t.same(model.stagesOf(1), { machineAt: undefined, readAt: undefined })
  t.ok((model.stagesOf(2).machineAt ?? 0) >= before)
  t.ok((model.stagesOf(2).readAt ?? 0) >= before)
  t.match(model.stagesOf(3), { machineAt: Number, readAt: undefined })
  t.equal(model.stagesOf(4).machineAt, undefined)
})

t.test('the state of the connection is shown', async t => {
  const { model } = await open(t)
  noteLink({ isOnline: true, socket: 'live', feed: 'live' })
  t.equal(model.isOffline.value, false)
  noteLink({ socket: 'down', feed: 'away' })
  t.equal(model.isOffline.value, true, 'the server is silent')
  noteLink({ isOnline: false })
  t.equal(model.isOffline.value, true)
  noteLink({ isOnline: true, socket: 'live', feed: 'catching-up' })
  t.equal(model.isOffline.value, false)
})

t.test('a stop is asked for once more if it takes long, and forgotten when the turn is over', async t => {
  const { model, asked, hear, results } = await open(t, { results: { abort: {} }, session: { isThinking: true } })
  const before = Date.now()
  const stopping = model.stop()
  t.match(model.asked.value.stop, { state: 'asking' })
  await stopping
  const { stop } = model.asked.value
  t.strictSame(stop, { at: stop?.at, state: 'asked' })
  t.ok((stop?.at ?? 0) >= before)
  results['abort'] = noReply
  const again = model.stop()
  t.strictSame(model.asked.value.stop, { at: stop?.at, isRepeated: true, state: 'asking' })
  await again
  t.strictSame(model.asked.value.stop, { at: stop?.at, isRepeated: true, state: 'failed' })
  t.same(asked, [['s1:abort', {}]])
  hear({ isThinking: false })
  t.equal(model.asked.value.stop, undefined)
})

t.test('a stop answered after the turn was over is not shown', async t => {
  const answer = Promise.withResolvers<object>()
  const { model, hear } = await open(t, { results: { abort: () => answer.promise }, session: { isThinking: true } })
  const stopping = model.stop()
  await turn()
  hear({ isThinking: false })
  answer.resolve({})
  await stopping
  t.equal(model.asked.value.stop, undefined)
})

t.test('files are searched only where the wrapper can', async t => {
  const { model, asked, hear } = await open(t, { results: { findFiles: { paths: ['pear.ts'], isCut: false } } })
  t.same(await model.findFiles('pe'), ['pear.ts'])
  t.same(asked, [['s1:findFiles', { query: 'pe', limit: 8 }]])
  hear({ metadata: v.parse(sessionMetadata, { path: '/', host: 'h' }) })
  t.same(await model.findFiles('pe'), [])
  t.equal(asked.length, 1)
})

t.test('an agent ends by its wrapper, or if that does not by the daemon of its machine', async t => {
  const said = (success: boolean) => ({ success, message: '' })
  const stopped = { 'stop-session': { message: '' } }
  const kill = ['s1:killSession', {}]
  const stop = ['m1:stop-session', { sessionId: 's1' }]
  const away = { ...daemon, daemonState: null }
  const rows: [string, Record<string, unknown>, MachineView | undefined, boolean, unknown[]][] = [
    ['its wrapper does', { killSession: said(true) }, daemon, true, [kill]],
    ['its daemon does', { killSession: said(false), ...stopped }, daemon, true, [kill, stop]],
    ['its wrapper hangs', { killSession: noReply, ...stopped }, daemon, true, [stop]],
    ['nobody does', { killSession: said(false), 'stop-session': noReply }, daemon, false, [kill]],
    ['no daemon runs', { killSession: said(false), ...stopped }, away, false, [kill]],
    ['its machine is not known', { killSession: said(false), ...stopped }, undefined, false, [kill]]
  ]
  for (const [name, results, machine, isEnded, calls] of rows) {
    const { model, asked, there } = await open(t, { results })
    there.value = machine
    t.equal(await model.end(), isEnded, name)
    t.same(asked, calls, name)
    const gone = { type: 'permission', request: {}, id: 'p1', createdAt: 1 }
    noteClosed({ session: 's1', asked: gone as unknown as Parameters<typeof noteClosed>[0]['asked'], at: Date.now(), beside: [] })
    t.same(closedDecisions.value[0]?.since, isEnded ? ['ended-here'] : undefined, `${name}, and its open decisions say so`)
  }
})

t.test('control is taken from the terminal, and a failure is shown until the terminal has given it up', async t => {
  const inTerminal = { controlledByUser: true }
  const { model, asked, hear, results } = await open(t, { results: { switch: noReply }, session: { agentState: inTerminal } })
  const taking = model.takeOver()
  t.equal(model.asked.value.takeOver, 'asking')
  await taking
  t.equal(model.asked.value.takeOver, 'failed')
  results['switch'] = {}
  await model.takeOver()
  t.same(asked, [['s1:switch', { to: 'remote' }]])
  t.equal(model.asked.value.takeOver, 'asking', 'until the wrapper reports it')
  hear({ agentState: { controlledByUser: false } })
  t.equal(model.asked.value.takeOver, undefined)
  results['switch'] = noReply
  await model.takeOver()
  t.not(model.asked.value.takeOver, 'failed', 'it has control')
})

t.test('a choice is asked for and no longer shown as asked once the session reports it', async t => {
  const { model, asked, hear, state } = await open(t, { results: { setModel: { model: 'fast' } } })
  await model.choose('model', 'fast')
  t.same(asked, [['s1:setModel', { model: 'fast' }]])
  t.same(model.choices.value, { model: { code: 'fast', state: 'asking' } })
  hear({ metadata: v.parse(sessionMetadata, { path: '/', host: 'h', methods, currentModelCode: 'fast' }) })
  t.same(model.choices.value, {})
  state.hasKey = false
  await model.choose('model', 'slow')
  t.same(model.choices.value, { model: { code: 'slow', state: 'failed' } }, 'no key opens it')
})

t.test('a choice that the wrapper takes only with a message goes with the next, and has failed if the turn ends without it', async t => {
  const { model, queued, deliver, told, cipher } = await open(t)
  await model.choose('effort', 'low')
  await model.texts.send('Prune')
  const [draft] = queued
  if (!draft) throw new Error('It is queued.')
  t.match(openedOf({ cipherOf: () => cipher }, draft), { content: { text: 'Prune' }, meta: { effort: 'low' } })
  t.same(model.choices.value, { effort: { code: 'low', state: 'rides', saidIn: draft.localId } })
  await deliver(draft)
  await told({ t: 'text', text: 'Pruned.' })
  t.match(model.choices.value, { effort: { state: 'rides' } })
  await told({ t: 'turn-end', status: 'completed' })
  t.same(model.choices.value, { effort: { code: 'low', state: 'failed' } })
})

/** An ended session of this account. */
async function ended(t: Test, given: Given = {}) {
  const metadata = v.parse(sessionMetadata, { path: '/work/pears', host: 'studio', machineId: 'm1', methods, ...given.metadata })
  updateHome({ type: 'session', session: { ...sessionRow, id: 's1', metadata } })
  return open(t, { ...given, session: { isActive: false, activeAt: 7, ...given.session } })
}

const resumed = { 'resume-happy-session': { type: 'success', sessionId: 's1' } }

t.test('an ended session is resumed by the daemon of its machine, once', async t => {
  const { model, asked, hear } = await ended(t, { results: resumed })
  const resuming = model.resume()
  t.equal(model.asked.value.resume, 'asking')
  await model.resume()
  await resuming
  t.same(asked, [['m1:resume-happy-session', { sessionId: 's1' }]])
  t.equal(model.asked.value.resume, 'asking', 'until it is seen')
  hear({ isActive: false, activeAt: 7 })
  t.equal(model.asked.value.resume, 'asking')
  hear({ isActive: true })
  t.equal(model.asked.value.resume, undefined)
})

t.test('a session that was resumed and ended again at once is back', async t => {
  const { model, hear } = await ended(t, { results: resumed })
  await model.resume()
  hear({ isActive: false, activeAt: 8 })
  t.equal(model.asked.value.resume, undefined)
})

t.test('without a known machine nothing is resumed', async t => {
  const { model, asked, there } = await ended(t, { results: resumed })
  there.value = undefined
  await model.resume()
  t.same([asked, model.asked.value.resume], [[], undefined])
})

t.test('a failed resume says why, unless the session is back anyway, and can be asked for again', async t => {
  const { model, hear, results } = await ended(t, { results: { 'resume-happy-session': { error: 'No such folder.' } } })
  await model.resume()
  t.same(model.asked.value.resume, { type: 'failed', why: 'failed', says: 'No such folder.' })
  hear({ isActive: false, activeAt: 9 })
  t.match(model.asked.value.resume, { type: 'failed' }, 'it stays until it runs')
  hear({ isActive: true })
  t.equal(model.asked.value.resume, undefined)
  hear({ isActive: false })
  const answer = Promise.withResolvers<object>()
  results['resume-happy-session'] = () => answer.promise
  const again = model.resume()
  await turn()
  hear({ isActive: true })
  answer.resolve({ error: 'It runs.' })
  await again
  t.equal(model.asked.value.resume, undefined)
})

t.test('a resume after which nothing is heard of the session fails after a while', async t => {
  const { model, hear } = await ended(t, { results: resumed })
  const due: (() => void)[] = []
  const { setTimeout: later } = globalThis
  t.intercept(globalThis, 'setTimeout', {
    value: (run: () => void, ms: number) => (ms === 20_000 ? due.push(run) && later(() => {}, 0) : later(run, ms))
  })
  await model.resume()
  t.equal(due.length, 1)
  for (const run of due) run()
  t.same(model.asked.value.resume, { type: 'failed', why: 'no-answer', says: '' })
  await model.resume()
  hear({ isActive: true })
  for (const run of due) run()
  t.equal(model.asked.value.resume, undefined)
})

t.test('a session whose mode cannot be set back to one that asks is not resumed', async t => {
  const { model, asked } = await ended(t, { results: resumed, metadata: { methods: undefined, permissionMode: 'yolo', flavor: 'codex' } })
  await model.resume()
  t.same(model.asked.value.resume, { type: 'failed', why: 'no-answer', says: '' })
  t.same(asked, [])
})
