import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import type { Change, StoredChange } from '../../../lib/bus/bus.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { Budget } from '../../../lib/server/budget.ts'
import { AccountUpdates, type ChangeEvent, type Receivers } from '../../../lib/server/hub/account-updates.ts'
import { HeardClock } from '../../../lib/server/hub/heard-clock.ts'
import { MissedChanges } from '../../../lib/server/hub/missed.ts'
import type { StoredRows } from '../../../lib/server/hub/stored-change.ts'
import type { Changes } from '../../../lib/store/changes.ts'
import type { Message, SessionRow } from '../../../lib/store/rows.ts'
import { StoreBusy } from '../../../lib/store/store.ts'
import { account, emptyStore } from '../ear.ts'

const session = v.parse(ids.sessionId, 's')
const machine = v.parse(ids.machineId, 'm')
const artifact = v.parse(ids.artifactId, 'a')
const skip = v.parse(ids.connectionId, 'of the sender')
const sealed = (text: string) => v.parse(ids.sealed, text)
const cell = (version: number) => ({ version, value: sealed(`version ${version}`) })
const message = (seq: number, text = `${seq}`): Message => ({ seq, localId: null, sealed: sealed(text), createdAt: seq })
/** Gives what was begun its turns: nothing here waits for more than these. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < 100 && !isSo(); turns += 1) await turnEnds()
}

const sessionRow = (id: string, lastSeq: number): SessionRow => ({
  id: v.parse(ids.sessionId, id),
  metadata: cell(2),
  agentState: { version: 0, value: null },
  dataKey: null,
  lastSeq,
  deliveredSeq: 0,
  readSeq: 0,
  active: false,
  activeAt: 1,
  createdAt: 1,
  updatedAt: 1
})

const nothingChanged: Changes = {
  complete: true,
  began: 0,
  active: undefined,
  more: false,
  epoch: 'e',
  clock: 0,
  sessions: [],
  machines: [],
  artifacts: [],
  settings: undefined,
  kv: [],
  removed: []
}

interface World {
  updates: AccountUpdates
  heard: HeardClock
  memory: Budget
  /** What connections were sent, in order. */
  sent: ChangeEvent[]
  /** What else happened, in order. */
  happened: string[]
  errors: unknown[]
  change(change: Change, clock?: number): void
  messages(...seqs: number[]): void
  byReference(stored: StoredChange, clock?: number): void
  /** The numbers of the messages sent. */
  seqs(): number[]
}

function openWorld(rows: Partial<StoredRows> = {}, totalBytes = 1024): World {
  const receivers: Receivers = { id: account, connections: new Set() }
  const store = { ...emptyStore, ...rows }
  const memory = new Budget(totalBytes)
  const heard = new HeardClock()
  const sent: ChangeEvent[] = []
  const happened: string[] = []
  const errors: unknown[] = []
  const tell = (what: string) => (of: Receivers) => {
    t.equal(of, receivers)
    happened.push(what)
  }
  const updates = new AccountUpdates(receivers, heard, {
    store,
    missed: new MissedChanges(store),
    memory,
    now: () => 77,
    send(to, event) {
      t.equal(to, receivers)
      sent.push(event)
    },
    onGap: () => happened.push('a gap'),
    reconnect: tell('reconnect'),
    onLost: tell('lost'),
    onError: error => errors.push(error)
  })
  const change: World['change'] = (change, clock = 1) => updates.hear({ type: 'change', clock, at: 5, skip, audience: 'apps', change })
  return {
    ...{ updates, heard, memory, sent, happened, errors, change },
    messages: (...seqs) => change({ type: 'messages-added', session, messages: seqs.map(seq => message(seq)) }, seqs.at(-1) ?? 0),
    byReference: (stored, clock = 1) => updates.hear({ type: 'large-change', clock, at: 5, skip, audience: 'apps', stored }),
    seqs: () => sent.flatMap(({ change }) => (change.type === 'messages-added' ? change.messages.map(({ seq }) => seq) : []))
  }
}

/** Messages of a session as a store has them, in pages. */
const messagesUpTo =
  (last: number, perPage = 500): StoredRows['readMessages'] =>
  async (_account, _session, page) => {
    const after = 'after' in page ? page.after : 0
    const count = Math.max(0, Math.min(page.limit, perPage, last - after))
    return { messages: Array.from({ length: count }, (_, index) => message(after + 1 + index)), more: after + count < last }
  }

