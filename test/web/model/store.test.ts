import t from 'tap'
import { factsIn } from '../../../web/model/session/facts.ts'
import { groupSessions, lastLineOf, openDecisions, stateOfSession, titleOf } from '../../../web/model/sessions.ts'
import { emptyHome, type Home, type HomeEvent, reduce, type SessionView } from '../../../web/model/store.ts'

const at = 1_700_000_000_000

t.test('a device that sees an account for the first time has nothing unread', async t => {
  const home = after([told('a', { seq: 7 }), listed(['a'])])
  t.equal(stateOf(home, 'a'), 'quiet')
  t.equal(stateOf(after([told('a', { seq: 8 })], home), 'a'), 'done', 'later messages are')
})

t.test('what came while the app was closed is unread, what was seen is not', async t => {
  const first = after([told('a', { seq: 7 }), listed(['a'])])
  const back = after([told('a', { seq: 9 }), listed(['a'])], first)
  t.equal(stateOf(back, 'a'), 'done')
  const seen = after([{ type: 'seen', id: 'a', seq: 9 }], back)
  t.equal(stateOf(seen, 'a'), 'quiet')
  t.equal(after([{ type: 'seen', id: 'a', seq: 3 }], seen), seen, 'seeing older ones again changes nothing')
})

t.test('until the list is complete nothing counts as removed, and later arrivals are not unread', async t => {
  const kept = after([told('old', { seq: 4 }), told('a', { seq: 7 }), listed(['old', 'a'])])
  const first = after([told('a', { seq: 7 }), listed(['a'], false)], kept)
  t.strictSame([...first.sessions.keys()], ['old', 'a'])
  t.equal(after([listed(['a'])], first).sessions.size, 1)

  const fresh = after([told('a', { seq: 7 }), listed(['a'], false), told('old', { seq: 4 }), { type: 'older', sessions: ['old'] }])
  t.equal(stateOf(fresh, 'old'), 'quiet')
  t.equal(stateOf(after([told('old', { seq: 5 })], fresh), 'old'), 'done', 'later messages are')
  const seen = after([told('old', { seq: 9 }), { type: 'older', sessions: ['old'] }], fresh)
  t.equal(stateOf(seen, 'old'), 'done', 'messages received before it was listed count')
})

t.test('a restored server removes lines and marks of a later time', async t => {
  const home = after([told('a', { seq: 9 }), listed(['a']), line('a', 9, 'of a time that is no more'), { type: 'started-over' }])
  t.equal(home.sessions.get('a')?.last, undefined)
  t.equal(stateOf(after([told('a', { seq: 3 })], home), 'a'), 'done', 'its messages may be new to this device')
})

t.test('a session that the server does not list is removed', async t => {
  const home = after([told('a'), told('b'), machine('m'), listed(['b'])])
  t.strictSame([...home.sessions.keys()], ['b'])
  t.equal(home.machines.size, 0)
  t.strictSame([...after([{ type: 'session-removed', id: 'b' }], home).seenSeq.keys()], [])
})

t.test('a keepalive leaves the last line, and an older line never replaces a newer one', async t => {
  const home = after([told('a'), line('a', 5, 'newer'), line('a', 4, 'older'), told('a', { isThinking: true })])
  t.equal(home.sessions.get('a')?.last?.text, 'newer')
  t.equal(after([line('gone', 1, 'x')], home), home, 'a line of an unknown session is dropped')
})

t.test("a row's command has run when its step ends, is not shown as run when denied, and no other step ends it", async t => {
  const running: HomeEvent = { type: 'line', id: 'a', line: { seq: 5, at, text: 'npm test', command: { call: 'c', hasRun: false } } }
  const commandAfter = (call: string, hasRun: boolean) =>
    after([told('a'), running, { type: 'step-ended', id: 'a', call, hasRun }]).sessions.get('a')?.last?.command
  t.same(commandAfter('c', true), { call: 'c', hasRun: true })
  t.equal(commandAfter('c', false), undefined)
  t.same(commandAfter('other', true), { call: 'c', hasRun: false })
})

t.test('a session shows one state, the most important one', async t => {
  const request = { tool: 'Bash', arguments: { command: 'ls' }, createdAt: at }
  const asking = { agentState: { requests: { r: request } } }
  const rows: [string, Partial<SessionView>, string][] = [
    ['an open request comes before work', { ...asking, isThinking: true }, 'needs'],
    [
      'one that was answered does not count',
      { agentState: { requests: { r: request }, completedRequests: { r: answered(request) } } },
      'quiet'
    ],
    ['nobody can answer without a daemon', { ...asking, isActive: false }, 'ended'],
    ['work', { isThinking: true }, 'working'],
    ['a daemon that is gone without saying so', { isActive: false, metadata: metadata({ lifecycleState: 'running' }) }, 'away'],
    ['one that ended', { isActive: false, metadata: metadata({ lifecycleState: 'archived' }) }, 'ended'],
    ['one that ended and is not read yet', { isActive: false, seq: 5 }, 'done'],
    ['one that ended when somebody stopped it', { isActive: false, seq: 5, last: { seq: 5, at, text: 'x', end: 'cancelled' } }, 'ended'],
    ['a turn that somebody stopped is not finished work', { seq: 5, last: { seq: 5, at, text: 'x', end: 'cancelled' } }, 'quiet'],
    ['a turn that failed', { last: { seq: 1, at, text: 'x', end: 'failed' } }, 'failed'],
    ['one that cannot be opened', { metadata: undefined, agentState: undefined }, 'quiet']
  ]
  for (const [name, session, state] of rows)
    t.equal(stateOfSession(view('a', session), { ...emptyHome, seenSeq: new Map([['a', 1]]) }), state, name)
})

