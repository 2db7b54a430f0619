import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createTranslator } from '../../../../lib/wrapper/agents/codex/history.ts'
import { createRequests } from '../../../../lib/wrapper/agents/codex/requests.ts'
import { codexWindows, notification, turnsPage } from '../../../../lib/wrapper/agents/codex/shapes.ts'
import { createTurns } from '../../../../lib/wrapper/agents/codex/turns.ts'

const asked = { type: 'userMessage', id: 'm', content: [{ type: 'text', text: 'Look' }] }
const answer = { type: 'agentMessage', id: 'a', text: 'Done.' }
const run = (status: string) => ({ type: 'commandExecution', id: 's', command: 'make', status })

t.test('what Codex reports of a turn is sent as it is', t => {
  const inTurn = { turnId: 't' }
  const grown = { ...inTurn, itemId: 'm', delta: 'so' }
  const usage = (modelContextWindow: number | null) => ({ tokenUsage: { last: { totalTokens: 5 }, modelContextWindow } })
  const steps = [
    { step: 'one', status: 'completed' },
    { step: 'two', status: 'inProgress' },
    { step: 'three', status: 'pending' },
    { step: 'four', status: 'unheard of' }
  ]
  const cases: [method: string, params: object, events: object[]][] = [
    ['item/agentMessage/delta', grown, [grew(false)]],
    ['item/plan/delta', grown, [grew(false)]],
    ['item/reasoning/summaryTextDelta', grown, [grew(true)]],
    ['item/reasoning/textDelta', grown, [grew(true)]],
    [
      'turn/plan/updated',
      { ...inTurn, plan: steps },
      [
        {
          type: 'plan',
          entries: [
            { content: 'one', status: 'completed' },
            { content: 'two', status: 'in_progress' },
            { content: 'three', status: 'pending' },
            { content: 'four', status: 'pending' }
          ]
        }
      ]
    ],
    ['thread/tokenUsage/updated', usage(100), [{ type: 'usage', used: 5, size: 100 }]],
    ['thread/tokenUsage/updated', usage(null), []],
    ['thread/name/updated', { threadName: 'A gate' }, [{ type: 'title', title: 'A gate' }]],
    ['thread/name/updated', { threadName: null }, []],
    ['error', { ...inTurn, willRetry: false, error: { message: 'No.' } }, []]
  ]
  for (const [method, params, events] of cases) t.strictSame(heard(method, params), events, method)
  t.end()
})

t.test('the next attempt is reported with its count and its reason, as far as Codex says', t => {
  const cases: [message: string, codexErrorInfo: unknown, retry: object][] = [
    ['Reconnecting… 2/5', undefined, { attempt: 2, of: 5, why: 'other' }],
    ['Reconnecting', 'serverOverloaded', { attempt: 1, why: 'overloaded' }],
    ['Reconnecting 3 / 5', { httpConnectionFailed: { httpStatusCode: 429 } }, { attempt: 3, of: 5, why: 'limit' }],
    ['Reconnecting', { responseStreamDisconnected: { httpStatusCode: 503 } }, { attempt: 1, why: 'overloaded' }],
    ['Reconnecting', { httpConnectionFailed: { httpStatusCode: 403 } }, { attempt: 1, why: 'sign-in' }],
    ['Reconnecting', { httpConnectionFailed: { httpStatusCode: null } }, { attempt: 1, why: 'unreachable' }]
  ]
  for (const [message, codexErrorInfo, retry] of cases) {
    const told = heard('error', { turnId: 't', willRetry: true, error: { message, codexErrorInfo } })
    t.strictSame(told, [{ type: 'retrying', inMs: 0, ...retry }], message)
  }
  t.end()
})

t.test('a limit of a model that is counted separately has its name', t => {
  const window = { usedPercent: 99.6, windowDurationMins: 300, resetsAt: 2 }
  const common = { limitId: undefined, limitName: undefined, primary: window, secondary: undefined, rateLimitReachedType: undefined }
  const shown = { minutes: 300, usedPercent: 100, resetsAt: 2_000, isReached: false }
  t.strictSame(codexWindows(common), [shown])
  t.strictSame(codexWindows({ ...common, limitId: 'codex', limitName: 'Codex' }), [shown])
  t.strictSame(codexWindows({ ...common, limitId: 'spark', limitName: 'Spark' }), [{ ...shown, of: 'Spark' }])
  t.strictSame(codexWindows({ ...common, limitId: 'spark' }), [{ ...shown, of: 'spark' }])
  t.strictSame(codexWindows({ ...common, rateLimitReachedType: 'primary' }), [shown], 'another one is reached')
  const full = { ...window, usedPercent: 100 }
  t.strictSame(codexWindows({ ...common, primary: undefined, secondary: full, rateLimitReachedType: 'secondary' }), [
    { ...shown, isReached: true }
  ])
  t.strictSame(codexWindows({ ...common, primary: { ...window, windowDurationMins: undefined } }), [])
  t.end()
})