const removed = (row: Extract<Change, { type: 'row-removed' }>['row']): Change => ({ type: 'row-removed', row })

t.test('a change is sent with all that its event says', async t => {
  const { change, sent } = openWorld()
  const [added, opened, written] = [
    { type: 'messages-added' as const, session, messages: [message(1)] },
    { type: 'session-opened' as const, session: sessionRow('s', 0) },
    { type: 'cell-written' as const, cell: { of: 'account' as const, name: 'settings' as const }, now: cell(1) }
  ]
  change(added, 4)
  change(opened, 5)
  change(written, 6)
  const rest = { type: 'change', at: 5, skip, audience: 'apps' }
  t.strictSame(sent, [
    { ...rest, clock: 4, change: added },
    { ...rest, clock: 5, change: opened },
    { ...rest, clock: 6, change: written }
  ])
})

t.test('a change that came by reference is sent as the store has it, before what came after it [O4]', async t => {
  const gate = Promise.withResolvers<void>()
  const world = openWorld({
    async readMessages(...ask) {
      await gate.promise
      return messagesUpTo(9)(...ask)
    }
  })
  world.byReference({ type: 'messages-added', session, first: 1, last: 2 }, 2)
  world.messages(3)
  t.same(world.sent, [])
  gate.resolve()
  await until(() => world.sent.length >= 2)
  const rest = { type: 'change', at: 5, skip, audience: 'apps' }
  t.strictSame(world.sent, [
    { ...rest, clock: 2, change: { type: 'messages-added', session, messages: [message(1), message(2)] } },
    { ...rest, clock: 3, change: { type: 'messages-added', session, messages: [message(3)] } }
  ])
  t.same([world.happened, world.errors], [[], []])
})

t.test('what came by reference and is gone from the store is passed over', async t => {
  const world = openWorld()
  world.byReference({ type: 'session-opened', session })
  world.messages(1)
  await until(() => world.sent.length > 0)
  t.same(world.seqs(), [1])
  t.same([world.happened, world.errors], [[], []])
})

t.test('what came by reference and cannot be read makes connections reconnect, and later changes are sent [O4]', async t => {
  const world = openWorld({
    async findSession() {
      throw new Error('The store is away.')
    }
  })
  world.byReference({ type: 'session-opened', session })
  world.messages(1)
  await until(() => world.sent.length > 0)
  t.same(world.seqs(), [1])
  t.same(world.happened, ['reconnect'])
  t.match(world.errors, [{ message: 'The store is away.' }])
})

t.test('a gap is counted, and filled for everybody, also the sender of what came after it', async t => {
  const asked: number[] = []
  const world = openWorld({
    async readMessages(...ask) {
      t.same(ask.slice(0, 2), [account, session])
      asked.push(ask[2].limit)
      return messagesUpTo(9, 2)(...ask)
    }
  })
  world.messages(1)
  world.messages(7, 8)
  await until(() => world.sent.length >= 5)
  t.same(world.seqs(), [1, 2, 3, 4, 5, 6, 7, 8])
  t.same(
    world.sent.map(event => event.skip),
    [skip, undefined, undefined, undefined, skip]
  )
  t.ok(world.sent.every(({ change }) => change.type === 'messages-added' && change.session === session))
  t.same(asked, [5, 3, 1], 'no more is read than is missing')
  t.same(world.happened, ['a gap'])
})

t.test('a repeated message is not sent again, and no reason to reconnect', async t => {
  const world = openWorld()
  for (const seqs of [[3, 4], [3], [3, 4], [4, 5]]) world.messages(...seqs)
  t.same(world.seqs(), [3, 4, 5])
  t.same(world.happened, [])
})

t.test('a gap that the store cannot fill any more holds nothing up', async t => {
  for (const readMessages of [emptyStore.readMessages, messagesUpTo(0)]) {
    const world = openWorld({ readMessages })
    world.messages(1)
    world.messages(5)
    await until(() => world.sent.length >= 2)
    world.messages(6)
    t.same(world.seqs(), [1, 5, 6])
    t.same([world.happened, world.errors], [['a gap'], []])
  }
})