t.test('a session of a computer that was unlinked has ended, once it is certain that it was', async t => {
  const running = { isActive: false, metadata: metadata({ lifecycleState: 'running', machineId: 'm1' }) }
  const before = after([told('a', running)])
  t.equal(stateOf(before, 'a'), 'away', 'its computer may still be on its way')
  const known = after([listed(['a'])], before)
  t.equal(stateOf(known, 'a'), 'ended')
  t.match(factsIn(view('a', running), known), { presence: 'ended', isUnlinked: true })
  t.match(factsIn(view('a', { ...running, isActive: true }), known), { presence: 'here', isUnlinked: false })
})

t.test('a running session does not say that it stopped, one that ended does', async t => {
  const stopped = (end: 'cancelled' | 'failed') => ({ last: { seq: 1, at, text: 'Stopped', end } })
  const rows: [string, Partial<SessionView>, string | undefined][] = [
    ['ended', { ...stopped('cancelled'), isActive: false }, 'Stopped'],
    ['resumed, or waiting after its turn was stopped', stopped('cancelled'), undefined],
    ['a failed turn is told as long as nothing follows', stopped('failed'), 'Stopped'],
    ['it works again', { ...stopped('failed'), isThinking: true }, undefined],
    ['it was begun again', { ...stopped('failed'), metadata: metadata({ lifecycleStateSince: at + 1 }) }, undefined],
    ['it was begun before', { ...stopped('failed'), metadata: metadata({ lifecycleStateSince: at }) }, 'Stopped'],
    ['nothing can be read of it', { ...stopped('failed'), metadata: undefined }, 'Stopped'],
    ['its last line is none', { last: undefined }, undefined],
    ['its last line ended no turn', { last: { seq: 1, at, text: 'Done' }, isThinking: true }, 'Done']
  ]
  for (const [name, session, text] of rows) t.equal(lastLineOf(view('a', session))?.text, text, name)
  const begunAgain = view('a', { ...stopped('failed'), metadata: metadata({ lifecycleStateSince: at + 1 }) })
  t.equal(stateOfSession(begunAgain, { ...emptyHome, seenSeq: new Map([['a', 1]]) }), 'quiet')
})

t.test('decisions are listed oldest first, rows latest first', async t => {
  const asks = (createdAt: number) => ({ agentState: { requests: { [`r${createdAt}`]: { tool: 'Edit', arguments: {}, createdAt } } } })
  const home = after([
    told('young', asks(at + 2)),
    told('old', asks(at + 1)),
    told('w1', { isThinking: true, updatedAt: at + 1 }),
    told('w2', { isThinking: true, updatedAt: at + 2 }),
    told('q'),
    listed(['young', 'old', 'w1', 'w2', 'q'])
  ])
  const { decisions, working, quiet } = groupSessions(home)
  t.strictSame(
    decisions.map(({ session }) => session.id),
    ['old', 'young']
  )
  t.strictSame(
    working.map(({ id }) => id),
    ['w2', 'w1']
  )
  t.strictSame(
    quiet.map(({ id }) => id),
    ['q']
  )
  t.equal(openDecisions(view('x', { agentState: undefined })).length, 0)
})

t.test('a session is labelled by its title, else its name, else its folder', async t => {
  t.equal(titleOf({ metadata: metadata({ summary: { text: 'Fix it', updatedAt: at }, name: 'n' }) }), 'Fix it')
  t.equal(titleOf({ metadata: metadata({ summary: { text: ' ', updatedAt: at }, name: 'n' }) }), 'n')
  t.equal(titleOf({ metadata: metadata({}) }), 'orchard')
  t.equal(titleOf({ metadata: metadata({ path: 'C:\\work\\orchard\\' }) }), 'orchard')
  t.equal(titleOf({ metadata: metadata({ summary: { text: 'Fix\u202e ti\u202c\n now', updatedAt: at } }) }), 'Fix ti now')
  t.equal(titleOf({ metadata: metadata({ summary: { text: '\u200b', updatedAt: at }, name: 'n' }) }), 'n')
  t.equal(titleOf({ metadata: undefined }), undefined)
})

