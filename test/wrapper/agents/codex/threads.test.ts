import t from 'tap'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import type { Place } from '../../../../lib/wrapper/agents/codex/history.ts'
import type { Settings } from '../../../../lib/wrapper/agents/codex/options.ts'
import type { Requests } from '../../../../lib/wrapper/agents/codex/requests.ts'
import { type Line, Refused } from '../../../../lib/wrapper/agents/codex/server.ts'
import type { Thread, Turn } from '../../../../lib/wrapper/agents/codex/shapes.ts'
import { createThreads } from '../../../../lib/wrapper/agents/codex/threads.ts'

const threads: Thread[] = [
  { id: 'first', ephemeral: false },
  { id: 'of-a-subagent', ephemeral: false, parentThreadId: 'first' },
  { id: 'for-a-title', ephemeral: true },
  { id: 'next', ephemeral: false }
].map(thread => ({ parentThreadId: undefined, model: undefined, reasoningEffort: undefined, ...thread }))

const events: [name: string, of: (thread: Thread) => Parameters<ReturnType<typeof createThreads>['hear']>[0]][] = [
  ['starts', thread => ({ method: 'thread/started', params: { thread } })],
  ['becomes active', ({ id }) => ({ method: 'thread/status/changed', params: { threadId: id, status: { type: 'active' } } })]
]
for (const [name, of] of events) {
  t.test(`a thread in which Codex itself works is not followed when it ${name}; one of a person is`, async t => {
    const { codex, told } = opened()
    await codex.resume('first')
    for (const thread of threads.slice(1)) {
      codex.hear(of(thread))
      await answered()
    }
    t.strictSame(
      told().filter(line => line.startsWith('conversation')),
      ['conversation first', 'conversation next']
    )
    t.equal(codex.conversation, 'next')
  })
}

t.test('a new thread asks before it does something, and its place, model and level are told', async t => {
  const { codex, asked, told } = opened({ screen: undefined })
  t.equal(codex.conversation, '')
  await codex.begin()
  await codex.hasOne
  t.equal(codex.conversation, 'started')
  t.strictSame(asked(), [['thread/start', { cwd: '/src', approvalPolicy: 'on-request', approvalsReviewer: 'user', sandbox: 'read-only' }]])
  t.strictSame(told(), [
    'goes to {"thread":"started","isSent":false}',
    'history-read codex:started/',
    'began {"model":"deep","effort":"high"}',
    'applied to started'
  ])
  await codex.join()
  t.equal(asked().length, 1, 'whoever created it gets its events')
  const withScreen = opened()
  await withScreen.codex.begin()
  t.equal(withScreen.told()[1], 'conversation started')
})

t.test('a thread is resumed with what was not sent of it; what Codex lost is reported, unless it was empty', async t => {
  const lost = { 'thread/resume': new Refused('no rollout found for thread id first') }
  const sentUpTo = (file: string) => ({ sentUpTo: { file, offset: 0 } })
  const notice = 'notice Codex no longer has this conversation, so a new one starts.'
  const resumed = 'goes to {"thread":"first","turn":"last","isSent":true}'
  const settled = ['began {}', 'applied to first']
  const cases: [name: string, how: Partial<Opened>, isResumed: boolean, told: string[]][] = [
    ['no position', {}, true, [resumed, 'history-read codex:first/last/end', ...settled]],
    ['sent', sentUpTo('codex:first/last/end'), true, ['unsent 0 codex:first/last/end', resumed, ...settled]],
    ['its last turn was not', sentUpTo('codex:first/'), true, ['unsent 1 codex:first/last/end', resumed, ...settled]],
    ['of another thread', sentUpTo('codex:next/'), true, [resumed, 'history-read codex:first/last/end', ...settled]],
    ['of another agent', sentUpTo('/a.jsonl'), true, [resumed, 'history-read codex:first/last/end', ...settled]],
    ['lost', { replies: lost }, false, [notice]],
    ['lost after a turn', { replies: lost, ...sentUpTo('codex:first/last/end') }, false, [notice]],
    ['lost, another was sent', { replies: lost, ...sentUpTo('codex:next/') }, false, [notice]],
    ['lost when it was empty', { replies: lost, ...sentUpTo('codex:first/') }, false, []]
  ]
  for (const [name, how, isResumed, lines] of cases) {
    const { codex, asked, told } = opened({ screen: undefined, turns: { first: [turn('last')] }, ...how })
    t.equal(await codex.resume('first'), isResumed, name)
    t.strictSame(told(), lines, name)
    t.strictSame(asked()[0], [
      'thread/resume',
      {
        threadId: 'first',
        excludeTurns: true,
        cwd: '/src',
        approvalPolicy: 'on-request',
        approvalsReviewer: 'user',
        sandbox: 'read-only'
      }
    ])
    t.equal(codex.conversation, isResumed ? 'first' : '')
  }
  const refused = opened({ replies: { 'thread/resume': new Refused('not signed in') } })
  await t.rejects(refused.codex.resume('first'), { message: 'not signed in' })
  const broken = opened({ replies: { 'thread/resume': new Error('no rollout') } })
  await t.rejects(broken.codex.resume('first'), { message: 'no rollout' })
})

