import t, { type Test } from 'tap'
import { type AccountChange, type AccountFeed, cryptoReady, openAccountFeed, Refused } from '../../../lib/client/index.ts'
import type { Rest } from '../../../lib/client/link/rest.ts'
import { machineId, sealed, sessionId } from '../../../lib/protocol/wire/ids.ts'
import type { MachineRecord, SessionRecord } from '../../../lib/protocol/wire/records.ts'
import type { ChangesReply } from '../../../lib/protocol/wire/routes/changes.ts'
import * as v from '../../../lib/schema.ts'
import { FakeLink, turn } from '../link/fake-link.ts'
import { startWorld } from '../world.ts'

t.before(() => cryptoReady())

t.test('after a disconnect one request returns everything missed: rows, removals, settings and presence [S1]', async t => {
  const world = await startWorld(t)
  const { session: kept } = await world.openSession()
  const { session: removed } = await world.openSession()
  const { session: ended } = await world.openSession()
  await world.rest.call('openMachine', { body: { id: 'laptop', metadata: 'bQ==' } })
  const app = await world.client()
  const asked: string[] = []
  const rest: Pick<Rest, 'call'> = {
    call(name, request, options) {
      asked.push(name)
      return app.rest.call(name, request, options)
    }
  }
  const { feed, listed } = openFeed(t, { rest, socket: app.socket })
  await listed()
  t.same([feed.sessions.size, feed.machines.size, feed.sessions.get(ended.id)?.active], [3, 1, true])

  await app.line.closePort()
  asked.length = 0
  await world.rest.call('removeSession', { params: { id: removed.id } })
  await world.rest.call('removeMachine', { params: { id: 'laptop' } })
  await world.rest.call('archiveSession', { params: { id: ended.id } })
  await world.rest.call('appendMessages', { params: { id: kept.id }, body: { messages: [{ localId: 'a', content: 'aGk=' }] } })
  await world.rest.call('markReceipts', { params: { id: kept.id }, body: { readSeq: 1 } })
  await world.rest.call('writeSettings', { body: { settings: 'dark', expectedVersion: 0 } })
  const { session: added } = await world.openSession()
  await app.line.openPort()
  app.socket.reconnectNow()
  await listed()
  t.same(asked, ['readChanges'])
  t.same(new Set(feed.sessions.keys()), new Set([kept.id, ended.id, added.id]))
  t.match(feed.sessions.get(kept.id), { seq: 1, deliveredSeq: 1, readSeq: 1, active: true })
  t.match(feed.sessions.get(ended.id), { active: false })
  t.match(feed.settings, { value: 'dark', version: 1 })
  t.equal(feed.machines.size, 0)
})

t.test('receipts are shown and never go backwards', async t => {
  const server = new Server([row('a', { seq: 9 })])
  const { feed, link } = await server.open(t)
  link.update({ t: 'session-receipts', sid: v.parse(sessionId, 'a'), deliveredSeq: 5, readSeq: 2 })
  link.update({ t: 'session-receipts', sid: v.parse(sessionId, 'a'), deliveredSeq: 4, readSeq: 3 })
  t.match(feed.sessions.get(v.parse(sessionId, 'a')), { deliveredSeq: 5, readSeq: 3 })
})

t.test('after a server restore everything is read again, and older versions are accepted [O6]', async t => {
  const server = new Server([row('a', { seq: 9, metadataVersion: 7 }), row('b')])
  const { feed, told, read } = await server.open(t)
  server.epoch = 'another life'
  server.sessions = [row('a', { seq: 4, metadataVersion: 2 })]
  told.length = 0
  await read()
  t.match(told, [
    { type: 'started-over' },
    { type: 'session', session: { id: 'a', seq: 4, metadataVersion: 2 } },
    { type: 'settings' },
    { type: 'session-removed', id: 'b' },
    { type: 'listed' }
  ])
  t.same([...feed.sessions.keys()], ['a'])
  server.asked = []
  await read()
  t.same(server.asked, ['readChanges'], 'from then on it is the server that is known')
})

t.test('changes are read in pages, each with the cursor of the previous one', async t => {
  const server = new Server([])
  const { feed, read } = await server.open(t)
  server.pages = [
    { ...server.page(), sessions: [row('a')], clock: 11, more: true, active: undefined },
    { ...server.page(), sessions: [row('b', { active: false })], clock: 12 }
  ]
  server.queries = []
  await read()
  t.match(server.queries, [
    { since: 10, began: 10, epoch: 'one life' },
    { since: 11, began: 10, epoch: 'one life' }
  ])
  t.same([...feed.sessions.keys()], ['a', 'b'])
})

t.test('a machine removed and created again starts fresh; one announced meanwhile stays', async t => {
  const server = new Server([])
  server.machines = [machine('m', 9)]
  const { feed, link, read } = await server.open(t)
  const gone = { of: 'machine' as const, id: v.parse(machineId, 'm') }
  server.pages = [{ ...server.page(), removed: [gone], machines: [machine('m', 1)] }]
  await read()
  t.match(feed.machines.get(gone.id), { metadataVersion: 1 })

  server.pages = [{ ...server.page(), removed: [gone] }]
  const reading = read()
  const { id, ...record } = machine('m', 1)
  link.update({ t: 'new-machine', machineId: id, seq: 0, ...record })
  await reading
  t.ok(feed.machines.has(gone.id))
})

t.test('a row removed while changes are read does not reappear with them', async t => {
  const server = new Server([])
  const { feed, link, read } = await server.open(t)
  server.pages = [{ ...server.page(), sessions: [row('a')] }]
  const reading = read()
  link.update({ t: 'delete-session', sid: v.parse(sessionId, 'a') })
  await reading
  t.equal(feed.sessions.size, 0)
})