t.test('an event changes what it is about, and nothing beside it', async t => {
  const pinned: HomeEvent = { type: 'pinned', ids: ['a', 'b'], isPinned: true }
  const home = after([
    told('a', { seq: 2 }),
    told('b'),
    machine('m'),
    line('a', 2, 'Prune'),
    pinned,
    { ...listed(['a', 'b']), machines: new Set(['m']) } as HomeEvent
  ])
  const unpinned = after([{ type: 'pinned', ids: ['b', 'never there'], isPinned: false }], home)
  t.same([...unpinned.pinned], ['a'])
  t.same({ ...unpinned, pinned: home.pinned }, home)
  const over = after([{ type: 'started-over' }], home)
  t.same([over.sessions.get('a')?.last, over.seenSeq.size], [undefined, 0])
  t.same([over.machines, over.pinned, over.asOf, over.sessions.get('a')?.seq], [home.machines, home.pinned, at, 2])
  t.equal(after([line('a', 2, 'of the same message')], home), home)
  t.equal(after([{ type: 'step-ended', id: 'a', call: 'c', hasRun: true }], home), home, 'its line is of no step')
  const running: HomeEvent = { type: 'line', id: 'a', line: { seq: 3, at, text: 'npm test', command: { call: 'c', hasRun: false } } }
  const ended = after([running, { type: 'step-ended', id: 'a', call: 'c', hasRun: true }], home)
  t.match(ended.sessions.get('a')?.last, { seq: 3, text: 'npm test', command: { hasRun: true } })
  t.same([ended.machines, ended.pinned, ended.seenSeq], [home.machines, home.pinned, home.seenSeq])
  t.same([...after([machine('m2')], home).machines.keys()], ['m', 'm2'])
  const removed = after([{ type: 'session-removed', id: 'b' }], home)
  t.same([[...removed.sessions.keys()], [...removed.seenSeq.keys()]], [['a'], ['a']])
  t.same([removed.machines, removed.pinned, removed.asOf], [home.machines, home.pinned, at])
  const gone = after([{ type: 'machine-removed', id: 'm' }], home)
  t.same([gone.machines.size, gone.sessions.size], [0, 2])
  t.equal(after([{ type: 'machine-removed', id: 'm9' }], home).machines, home.machines)
  t.same(after([{ type: 'confirmed', at: 5 }], home), { ...home, asOf: 5 })
  t.equal(after([{ type: 'restored', home }]), home)
  t.equal(after([{ type: 'cleared' }], home), emptyHome)
})

t.test('an incomplete list keeps what was seen, and one without new sessions changes nothing', async t => {
  const home = after([told('a', { seq: 7 }), told('b', { seq: 3 }), listed(['a', 'b'])])
  const part = after([listed(['a'], false)], home)
  t.same(
    [...part.seenSeq],
    [
      ['a', 7],
      ['b', 3]
    ]
  )
  t.same([...after([listed(['a'])], home).seenSeq], [['a', 7]])
  t.equal(after([{ type: 'older', sessions: ['a', 'never there'] }], home), home)
  t.equal(after([{ type: 'seen', id: 'a', seq: 7 }], home), home)
  t.equal(after([{ type: 'seen', id: 'c', seq: 0 }], home).seenSeq.get('c'), 0)
})

function after(events: HomeEvent[], home: Home = emptyHome): Home {
  return events.reduce(reduce, home)
}

function stateOf(home: Home, id: string): string | undefined {
  const session = home.sessions.get(id)
  return session && stateOfSession(session, home)
}

function view(id: string, session: Partial<SessionView> = {}): SessionView {
  return {
    id,
    seq: 1,
    isActive: true,
    activeAt: at,
    isThinking: false,
    createdAt: at,
    updatedAt: at,
    dataEncryptionKey: null,
    metadata: metadata({}),
    agentState: null,
    last: undefined,
    ...session
  }
}

function told(id: string, session: Partial<SessionView> = {}): HomeEvent {
  const { last: _, ...told } = view(id, session)
  return { type: 'session', session: told }
}

function metadata(more: Partial<NonNullable<SessionView['metadata']>>): NonNullable<SessionView['metadata']> {
  return { path: '/home/mira/orchard', host: 'studio-mini', ...more }
}

function answered(request: { tool: string; arguments: unknown; createdAt: number }) {
  return { ...request, completedAt: at, status: 'approved' as const }
}

function line(id: string, seq: number, text: string): HomeEvent {
  return { type: 'line', id, line: { seq, at, text } }
}

function machine(id: string): HomeEvent {
  return { type: 'machine', machine: { id, isActive: true, activeAt: at, createdAt: at, metadata: undefined, daemonState: null } }
}

function listed(sessions: string[], isWhole = true): HomeEvent {
  return { type: 'listed', sessions: new Set(sessions), machines: new Set(), at, isWhole }
}