t.test('a fork is not followed, neither when Codex reports it meanwhile', async t => {
  const { codex, asked, told } = opened()
  await codex.resume('first')
  const before = told().length
  const forked = codex.fork()
  codex.hear(started('next'))
  t.equal(await forked, 'forked')
  t.strictSame(asked().at(-1), ['thread/fork', { threadId: 'first', excludeTurns: true }])
  t.equal(told().length, before)
  t.equal(codex.conversation, 'first')
  codex.hear(started('first'))
  await answered()
  t.equal(told().length, before, 'it is this one')
  codex.hear(started('next'))
  await answered()
  t.equal(codex.conversation, 'next', 'a later one is')
  const refusing = opened({ replies: { 'thread/fork': new Refused('No.') } })
  await refusing.codex.resume('first')
  await t.rejects(refusing.codex.fork(), { message: 'No.' })
  refusing.codex.hear(started('next'))
  await answered()
  t.equal(refusing.codex.conversation, 'next')
})

t.test('a thread of the screen is joined once it is recorded: what was missed comes first, in order', async t => {
  let tries = 0
  const { codex, asked, told } = opened({
    turns: { next: [turn('three', 'inProgress'), turn('two'), turn('one')] },
    replies: { 'thread/resume': () => (++tries === 2 ? new Refused('no rollout found') : undefined) }
  })
  await codex.resume('first')
  codex.hear(started('next'))
  await answered()
  const before = told().length
  codex.hear(active('next'))
  codex.hear({ method: 'turn/started', params: { threadId: 'next', turn: turn('four') } })
  codex.hearAsked(() => told().push('asked'))
  t.equal(told().length, before, 'it is read first')
  while (!told().includes('asked')) await answered()
  t.strictSame(told().slice(before), ['tells one', 'tells two', 'tells three', 'tells what runs in three', 'takes turn/started', 'asked'])
  const joins = asked().filter(([method]) => method === 'thread/resume')
  const initialTurnsPage = { limit: 1, sortDirection: 'desc', itemsView: 'full' }
  t.strictSame(joins.slice(1), Array(2).fill(['thread/resume', { threadId: 'next', excludeTurns: true, initialTurnsPage }]))
  codex.hear(active('next'))
  await answered()
  t.equal(asked().filter(([method]) => method === 'thread/resume').length, 3, 'once')
  codex.hearAsked(() => told().push('asked at once'))
  t.equal(told().at(-1), 'asked at once')
})

t.test('events that came while a thread could not be read are not lost', async t => {
  let tries = 0
  const { codex, told } = opened({ replies: { 'thread/resume': () => (++tries === 2 ? new Error('Broken.') : undefined) } })
  await codex.resume('first')
  codex.hear(started('next'))
  await answered()
  const joined = codex.join()
  codex.hearAsked(() => told().push('asked'))
  await t.rejects(joined, { message: 'Broken.' })
  t.equal(told().at(-1), 'asked')
  await codex.join()
  t.equal(tries, 3, 'and the next time is another try')
})

