import t from 'tap'
import { AccountRows, isRowUpdate, Meanwhile, mostListedSessions, type RowChange } from '../../../lib/client/feed/rows.ts'
import { machineId, sealed, sessionId } from '../../../lib/protocol/wire/ids.ts'
import type { MachineRecord, SessionRecord } from '../../../lib/protocol/wire/records.ts'
import { type UpdateBody, updateBody } from '../../../lib/protocol/wire/updates.ts'
import * as v from '../../../lib/schema.ts'

const idOf = (id: string) => v.parse(sessionId, id)
const idOfMachine = (id: string) => v.parse(machineId, id)
const text = (value: string) => v.parse(sealed, value)

function session(id: string, given: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: idOf(id),
    dataEncryptionKey: null,
    metadata: text('bQ=='),
    metadataVersion: 1,
    agentState: null,
    agentStateVersion: 0,
    active: true,
    activeAt: 5,
    seq: 3,
    createdAt: 2,
    updatedAt: 4,
    ...given
  }
}

function machine(id: string, given: Partial<MachineRecord> = {}): MachineRecord {
  return {
    id: idOfMachine(id),
    dataEncryptionKey: null,
    metadata: text('bQ=='),
    metadataVersion: 1,
    daemonState: null,
    daemonStateVersion: 0,
    active: true,
    activeAt: 5,
    createdAt: 2,
    updatedAt: 4,
    ...given
  }
}

type RowUpdate = Parameters<AccountRows['apply']>[0]

/** As it comes from a socket. */
function body(given: Record<string, unknown>): RowUpdate {
  const parsed = v.parse(updateBody, given)
  if (!isRowUpdate(parsed)) throw new Error('not about a row')
  return parsed
}

/** Rows, and what was told of them. */
function open({ sessions = [], machines = [] }: { sessions?: SessionRecord[]; machines?: MachineRecord[] } = {}) {
  const told: RowChange[] = []
  const rows = new AccountRows(change => told.push(change))
  for (const each of sessions) rows.mergeSession(each)
  for (const each of machines) rows.mergeMachine(each)
  told.length = 0
  const summary = () => told.splice(0).map(change => ('id' in change ? `${change.type} ${change.id}` : change.type))
  return { rows, told, summary }
}

const lists = (sessions: SessionRecord[] = [], machines: MachineRecord[] = []) => ({
  sessions,
  machines,
  settings: { value: null, version: 0 }
})
const changes = {
  complete: true as const,
  epoch: 'e',
  began: 0,
  clock: 0,
  more: false,
  removed: [],
  artifacts: [],
  kv: [],
  sessions: [],
  machines: []
}

t.test('updates are about a session or a machine, or about something that has no row here', t => {
  const artifact: UpdateBody = v.parse(updateBody, { t: 'delete-artifact', artifactId: 'a' })
  const keys: UpdateBody = v.parse(updateBody, { t: 'kv-batch-update', changes: [] })
  t.same(
    [isRowUpdate(artifact), isRowUpdate(keys), isRowUpdate({ t: 'delete-machine', machineId: idOfMachine('m') })],
    [false, false, true]
  )
  t.end()
})