t.test('the texts of waiting changes count together, up to half of the memory for one account [B2]', async t => {
  for (const [length, isTooMuch] of [
    [200, false],
    [300, true]
  ] as const) {
    const gate = Promise.withResolvers<void>()
    const world = openWorld({ findSession: () => gate.promise.then(() => 'missing') }, 1000)
    world.byReference({ type: 'session-opened', session })
    for (const seq of [1, 2]) world.change({ type: 'messages-added', session, messages: [message(seq, 'x'.repeat(length))] })
    t.same(world.happened, isTooMuch ? ['reconnect'] : [])
    t.equal(world.memory.share('another').take(1000), isTooMuch, 'what waits takes memory, and what was dropped does not')
    gate.resolve()
    await turnEnds()
    t.same(world.seqs(), isTooMuch ? [] : [1, 2])
  }
})

t.test('the memory of what waited is given back once it is sent [B2]', async t => {
  const gate = Promise.withResolvers<void>()
  const world = openWorld({ findSession: () => gate.promise.then(() => 'missing') }, 1000)
  world.byReference({ type: 'session-opened', session })
  world.messages(1)
  t.equal(world.memory.share('another').take(1000), false)
  gate.resolve()
  await until(() => world.sent.length > 0)
  t.equal(world.memory.share('another').take(1000), true)
})

t.test('after too much waited, later changes are sent again', async t => {
  const gate = Promise.withResolvers<void>()
  const world = openWorld({ findSession: () => gate.promise.then(() => 'missing') }, 100)
  world.byReference({ type: 'session-opened', session })
  world.messages(1)
  world.change({ type: 'messages-added', session, messages: [message(2, 'x'.repeat(100))] })
  t.same(world.happened, ['reconnect'])
  world.messages(3)
  gate.resolve()
  await until(() => world.sent.length > 0)
  t.same(world.seqs(), [3])
})