t.test('a thread that becomes active at the screen is followed from its beginning, or from where it stands', async t => {
  const soon = Math.floor(Date.now() / 1000) + 60
  const cases: [name: string, how: Partial<Opened>, place: Partial<Place> | undefined][] = [
    ['at work', { turns: { next: [turn('one', 'inProgress')] } }, { turn: 'one', isSent: false }],
    ['just done', { turns: { next: [{ ...turn('one'), completedAt: soon }] } }, { turn: 'one', isSent: false }],
    ['done before', { turns: { next: [{ ...turn('one'), completedAt: 1 }] } }, { turn: 'one', isSent: true }],
    ['done at an unknown time', { turns: { next: [turn('one')] } }, { turn: 'one', isSent: true }],
    ['without a turn', {}, { isSent: true }],
    ['unreadable turns', { replies: { 'thread/turns/list': [undefined, new Refused('No.')] } }, { isSent: true }],
    ['unreadable', { replies: { 'thread/read': new Refused('No.') } }, undefined],
    ['beside a running turn', { running: 'now' }, undefined],
    ['without a screen', { screen: undefined }, undefined],
    ['with a closed screen', { screen: { isOpen: false } }, undefined]
  ]
  for (const [name, how, place] of cases) {
    const { codex, told } = opened(how)
    await codex.resume('first')
    const before = told().length
    codex.hear(active('next'))
    for (let waits = 0; waits < 5; waits++) await answered()
    const lines = told().slice(before)
    t.equal(lines[1], place && `goes to ${JSON.stringify({ thread: 'next', ...place })}`, name)
    t.equal(codex.conversation, place ? 'next' : 'first', name)
    if (place) t.equal(lines[0], 'unsent undefined', name)
  }
  for (const screen of [undefined, { isOpen: false }]) {
    const { codex } = opened({ screen })
    await codex.resume('first')
    codex.hear(started('next'))
    await answered()
    t.equal(codex.conversation, 'first', 'nobody is at a screen to have started it')
  }
})

t.test('a thread to which the screen went during a turn is followed when that has ended', async t => {
  const state = { running: 'one' as string | undefined }
  const { codex, told } = opened(state)
  await codex.resume('first')
  codex.hear(started('next'))
  await answered()
  t.equal(codex.conversation, 'first')
  state.running = undefined
  codex.goOn()
  await answered()
  t.equal(codex.conversation, 'next')
  const before = told().length
  codex.goOn()
  await answered()
  t.equal(told().length, before)
})

t.test('each notification reaches what it is about', async t => {
  const { codex, told } = opened()
  await codex.resume('first')
  const before = told().length
  const limits = (windowDurationMins: number | undefined) => ({
    limitId: undefined,
    limitName: undefined,
    primary: { usedPercent: 5, windowDurationMins, resetsAt: undefined },
    secondary: undefined,
    rateLimitReachedType: undefined
  })
  codex.hear({ method: 'account/rateLimits/updated', params: { rateLimits: limits(300) } })
  codex.hear({ method: 'account/rateLimits/updated', params: { rateLimits: limits(undefined) } })
  codex.hear({ method: 'serverRequest/resolved', params: { threadId: 'first', requestId: 5 } })
  codex.hear({ method: 'serverRequest/resolved', params: { threadId: 'other', requestId: 'six' } })
  codex.hear({ method: 'thread/name/updated', params: { threadId: 'other', threadName: 'Tea' } })
  codex.hear({ method: 'thread/name/updated', params: { threadId: 'first', threadName: 'Tea' } })
  codex.hear({ method: 'thread/status/changed', params: { threadId: 'next', status: { type: 'idle' } } })
  await answered()
  t.strictSame(told().slice(before), [
    'usage-windows [{"minutes":300,"usedPercent":5,"isReached":false}]',
    'resolved 5',
    'takes serverRequest/resolved',
    'resolved six',
    'takes thread/name/updated'
  ])
  t.equal(codex.conversation, 'first')
})