t.test('each update of a known row changes only what it brings, and is known', t => {
  const { rows, summary } = open({ sessions: [session('s')], machines: [machine('m')] })
  const of = { sid: 's', id: 's', machineId: 'm' }
  const message = { id: 'i', seq: 8, localId: null, content: { t: 'encrypted', c: 'aGk=' }, createdAt: 9, updatedAt: 9 }
  const known = [
    { t: 'update-session', ...of, metadata: { value: 'Yg==', version: 2 }, agentState: { value: 'Yw==', version: 1 } },
    { t: 'new-message', ...of, message },
    { t: 'session-receipts', ...of, deliveredSeq: 8, readSeq: 7 },
    { t: 'update-machine', ...of, metadata: { value: 'ZA==', version: 2 }, daemonState: { value: 'ZQ==', version: 1 } },
    { t: 'update-account', id: 'a', settings: { value: 'Zg==', version: 1 } },
    { t: 'update-account', id: 'a' }
  ].map(given => rows.apply(body(given)))
  t.same(known, Array(6).fill(true))
  t.same(summary(), ['session', 'session', 'session', 'machine', 'settings'])
  t.same(rows.sessions.get(idOf('s')), {
    ...session('s', { metadata: text('Yg=='), metadataVersion: 2, agentState: text('Yw=='), agentStateVersion: 1, seq: 8, updatedAt: 9 }),
    deliveredSeq: 8,
    readSeq: 7,
    thinking: false
  })
  t.same(
    rows.machines.get(idOfMachine('m')),
    machine('m', { metadata: text('ZA=='), metadataVersion: 2, daemonState: text('ZQ=='), daemonStateVersion: 1 })
  )
  t.same(rows.settings, { value: 'Zg==', version: 1 })
  t.end()
})

t.test('an update of an unknown row is not known, and makes no row', t => {
  const { rows, summary } = open()
  const known = [
    { t: 'update-session', id: 's', metadata: { value: 'Yg==', version: 2 } },
    { t: 'session-receipts', sid: 's', deliveredSeq: 8, readSeq: 7 },
    { t: 'update-machine', machineId: 'm', metadata: { value: 'ZA==', version: 2 } }
  ].map(given => rows.apply(body(given)))
  t.same(known, [false, false, false])
  t.same([summary(), rows.sessions.size, rows.machines.size], [[], 0, 0])
  t.end()
})

t.test('rows come and go, each known; the removal of an unknown one is not told', t => {
  const { rows, told, summary } = open()
  const { id: machine_, ...ofMachine } = machine('m')
  const known = [
    body({ t: 'new-session', ...session('s') }),
    body({ t: 'new-machine', machineId: machine_, seq: 1, ...ofMachine }),
    body({ t: 'delete-machine', machineId: 'm' }),
    body({ t: 'delete-machine', machineId: 'm' })
  ].map(each => rows.apply(each))
  t.same(known, [true, true, true, true])
  t.same(summary(), ['session', 'machine', 'machine-removed m'])
  t.equal(rows.apply(body({ t: 'delete-session', sid: 's', by: 'phone' }), 77), true)
  t.equal(rows.apply(body({ t: 'delete-session', sid: 's' }), 78), true)
  t.same(told, [{ type: 'session-removed', id: 's', at: 77, by: 'phone' }])
  t.end()
})

t.test('what is listed again does not go back, and is told only if it differs', t => {
  const { rows, summary } = open({ sessions: [session('s', { deliveredSeq: 3, readSeq: 3 })], machines: [machine('m')] })
  rows.mergeSession(session('s', { metadata: text('b2xk'), metadataVersion: 0, seq: 1, updatedAt: 1, activeAt: 1, active: false }))
  rows.mergeMachine(machine('m', { metadata: text('b2xk'), metadataVersion: 0, updatedAt: 1, activeAt: 1, active: false }))
  t.same(summary(), [])
  rows.mergeSession(session('s', { updatedAt: 6 }))
  rows.mergeMachine(machine('m', { updatedAt: 6 }))
  t.same(summary(), ['session', 'machine'])
  t.match(
    [rows.sessions.get(idOf('s')), rows.machines.get(idOfMachine('m'))],
    [
      { createdAt: 2, updatedAt: 6, seq: 3, metadataVersion: 1 },
      { createdAt: 2, updatedAt: 6, metadataVersion: 1 }
    ]
  )
  t.end()
})

t.test('settings are taken if they are newer', t => {
  const { rows, summary } = open()
  rows.mergeSettings({ value: null, version: 0 })
  rows.mergeSettings({ value: text('Yg=='), version: 2 })
  rows.mergeSettings({ value: text('b2xk'), version: 2 })
  t.same([summary(), rows.settings], [['settings', 'settings'], { value: 'Yg==', version: 2 }])
  t.end()
})