t.test('a turn begins and ends once, and how far it was sent is noted', async t => {
  const { turns, take, told, settled, events } = followed()
  t.strictSame([turns.running, turns.hasAny], [undefined, false])
  take('turn/started', turn('one'))
  const first = turns.ended
  take('turn/started', turn('one'))
  t.equal(turns.ended, first)
  t.strictSame([turns.running, turns.hasAny], ['one', true])
  take('item/completed', { turnId: 'one', item: asked })
  t.strictSame(turns.place, { thread: 'thread', turn: 'one', isSent: false, isCut: false })
  take('item/completed', { turnId: 'one', item: answer })
  t.equal(await settled(), false)
  take('turn/completed', turn('one', 'completed'))
  t.equal(await settled(), true)
  take('turn/completed', turn('one', 'completed'))
  take('turn/started', turn('one'))
  t.equal(turns.running, undefined)
  t.strictSame(turns.place, { thread: 'thread', turn: 'one', isSent: true, isCut: false })
  take('item/completed', { turnId: 'two', item: answer })
  t.equal(turns.running, 'two', 'its beginning was not heard')
  t.not(turns.ended, first)
  take('turn/completed', turn('three', 'interrupted'))
  t.strictSame(told(), [
    'prompted Look',
    'read codex:thread/one',
    'says Done.',
    'turn-ended done',
    'read codex:thread/one/end',
    'ended',
    'says Done.',
    'turn-ended cancelled',
    'read codex:thread/three/end',
    'ended'
  ])
  t.strictSame(events[0], { type: 'prompted', text: 'Look', isOurs: false, row: 'one m' })
})

t.test('a step is told as it starts and ends, and its requests end with it', t => {
  const { turns, take, told, ask, requests } = followed()
  take('item/started', { turnId: 'one', item: run('inProgress') })
  ask(1)
  requests.resolved(1)
  take('item/completed', { turnId: 'one', item: run('declined') })
  take('item/started', { turnId: 'one', item: { ...run('inProgress'), id: 'next' } })
  ask(2, 'next')
  requests.resolved(2)
  take('item/completed', { turnId: 'one', item: { ...run('completed'), id: 'next' } })
  take('item/started', { turnId: 'one', item: { ...run('inProgress'), id: 'last' } })
  ask(3, 'last')
  take('item/completed', { turnId: 'one', item: undefined })
  turns.end({ id: 'one', status: 'failed', error: { message: 'No.' } })
  t.strictSame(told(), [
    'starts s',
    'asks s',
    's denied',
    'closed false',
    'starts next',
    'asks next',
    'next completed',
    'closed true',
    'starts last',
    'asks last',
    'closed undefined',
    'last cancelled',
    'turn-ended failed',
    'read codex:thread/one/end',
    'ended'
  ])
  t.end()
})

t.test('a turn in which Codex is gone fails, and the next position says that it was cut', async t => {
  const { turns, take, told, events, settled, ask } = followed()
  turns.lose({ message: 'Gone.' })
  t.strictSame(told(), [], 'no turn was running')
  take('item/agentMessage/delta', { turnId: 'one', itemId: 'a', delta: 'too early' })
  take('turn/started', turn('one'))
  take('item/agentMessage/delta', { turnId: 'one', itemId: 'm', delta: 'half' })
  ask(1, 'm')
  turns.lose({ message: 'Gone.' })
  t.equal(await settled(), true)
  turns.lose({ message: 'Gone.' })
  t.strictSame(told(), ['asks m', 'closed undefined', 'says half', 'turn-ended failed', 'read codex:thread/one/cut'])
  t.match(events.slice(-2), [{ type: 'turn-ended', error: 'Gone.' }, { type: 'history-read' }])
  t.match(events.at(-3), { isCut: true, row: 'one m cut' })
  t.strictSame([turns.running, turns.place], [undefined, { thread: 'thread', turn: 'one', isSent: false, isCut: true }])
})