t.test('no kind of value goes back to a version that was sent', async t => {
  const key = v.parse(ids.kvKey, 'k')
  const kinds: [what: string, at: (version: number) => Change][] = [
    ['settings', version => ({ type: 'cell-written', cell: { of: 'account', name: 'settings' }, now: cell(version) })],
    ['metadata', version => ({ type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' }, now: cell(version) })],
    ['state', version => ({ type: 'cell-written', cell: { of: 'machine', id: machine, name: 'daemonState' }, now: cell(version) })],
    ['header', version => ({ type: 'artifact-written', id: artifact, header: cell(version) })],
    ['body', version => ({ type: 'artifact-written', id: artifact, body: cell(version) })],
    ['key', version => ({ type: 'kv-written', changes: [{ key, value: null, version }] })],
    ['receipts', version => ({ type: 'receipts-marked', session, deliveredSeq: 5, readSeq: version })]
  ]
  // Together, so that each is seen to be of its own.
  const world = openWorld()
  for (const version of [0, 0, 3, 2, 3, 4]) for (const [, at] of kinds) world.change(at(version))
  for (const [what, at] of kinds)
    t.strictSame(
      world.sent
        .map(({ change }) => change)
        .filter(change => [0, 3, 4].some(version => JSON.stringify(at(version)) === JSON.stringify(change))),
      [0, 3, 4].map(at),
      what
    )
  t.equal(world.sent.length, 3 * kinds.length)
})

t.test('of several keys written together only those above the last version are sent', async t => {
  const world = openWorld()
  const write = (...versions: [key: string, version: number][]): Change => ({
    type: 'kv-written',
    changes: versions.map(([key, version]) => ({ key: v.parse(ids.kvKey, key), value: null, version }))
  })
  world.change(write(['one', 1]))
  world.change(write(['one', 1], ['two', 0]))
  t.strictSame(
    world.sent.map(({ change }) => change),
    [write(['one', 1]), write(['two', 0])]
  )
})

t.test('the same version of another row, or of another part of it, is sent', async t => {
  const world = openWorld()
  const other = v.parse(ids.sessionId, 'other')
  const all: Change[] = [
    { type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' }, now: cell(1) },
    { type: 'cell-written', cell: { of: 'session', id: session, name: 'agentState' }, now: cell(1) },
    { type: 'cell-written', cell: { of: 'session', id: other, name: 'metadata' }, now: cell(1) },
    { type: 'receipts-marked', session, deliveredSeq: 1, readSeq: 0 },
    { type: 'receipts-marked', session: other, deliveredSeq: 1, readSeq: 0 },
    { type: 'artifact-written', id: artifact, header: cell(1) },
    { type: 'artifact-written', id: artifact, body: cell(1) },
    { type: 'messages-added', session, messages: [message(1)] },
    { type: 'messages-added', session: other, messages: [message(1)] }
  ]
  for (const change of all) world.change(change)
  t.strictSame(
    world.sent.map(({ change }) => change),
    all
  )
})

t.test('whatever is known of a removed row does not hold back a new one of its id', async t => {
  const cases: [row: Extract<Change, { type: 'row-removed' }>['row'], changes: Change[]][] = [
    [
      { of: 'session', id: session },
      [
        { type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' }, now: cell(1) },
        { type: 'cell-written', cell: { of: 'session', id: session, name: 'agentState' }, now: cell(1) },
        { type: 'receipts-marked', session, deliveredSeq: 1, readSeq: 1 },
        { type: 'messages-added', session, messages: [message(1)] }
      ]
    ],
    [
      { of: 'machine', id: machine },
      [
        { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'metadata' }, now: cell(1) },
        { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'daemonState' }, now: cell(1) }
      ]
    ],
    [{ of: 'artifact', id: artifact }, [{ type: 'artifact-written', id: artifact, header: cell(1), body: cell(1) }]]
  ]
  for (const [row, changes] of cases) {
    const world = openWorld()
    const lives = [...changes, removed(row), ...changes]
    for (const change of lives) world.change(change)
    t.strictSame(
      world.sent.map(({ change }) => change),
      lives,
      row.of
    )
    t.same(world.happened, [])
  }
})

t.test('a message of a new session is not taken for one that the first of the old session overtook', async t => {
  const world = openWorld()
  world.messages(42)
  world.change(removed({ of: 'session', id: session }))
  world.messages(1)
  t.same(world.seqs(), [42, 1])
  t.same(world.happened, [])
})

t.test('an artifact of the id of a removed session changes nothing of it', async t => {
  const world = openWorld()
  world.messages(1)
  world.change(removed({ of: 'artifact', id: v.parse(ids.artifactId, 's') }))
  world.messages(1)
  t.same(world.seqs(), [1])
})

t.test('missed changes are sent as if they were heard now, and not again [M2]', async t => {
  const row = sessionRow('s', 3)
  const asked: number[] = []
  const world = openWorld({
    async changesSince(_account, { since }) {
      asked.push(since)
      return { ...nothingChanged, clock: since + 4, sessions: [row] }
    },
    readMessages: messagesUpTo(3)
  })
  world.heard.readTo(6)
  world.updates.sendMissed()
  world.updates.sendMissed()
  await until(() => world.sent.length >= 3)
  await turnEnds()
  const rest = { type: 'change', clock: 10, at: 77 }
  t.same(world.sent, [
    { ...rest, audience: 'apps', change: { type: 'session-opened', session: row } },
    {
      ...rest,
      audience: { of: 'session', id: session, name: 'metadata' },
      change: { type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' }, now: cell(2) }
    },
    {
      ...rest,
      audience: { of: 'session', id: session },
      change: { type: 'messages-added', session, messages: [message(1), message(2), message(3)] }
    }
  ])
  t.same(asked, [6], 'while they are read they are not read again')
  t.equal(world.heard.upTo, 10)
  world.messages(3)
  world.messages(4)
  t.same(world.seqs(), [1, 2, 3, 4])
  t.same([world.happened, world.errors], [[], []])
})

t.test('what was missed before anything was known is read from the beginning [M2]', async t => {
  const asked: number[] = []
  const world = openWorld({
    async changesSince(_account, { since }) {
      asked.push(since)
      return { ...nothingChanged, clock: 3 }
    }
  })
  world.updates.sendMissed()
  await until(() => world.heard.upTo === 3)
  t.same([asked, world.heard.upTo], [[0], 3])
})

t.test('a row that was sent before is not announced as new among missed changes', async t => {
  const world = openWorld({
    changesSince: async () => ({ ...nothingChanged, clock: 9, sessions: [sessionRow('s', 0), sessionRow('new', 0)] })
  })
  world.heard.readTo(1)
  world.change({ type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' }, now: cell(1) }, 2)
  world.updates.sendMissed()
  await until(() => world.sent.length >= 4)
  t.same(
    world.sent.slice(1).map(({ change }) => [change.type, change.type === 'session-opened' ? change.session.id : '']),
    [
      ['cell-written', ''],
      ['session-opened', 'new'],
      ['cell-written', '']
    ]
  )
})

t.test('a message below the missed ones that were sent makes connections reconnect [M1] [O4]', async t => {
  const world = openWorld({
    changesSince: async () => ({ ...nothingChanged, clock: 12, sessions: [sessionRow('s', 9)] }),
    readMessages: messagesUpTo(9)
  })
  world.heard.readTo(10)
  world.updates.sendMissed()
  await until(() => world.seqs().length > 0)
  t.same(world.seqs(), [8, 9])
  world.messages(8)
  t.same(world.happened, [], 'a repetition is none')
  world.messages(7)
  world.messages(7)
  t.same(world.happened, ['reconnect'], 'once: who connects then has read it')
})

t.test('with a lost message that may be from before the first one sent, clients read what they lack themselves [M1] [M2]', async t => {
  // What was sent at first, by the account's clock after it, and from where on changes were missed.
  const cases: [what: string, seqs: number[], clock: number, since: number, isLost: boolean][] = [
    ['the first one of all', [1], 30, 20, false],
    ['the second one of all', [2], 30, 20, true],
    ['not the first one', [5, 6], 30, 20, true],
    ['directly above what was known', [5, 6], 22, 20, false],
    ['one further above', [5, 6], 23, 20, true]
  ]
  for (const [what, seqs, clock, since, isLost] of cases) {
    const world = openWorld({ changesSince: async () => ({ ...nothingChanged, clock: 40 }) })
    world.change({ type: 'messages-added', session, messages: seqs.map(seq => message(seq)) }, clock)
    // Only then: otherwise what was heard would count as read.
    world.heard.upTo = since
    world.updates.sendMissed()
    await until(() => world.heard.upTo === 40)
    t.same(world.happened, isLost ? ['lost'] : [], what)
  }
})

t.test('where what was missed is no longer known, clients read everything up to the clock of the store [M2]', async t => {
  const world = openWorld({ changesSince: async () => ({ complete: false, epoch: 'e', clock: 9 }) })
  world.heard.readTo(1)
  world.updates.sendMissed()
  await until(() => world.happened.length > 0)
  t.same(world.happened, ['lost'])
  t.equal(world.heard.upTo, 9)
  t.same(world.sent, [])
})

t.test('missed changes wait while the database is away, and any other failure makes clients reconnect [M2] [M4]', async t => {
  for (const [error, happened] of [
    [new StoreBusy('away'), []],
    [new Error('The store is broken.'), ['reconnect']]
  ] as const) {
    let asked = 0
    const world = openWorld({
      async changesSince() {
        asked += 1
        throw error
      }
    })
    world.heard.readTo(1)
    world.updates.sendMissed()
    await turnEnds()
    world.updates.sendMissed()
    await turnEnds()
    t.equal(asked, 2, 'the next look begins again')
    t.same(world.happened, [...happened, ...happened])
    t.same(world.errors, happened.length > 0 ? [error, error] : [])
    t.equal(world.heard.upTo, 1)
  }
})

t.test('what is heard moves the clock of the account, whatever comes of it [M2]', async t => {
  const world = openWorld()
  world.heard.readTo(4)
  world.change({ type: 'kv-written', changes: [] }, 5)
  world.byReference({ type: 'session-opened', session }, 6)
  world.messages(7)
  t.equal(world.heard.upTo, 7)
})

t.test('a change that cannot be sent is reported and makes connections reconnect [O4]', async t => {
  const errors: unknown[] = []
  const happened: string[] = []
  const updates = new AccountUpdates({ id: account, connections: new Set() }, undefined, {
    store: emptyStore,
    missed: new MissedChanges(emptyStore),
    memory: new Budget(1000),
    now: () => 1,
    send() {
      throw new Error('It cannot be sent.')
    },
    onGap: () => happened.push('a gap'),
    reconnect: () => happened.push('reconnect'),
    onLost: () => happened.push('lost'),
    onError: error => errors.push(error)
  })
  const change: Change = { type: 'messages-added', session, messages: [message(1)] }
  updates.hear({ type: 'change', clock: 1, at: 1, audience: 'apps', change })
  t.match(errors, [{ message: 'It cannot be sent.' }])
  t.same(happened, ['reconnect'])
})