t.test('presence is the latest that was received; a row that is unknown has none', t => {
  const { rows, summary } = open({ sessions: [session('s')], machines: [machine('m')] })
  const ofSession = (activeAt: number, active: boolean) =>
    rows.hearPresence({ type: 'activity', id: idOf('s'), active, activeAt, thinking: active })
  const ofMachine = (activeAt: number, active: boolean) =>
    rows.hearPresence({ type: 'machine-activity', id: idOfMachine('m'), active, activeAt })
  for (const hear of [ofSession, ofMachine]) {
    hear(4, false)
    t.same(summary(), [], 'older')
    hear(5, false)
    t.equal(summary().length, 1, 'of the same moment')
    hear(6, true)
    t.equal(summary().length, 1)
  }
  t.match(rows.sessions.get(idOf('s')), { active: true, activeAt: 6, thinking: true })
  t.match(rows.machines.get(idOfMachine('m')), { active: true, activeAt: 6 })
  rows.hearPresence({ type: 'activity', id: idOf('other'), active: true, activeAt: 9, thinking: true })
  rows.hearPresence({ type: 'partial', sid: idOf('s'), partial: text('Yg==') })
  t.same([summary(), rows.sessions.size], [[], 1])
  rows.mergeSession(session('s', { active: false, activeAt: 7 }))
  t.match(rows.sessions.get(idOf('s')), { active: false, thinking: false }, 'who has left does not think')
  t.end()
})

t.test('of changes, what was removed goes unless it came back meanwhile, and what was removed meanwhile stays away', t => {
  const { rows, summary } = open({ sessions: ['s', 'back'].map(id => session(id)), machines: [machine('m')] })
  const meanwhile = new Meanwhile()
  for (const id of ['back', 'gone']) meanwhile.hear(body({ t: 'new-session', ...session(id) }), true)
  meanwhile.hear(body({ t: 'delete-session', sid: 'gone' }), true)
  meanwhile.hear(body({ t: 'delete-machine', machineId: 'left' }), true)
  meanwhile.hear(body({ t: 'delete-session', sid: 'again' }), true)
  meanwhile.hear(body({ t: 'new-session', ...session('again') }), true)
  rows.takeChanges(
    {
      ...changes,
      removed: [
        { of: 'session', id: idOf('s') },
        { of: 'session', id: idOf('back') },
        { of: 'machine', id: idOfMachine('m') }
      ],
      sessions: [session('gone'), session('again'), session('new')],
      machines: [machine('left'), machine('joined')],
      settings: { value: null, version: 1 }
    },
    meanwhile
  )
  t.notOk(meanwhile.added.has('gone'))
  t.same(summary(), ['session-removed s', 'machine-removed m', 'session', 'session', 'machine', 'settings'])
  t.same([...rows.sessions.keys()], ['back', 'again', 'new'])
  t.same([...rows.machines.keys()], ['joined'])
  t.end()
})

t.test('an update that came before its row is applied once the row is there; one of a known row is not kept', t => {
  const early = body({ t: 'update-session', id: 's', metadata: { value: 'Yg==', version: 2 } })
  for (const how of ['lists', 'changes'] as const) {
    const { rows } = open()
    const meanwhile = new Meanwhile()
    meanwhile.hear(body({ t: 'session-receipts', sid: 's', deliveredSeq: 9, readSeq: 9 }), true)
    meanwhile.hear(early, rows.apply(early))
    t.same(meanwhile.early, [early])
    if (how === 'lists') rows.takeLists(lists([session('s')]), meanwhile)
    else rows.takeChanges({ ...changes, sessions: [session('s')] }, meanwhile)
    t.match(rows.sessions.get(idOf('s')), { metadata: 'Yg==', metadataVersion: 2 }, how)
  }
  t.end()
})