t.test('a turn that was read is told as far as it got, and goes on from there', t => {
  const { turns, told } = followed()
  const read = (status: string, items: object[]) =>
    v.parse(turnsPage, { data: [{ id: 'one', status, items }] }).data[0] as Parameters<typeof turns.tell>[0]
  turns.tellOpen(read('inProgress', [run('inProgress')]))
  t.strictSame(told(), [], 'it does not run yet')
  turns.tell(read('inProgress', [asked, run('inProgress'), { type: 'unheard of', id: 'u' }]))
  t.equal(turns.running, 'one')
  t.strictSame(told(), ['prompted Look', 'read codex:thread/one', 'starts s'])
  turns.tellOpen(read('inProgress', [answer, { ...run('completed'), id: 'over' }, { ...run('inProgress'), id: 'next' }]))
  t.strictSame(told().slice(3), ['starts next'], 'what is complete comes by itself')
  turns.tell(read('completed', [asked, answer]))
  t.strictSame(told().slice(4), [
    'read codex:thread/one',
    'says Done.',
    's completed',
    'next completed',
    'turn-ended done',
    'read codex:thread/one/end',
    'ended'
  ])
  turns.tell(read('inProgress', []))
  t.equal(turns.running, undefined, 'it was read before it ended')
  turns.tell({ ...read('inProgress', []), id: 'two' })
  t.equal(turns.running, 'two', 'also without any item')
  t.end()
})

t.test('another thread is followed from its position on, without the turn of the one before', t => {
  const { turns, take, told } = followed()
  take('turn/started', turn('one'))
  const empty = { thread: 'other', turn: undefined, isSent: false }
  turns.goTo(empty)
  t.strictSame([turns.place, turns.running, turns.hasAny], [empty, undefined, false])
  turns.end({ id: 'unheard', status: 'completed', error: undefined })
  t.equal(turns.hasAny, true)
  const known = { thread: 'known', turn: 'last', isSent: true }
  turns.goTo(known)
  t.strictSame([turns.place, turns.running, turns.hasAny], [known, undefined, true])
  take('turn/completed', turn('two', 'completed'))
  t.strictSame(told().slice(3), ['turn-ended done', 'read codex:known/two/end', 'ended'])
  t.end()
})

t.test('changed settings are passed on; notifications that are not about a turn change nothing', t => {
  const { turns, take, told } = followed()
  take('thread/settings/updated', { threadSettings: { model: 'deep', effort: 'high' } })
  take('turn/started', turn('one'))
  const before = turns.place
  take('account/rateLimits/updated', { rateLimits: { primary: { usedPercent: 1, windowDurationMins: 300 } } })
  take('serverRequest/resolved', { requestId: 1 })
  take('thread/status/changed', { status: { type: 'idle' } })
  take('thread/started', { thread: { id: 'next' } })
  t.strictSame(told(), ['settings deep high'])
  t.strictSame([turns.running, turns.place], ['one', before])
  t.end()
})

function turn(id: string, status = 'inProgress') {
  return { turn: { id, status } }
}

/** The turns of the thread `thread`, with everything that is told about them. */
function followed() {
  const events: AgentEvent[] = []
  const lines: string[] = []
  const emit = (event: AgentEvent) => {
    events.push(event)
    if (event.type !== 'text-grew') lines.push(lineOf(event))
  }
  const translator = createTranslator({ emit, isOurs: () => false })
  const requests = createRequests({ emit, reply() {}, step: translator.step })
  const turns = createTurns({
    emit,
    translator,
    requests,
    onSettings: ({ model, effort }) => lines.push(`settings ${model} ${effort}`),
    onEnd: () => lines.push('ended')
  })
  turns.goTo({ thread: 'thread', turn: undefined, isSent: false })
  return {
    turns,
    requests,
    events,
    told: () => lines,
    take: (method: string, params: object) => turns.take(v.parse(notification, { method, params: { threadId: 'thread', ...params } })),
    ask: (id: number, itemId = 's') =>
      requests.ask(id, 'item/commandExecution/requestApproval', { threadId: 'thread', turnId: 'one', itemId, command: 'make' }),
    settled: () => Promise.race([turns.ended.then(() => true), new Promise<false>(resolve => setImmediate(() => resolve(false)))])
  }
}

function lineOf(event: AgentEvent): string {
  switch (event.type) {
    case 'prompted':
      return `prompted ${event.text}`
    case 'text':
      return `says ${event.text}`
    case 'history-read':
      return `read ${event.upTo.file}`
    case 'step-started':
      return `starts ${event.step.call}`
    case 'step-ended':
      return `${event.step.call} ${event.status}`
    case 'permission-asked':
      return `asks ${event.asked.step.call}`
    case 'permission-closed':
      return `closed ${event.approved}`
    case 'turn-ended':
      return `turn-ended ${event.reason}`
    default:
      return event.type
  }
}

/** The events of a turn in which Codex reports this. */
function heard(method: string, params: object): AgentEvent[] {
  const { turns, take, events } = followed()
  turns.begin('t')
  take(method, params)
  return events
}

function grew(thinking: boolean) {
  return { type: 'text-grew', block: 'm', text: 'so', thinking }
}