type Heard = Parameters<ReturnType<typeof createThreads>['hear']>[0]

function started(id: string): Heard {
  return { method: 'thread/started', params: { thread: threads.find(thread => thread.id === id) as Thread } }
}

function active(threadId: string): Heard {
  return { method: 'thread/status/changed', params: { threadId, status: { type: 'active' } } }
}

function turn(id: string, status = 'completed'): Turn {
  return { id, status, error: undefined, startedAt: undefined, completedAt: undefined, items: [] }
}

/** What was asked of Codex is answered at once. */
function answered(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

type Reply = Error | undefined | (() => Error | undefined)

interface Opened {
  /** The newest first. */
  turns: Readonly<Record<string, readonly Turn[]>>
  /** Refusals by method; several are those of one request after the other. */
  replies: Readonly<Record<string, Reply | readonly Reply[]>>
  running: string | undefined
  screen: { isOpen: boolean } | undefined
  sentUpTo: { file: string; offset: number }
}

/** Codex with a screen that is open, unless told otherwise. */
function opened(how: Partial<Opened> = {}) {
  const lines: string[] = []
  const requests: [method: string, params: object][] = []
  const { turns = {}, replies = {}, sentUpTo } = how
  const screen = 'screen' in how ? how.screen : { isOpen: true }
  let place: Place = { thread: '', turn: undefined, isSent: false }
  const refusalOf = (method: string) => {
    const given = replies[method]
    const times = requests.filter(request => request[0] === method).length
    const reply = Array.isArray(given) ? given[times - 1] : given
    return typeof reply === 'function' ? reply() : reply
  }
  const line = {
    async request(method: string, params: { threadId: string }) {
      requests.push([method, params])
      const refusal = refusalOf(method)
      if (refusal) throw refusal
      const page = { data: turns[params.threadId] ?? [], nextCursor: null }
      if (method === 'thread/turns/list') return page
      const about = { sandbox: { type: '' }, initialTurnsPage: page }
      if (method === 'thread/start') return { thread: { id: 'started' }, model: 'deep', reasoningEffort: 'high', ...about }
      if (method === 'thread/fork') return { thread: { id: 'forked' }, ...about }
      return { thread: threads.find(({ id }) => id === params.threadId), ...about }
    }
  } as unknown as Line
  const codex = createThreads({
    line,
    how: { directory: '/src', sentUpTo },
    turns: {
      get running() {
        return how.running
      },
      get place() {
        return place
      },
      hasAny: false,
      ended: Promise.resolve(),
      goTo(to) {
        place = to
        lines.push(`goes to ${JSON.stringify(to)}`)
      },
      begin() {},
      end() {},
      lose() {},
      tell: ({ id }) => lines.push(`tells ${id}`),
      tellOpen: ({ id }) => lines.push(`tells what runs in ${id}`),
      take: ({ method }) => lines.push(`takes ${method}`)
    },
    requests: { resolved: (id: string | number) => lines.push(`resolved ${id}`) } as unknown as Requests,
    settings: () =>
      ({
        began: (with_: object) => lines.push(`began ${JSON.stringify(with_)}`),
        apply: async (id: string) => lines.push(`applied to ${id}`)
      }) as unknown as Settings,
    screen: () => screen,
    emit: event => lines.push(lineOf(event)),
    isOurs: () => false,
    onUnsent: unsent => lines.push(`unsent ${unsent && `${unsent.events.length} ${unsent.upTo?.file}`}`)
  })
  return { codex, asked: () => requests, told: () => lines }
}

function lineOf(event: AgentEvent): string {
  switch (event.type) {
    case 'conversation':
      return `conversation ${event.id}`
    case 'history-read':
      return `history-read ${event.upTo.file}`
    case 'notice':
      return `notice ${event.text}`
    case 'usage-windows':
      return `usage-windows ${JSON.stringify(event.windows)}`
    default:
      return event.type
  }
}