t.test('of the rows that changes do not list as active, only those seen or added meanwhile are', t => {
  const { rows } = open({
    sessions: ['listed', 'seen', 'added', 'left'].map(id => session(id)),
    machines: ['listed-m', 'seen-m', 'added-m', 'left-m'].map(id => machine(id))
  })
  for (const id of ['listed', 'left']) rows.hearPresence({ type: 'activity', id: idOf(id), active: true, activeAt: 6, thinking: true })
  const meanwhile = new Meanwhile()
  for (const id of ['seen', 'seen-m']) meanwhile.seen.add(id)
  for (const id of ['added', 'added-m']) meanwhile.add(id)
  rows.takeChanges(
    { ...changes, active: { sessions: [{ id: idOf('listed'), activeAt: 8 }], machines: [{ id: idOfMachine('listed-m'), activeAt: 8 }] } },
    meanwhile
  )
  const presence = [...rows.sessions.values(), ...rows.machines.values()].map(({ id, active, activeAt }) => `${id} ${active} ${activeAt}`)
  t.same(presence, [
    'listed true 8',
    'seen true 5',
    'added true 5',
    'left false 6',
    'listed-m true 8',
    'seen-m true 5',
    'added-m true 5',
    'left-m false 5'
  ])
  t.same(
    [...rows.sessions.values()].map(({ thinking }) => thinking),
    [true, false, false, false]
  )
  t.end()
})

t.test('lists remove what they do not have, but not what was added meanwhile', t => {
  const { rows, summary } = open({ sessions: ['a', 'b', 'new'].map(id => session(id)), machines: ['m', 'n', 'o'].map(id => machine(id)) })
  const meanwhile = new Meanwhile()
  const { id, ...ofMachine } = machine('o')
  for (const each of [
    { t: 'new-session', ...session('new') },
    { t: 'new-machine', machineId: id, seq: 1, ...ofMachine }
  ])
    meanwhile.hear(body(each), true)
  meanwhile.hear(body({ t: 'delete-machine', machineId: 'm' }), true)
  rows.takeLists(lists([session('a')], [machine('m')]), meanwhile)
  t.same(summary(), ['settings', 'session-removed b', 'machine-removed n'])
  t.same([...rows.machines.keys()], ['m', 'o'], 'the removal of a machine is told by its own update')
  t.end()
})

t.test('a full list of sessions says nothing of those older than its oldest', t => {
  const { rows, summary } = open({
    sessions: [session('older', { updatedAt: 9 }), session('same', { updatedAt: 10 }), session('gone', { updatedAt: 11 })]
  })
  const full = Array.from({ length: mostListedSessions }, (_, at) => session(`s${at}`, { updatedAt: 10 + at }))
  rows.takeLists(lists(full), new Meanwhile())
  t.same(
    summary().filter(each => each.startsWith('session-removed')),
    ['session-removed gone']
  )
  t.ok(rows.sessions.has(idOf('older')) && rows.sessions.has(idOf('same')))
  const { rows: few, summary: ofFew } = open({ sessions: [session('older', { updatedAt: 0 })] })
  few.takeLists(lists(full.slice(1)), new Meanwhile())
  t.same(ofFew().at(-1), 'session-removed older')
  t.end()
})

t.test('rows that were forgotten are told as removed once the lists do not bring them back, and only once', t => {
  const { rows, summary } = open({ sessions: ['a', 'b'].map(id => session(id)), machines: ['m', 'n'].map(id => machine(id)) })
  rows.mergeSettings({ value: null, version: 4 })
  summary()
  rows.forget()
  t.same([summary(), rows.sessions.size, rows.machines.size, rows.settings], [[], 0, 0, undefined])
  const again = lists([session('a')], [machine('m')])
  rows.takeLists(again, new Meanwhile())
  t.same(summary(), ['session', 'machine', 'settings', 'session-removed b', 'machine-removed n'])
  rows.takeLists(again, new Meanwhile())
  t.same(summary(), [])
  t.end()
})