t.test('presence received while changes are read is not overwritten by them', async t => {
  const server = new Server([row('a', { active: false })])
  const { feed, link, read } = await server.open(t)
  server.pages = [{ ...server.page(), active: { sessions: [], machines: [] } }]
  const reading = read()
  link.ephemeral({ type: 'activity', id: v.parse(sessionId, 'a'), active: true, activeAt: 50, thinking: true })
  await reading
  t.match(feed.sessions.get(v.parse(sessionId, 'a')), { active: true, activeAt: 50, thinking: true })
})

/** A server as its answers, which a test sets. */
class Server {
  epoch = 'one life'
  machines: MachineRecord[] = []
  /** What is answered next in place of nothing new. */
  pages: ChangesReply[] = []
  asked: string[] = []
  queries: unknown[] = []
  tellsChanges = true
  sessions: SessionRecord[]

  constructor(sessions: SessionRecord[]) {
    this.sessions = sessions
  }

  page() {
    const nothing = { sessions: [], machines: [], artifacts: [], kv: [], removed: [], more: false }
    const active = { sessions: this.sessions.filter(({ active }) => active), machines: [] }
    return { complete: true as const, epoch: this.epoch, clock: 10, began: 10, ...nothing, active }
  }

  async open(t: Test) {
    const link = new FakeLink()
    link.up()
    const call = async (name: string, { query }: { query?: { since: number; epoch?: string } }) => {
      this.asked.push(name)
      await turn()
      if (name === 'listSessions') return { sessions: this.sessions }
      if (name === 'listMachines') return this.machines
      if (name === 'readSettings') return { settings: null, settingsVersion: 0 }
      if (!this.tellsChanges) throw new Refused(404, 'Not found')
      this.queries.push(query)
      const isContinued = query?.since === 0 || query?.epoch === this.epoch
      return isContinued ? (this.pages.shift() ?? this.page()) : { complete: false, epoch: this.epoch, clock: 10 }
    }
    const { feed, told, listed } = openFeed(t, { rest: { call: call as unknown as Rest['call'] }, socket: link })
    await listed()
    const read = async () => {
      const done = listed()
      feed.refresh()
      await done
    }
    return { feed, link, told, listed, read }
  }
}

function openFeed(t: Test, line: Pick<Parameters<typeof openAccountFeed>[0], 'rest' | 'socket'>) {
  const told: AccountChange[] = []
  let resolveListed = () => {}
  const feed: AccountFeed = openAccountFeed({
    ...line,
    onChange(change) {
      told.push(change)
      if (change.type === 'listed') resolveListed()
    }
  })
  t.teardown(() => feed.close())
  const listed = () =>
    new Promise<void>(resolve => {
      resolveListed = resolve
    })
  return { feed, told, listed }
}

function row(id: string, fields: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: v.parse(sessionId, id),
    seq: 0,
    metadata: v.parse(sealed, 'm'),
    metadataVersion: 0,
    agentState: null,
    agentStateVersion: 0,
    dataEncryptionKey: null,
    active: true,
    activeAt: 1,
    createdAt: 1,
    updatedAt: 1,
    ...fields
  }
}

function machine(id: string, metadataVersion: number): MachineRecord {
  return { ...row(id), id: v.parse(machineId, id), metadataVersion, daemonState: null, daemonStateVersion: 0 }
}

t.test('a machine is removed by an update, and by the restore of a server that never had it', async t => {
  const server = new Server([])
  server.machines = [machine('one', 1), machine('two', 1)]
  const { feed, told, link, read } = await server.open(t)
  link.update({ t: 'delete-machine', machineId: v.parse(machineId, 'one') })
  t.same([...feed.machines.keys()], ['two'])
  t.match(told.at(-1), { type: 'machine-removed', id: 'one' })

  server.epoch = 'another life'
  server.machines = []
  told.length = 0
  await read()
  t.same([...feed.machines.keys()], [])
  t.same(
    told.filter(({ type }) => type === 'machine-removed'),
    [{ type: 'machine-removed', id: 'two' }]
  )
})

t.test('a server that does not list changes is asked for them again after a disconnect: it may be another one', async t => {
  const server = new Server([row('a')])
  server.tellsChanges = false
  const { link, listed, read } = await server.open(t)
  await read()
  t.same(server.asked.filter(name => name === 'readChanges').length, 1)
  server.asked = []
  server.tellsChanges = true
  link.down()
  const again = listed()
  link.up()
  await again
  t.same(server.asked.filter(name => name === 'readChanges').length, 1)
})

t.test('a closed feed hears nothing more', async t => {
  const server = new Server([row('a')])
  const { feed, link, told } = await server.open(t)
  feed.close()
  told.length = 0
  link.update({ t: 'delete-session', sid: v.parse(sessionId, 'a') })
  link.ephemeral({ type: 'activity', id: v.parse(sessionId, 'a'), active: false, activeAt: 99, thinking: false })
  t.same([told, feed.sessions.size], [[], 1])
})

t.test('before anything was read, a feed is catching up if it is connected, and away otherwise', t => {
  for (const isUp of [true, false]) {
    const link = new FakeLink()
    if (isUp) link.up()
    const { feed } = openFeed(t, { rest: { call: () => new Promise(() => {}) } as Pick<Rest, 'call'>, socket: link })
    t.equal(feed.state.type, isUp ? 'catching-up' : 'away')
  }
  t.end()
})
