import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { type AccountChange, type AccountFeed, cryptoReady, newId, openAccountFeed, Refused } from '../../../lib/client/index.ts'
import type { Rest } from '../../../lib/client/link/rest.ts'
import { accountId, machineId, sealed, sessionId } from '../../../lib/protocol/wire/ids.ts'
import type { MachineRecord, SessionRecord } from '../../../lib/protocol/wire/records.ts'
import type { UpdateBody } from '../../../lib/protocol/wire/updates.ts'
import * as v from '../../../lib/schema.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { FakeLink, messageAt, turn } from '../link/fake-link.ts'
import { startWorld } from '../world.ts'

t.before(() => cryptoReady())

/** Resolves with the first change that fits. */
function changes(feed: { listen: (listener: (change: AccountChange) => void) => void }, fits: (change: AccountChange) => boolean) {
  return new Promise<AccountChange>(resolve => feed.listen(change => fits(change) && resolve(change)))
}

t.test('on the real server, the account feed shows what another client does', async t => {
  const world = await startWorld(t)
  const app = await world.client()
  const listeners: ((change: AccountChange) => void)[] = []
  const listen = (listener: (change: AccountChange) => void) => void listeners.push(listener)
  const feed = openAccountFeed({
    ...app,
    onChange: change => {
      for (const listener of listeners) listener(change)
    }
  })
  t.teardown(() => feed.close())
  await changes({ listen }, change => change.type === 'listed')
  const when = (fits: (change: AccountChange) => boolean) => changes({ listen }, fits)

  const opened = when(change => change.type === 'session')
  const { session, key } = await world.openSession()
  t.match(await opened, { session: { id: session.id, seq: 0, thinking: false } })

  const messaged = when(change => change.type === 'session' && change.session.seq === 1)
  await world.rest.call('appendMessages', { params: { id: session.id }, body: { messages: [{ localId: newId(), content: 'aGk=' }] } })
  await messaged

  const wrapper = await world.client({ as: 'session', id: session.id })
  const thinks = when(change => change.type === 'session' && change.session.thinking)
  wrapper.socket.send('session-alive', { sid: session.id, time: Date.now(), thinking: true })
  t.match(await thinks, { session: { active: true } })

  const renamed = when(change => change.type === 'session' && change.session.metadataVersion === 1)
  const metadata = key.cipher.seal({ path: '/', host: 'h' })
  await wrapper.socket.request('update-metadata', { sid: session.id, metadata, expectedVersion: 0 })
  t.match(await renamed, { session: { metadata, seq: 1 } })

  const archived = when(change => change.type === 'session' && !change.session.active)
  await world.rest.call('archiveSession', { params: { id: session.id } })
  await archived

  const machine = when(change => change.type === 'machine')
  await world.rest.call('openMachine', { body: { id: 'm-1', metadata: 'aGk=' } })
  t.match(await machine, { machine: { id: 'm-1', active: false } })

  const set = when(change => change.type === 'settings')
  await world.rest.call('writeSettings', { body: { settings: 'aGk=', expectedVersion: 0 } })
  t.match(await set, { settings: { value: 'aGk=', version: 1 } })

  const gone = when(change => change.type === 'session-removed')
  await world.rest.call('removeSession', { params: { id: session.id } })
  const { devices } = await world.rest.call('listDevices', {})
  t.match(await gone, { at: Number, by: devices.find(({ current }) => current)?.id }, 'with when and by which device')
  t.equal(feed.sessions.size, 0)
})

t.test('sessions beyond the first list page follow, and those removed meanwhile do not reappear [S1]', async t => {
  const world = await startWorld(t)
  const all: string[] = []
  for (let count = 0; count < 13; count++) {
    const opened = await Promise.all(Array.from({ length: 20 }, () => world.openSession()))
    all.push(...opened.map(({ session }) => session.id))
  }
  const { socket, rest } = await world.client()
  const listed: boolean[] = []
  const whole = Promise.withResolvers<void>()
  const older: string[] = []
  let removed: string | undefined
  const feed = openAccountFeed({
    socket,
    rest: {
      async call(name, request, options) {
        const reply = await rest.call(name, request, options)
        // The row that is on its way is taken away before it arrives.
        const row = name === 'pageSessions' && 'nextCursor' in reply ? reply.sessions.find(({ id }) => !feed.sessions.has(id)) : undefined
        if (row && removed === undefined) {
          removed = row.id
          const gone = new Promise<void>(resolve => {
            const unlisten = socket.onUpdate(({ body }) => {
              if (body.t !== 'delete-session') return
              unlisten()
              resolve()
            })
          })
          await world.rest.call('removeSession', { params: { id: row.id } })
          await gone
        }
        return reply
      }
    },
    onChange(change) {
      if (change.type === 'older') older.push(...change.sessions)
      if (change.type !== 'listed') return
      listed.push(change.isWhole)
      if (listed.length === 1) t.equal(feed.sessions.size, 150, 'the newest are there first')
      if (change.isWhole) whole.resolve()
    }
  })
  t.teardown(() => feed.close())
  await whole.promise
  t.strictSame(listed, [false, true])
  t.equal(older.length, 109)
  t.strictSame(new Set(feed.sessions.keys()), new Set(all.filter(id => id !== removed)))
})

t.test('changes during a disconnect appear after it [S1]', async t => {
  const world = await startWorld(t)
  const [{ session: kept }, { session: removed }] = [await world.openSession(), await world.openSession()]
  const app = await world.client()
  const listed: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()]
  let lists = 0
  const feed = openAccountFeed({ ...app, onChange: change => change.type === 'listed' && listed[lists++]?.resolve() })
  t.teardown(() => feed.close())
  await listed[0]?.promise
  t.equal(feed.sessions.size, 2)

  await app.line.closePort()
  await world.rest.call('removeSession', { params: { id: removed.id } })
  const { session: added } = await world.openSession()
  await app.line.openPort()
  app.socket.reconnectNow()
  await listed[1]?.promise
  t.strictSame(new Set(feed.sessions.keys()), new Set([kept.id, added.id]))
})

/** A server whose lists a test answers when it likes. */
class World {
  readonly link = new FakeLink()
  readonly changes: AccountChange[] = []
  readonly feed: AccountFeed
  sessions = new Map<string, SessionRecord>()
  machines = new Map<string, MachineRecord>()
  updates: UpdateBody[] = []
  lists: { settle: PromiseWithResolvers<unknown>; snapshot: unknown }[] = []

  constructor(sessions: readonly SessionRecord[] = []) {
    for (const session of sessions) this.sessions.set(session.id, session)
    this.link.up()
    this.feed = openAccountFeed({
      rest: {
        call: ((name: string, _: unknown, { signal }: { signal: AbortSignal }) => this.#list(name, signal)) as unknown as Rest['call']
      },
      socket: this.link,
      onChange: change => this.changes.push(change),
      clock: manualClock()
    })
  }

  #list(name: string, signal: AbortSignal): Promise<unknown> {
    // As a server of Happy's, whose lists are all there is.
    if (name === 'readChanges' || name === 'pageSessions') return Promise.reject(new Refused(404, 'Not found'))
    if (name === 'readSettings') return Promise.resolve({ settings: null, settingsVersion: 0 })
    const snapshot = name === 'listSessions' ? { sessions: [...this.sessions.values()] } : [...this.machines.values()]
    const list = { settle: Promise.withResolvers<unknown>(), snapshot }
    signal.addEventListener('abort', () => {
      this.lists = this.lists.filter(other => other !== list)
      list.settle.reject(signal.reason)
    })
    this.lists.push(list)
    return list.settle.promise
  }

  tell(body: UpdateBody): void {
    if (this.link.state.type === 'live') this.updates.push(body)
  }
  deliver(): void {
    const body = this.updates.shift()
    if (body) this.link.update(body)
  }
  cut(): void {
    this.updates = []
    this.link.down()
  }
  async answer(): Promise<void> {
    const list = this.lists.shift()
    list?.settle.resolve(list.snapshot)
    await turn()
  }
  async settle(): Promise<void> {
    if (this.link.state.type !== 'live') this.link.up()
    await turn()
    while (this.updates.length > 0) this.deliver()
    await turn()
    while (this.lists.length > 0) await this.answer()
  }
}

function sessionRow(id: string, fields: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: v.parse(sessionId, id),
    seq: 0,
    metadata: v.parse(sealed, 'm0'),
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

t.test('lists and updates in any order, with any disconnects, converge to the server state, and no version goes back', async () => {
  const ids = fc.constantFrom('a', 'b', 'c')
  const step = fc.oneof(
    { weight: 3, arbitrary: ids.map(id => (world: World) => openOrRemove(world, id)) },
    { weight: 4, arbitrary: ids.map(id => (world: World) => writeMetadata(world, id)) },
    { weight: 3, arbitrary: ids.map(id => (world: World) => addMessage(world, id)) },
    { weight: 6, arbitrary: fc.constant((world: World) => world.deliver()) },
    { weight: 4, arbitrary: fc.constant((world: World) => world.answer()) },
    { weight: 1, arbitrary: fc.constant((world: World) => world.cut()) },
    { weight: 2, arbitrary: fc.constant((world: World) => world.link.up()) },
    { weight: 1, arbitrary: fc.constant((world: World) => world.feed.refresh()) }
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), async steps => {
      const world = new World()
      for (const take of steps) await take(world)
      await world.settle()
      const shown = [...world.feed.sessions.values()].map(({ id, metadata, metadataVersion, seq }) => ({
        id,
        metadata,
        metadataVersion,
        seq
      }))
      const stored = [...world.sessions.values()].map(({ id, metadata, metadataVersion, seq }) => ({ id, metadata, metadataVersion, seq }))
      const inOrder = (rows: typeof shown) => rows.toSorted((one, other) => one.id.localeCompare(other.id))
      assert.deepEqual(inOrder(shown), inOrder(stored))
      assert.equal(world.feed.state.type, 'live')
      assertRising(world.changes)
      world.feed.close()
    }),
    { numRuns: 300 }
  )
})

let made = 0
function openOrRemove(world: World, name: string): void {
  const existing = [...world.sessions.values()].find(({ id }) => id.startsWith(name))
  if (existing) {
    world.sessions.delete(existing.id)
    world.tell({ t: 'delete-session', sid: existing.id })
  } else {
    // An id is never given out twice.
    const row = sessionRow(`${name}${made++}`)
    world.sessions.set(row.id, row)
    world.tell({ t: 'new-session', ...row })
  }
}

function writeMetadata(world: World, name: string): void {
  const row = [...world.sessions.values()].find(({ id }) => id.startsWith(name))
  if (!row) return
  const version = row.metadataVersion + 1
  const value = v.parse(sealed, `m${version}`)
  world.sessions.set(row.id, { ...row, metadata: value, metadataVersion: version })
  world.tell({ t: 'update-session', id: row.id, metadata: { value, version } })
}

function addMessage(world: World, name: string): void {
  const row = [...world.sessions.values()].find(({ id }) => id.startsWith(name))
  if (!row) return
  world.sessions.set(row.id, { ...row, seq: row.seq + 1 })
  world.tell({ t: 'new-message', sid: row.id, message: messageAt(row.seq + 1) })
}

function assertRising(changes: readonly AccountChange[]): void {
  const versions = new Map<string, number>()
  for (const change of changes) {
    if (change.type !== 'session') continue
    const { id, metadataVersion } = change.session
    assert.ok(metadataVersion >= (versions.get(id) ?? 0), `${id} went back to ${metadataVersion}`)
    versions.set(id, metadataVersion)
  }
}

t.test('a session removed while lists are read does not reappear with them', async t => {
  const row = sessionRow('a')
  const world = new World([row])
  world.link.update({ t: 'delete-session', sid: row.id })
  await world.settle()
  t.strictSame(world.changes, [
    { type: 'settings', settings: { value: null, version: 0 } },
    { type: 'listed', isWhole: true }
  ])
})

t.test('a change received before the list with its row is not lost', async t => {
  const row = sessionRow('a')
  const world = new World([row])
  world.link.update({ t: 'update-session', id: row.id, agentState: { value: v.parse(sealed, 's1'), version: 1 } })
  world.link.message(messageAt(1), 'a')
  await world.settle()
  t.match(world.feed.sessions.get(row.id), { agentState: 's1', agentStateVersion: 1, seq: 1 })
})

t.test('a change of an unknown session reloads the lists once, not forever', async t => {
  const world = new World()
  await world.settle()
  const stranger = v.parse(sessionId, 'old')
  world.link.update({ t: 'update-session', id: stranger, metadata: { value: v.parse(sealed, 'm'), version: 4 } })
  await turn()
  t.equal(world.lists.length, 2)
  await world.settle()
  world.link.update({ t: 'update-session', id: stranger, metadata: { value: v.parse(sealed, 'm'), version: 5 } })
  await turn()
  t.equal(world.lists.length, 0)
})

t.test('sessions beyond the end of a full list do not count as removed', async t => {
  const world = new World()
  for (let index = 0; index < 151; index++) {
    const row = sessionRow(`s${index}`, { updatedAt: 1000 - index })
    world.sessions.set(row.id, row)
  }
  const last = sessionRow('s150', { updatedAt: 850 })
  world.feed.take({ session: last })
  world.sessions.delete('s150')
  world.feed.refresh()
  await world.settle()
  t.equal(world.feed.sessions.size, 151)
  world.sessions.delete('s3')
  world.feed.refresh()
  await world.settle()
  t.notOk(world.feed.sessions.has(v.parse(sessionId, 's3')), 'here the list is not full any more, so all of it counts')
})

t.test('presence follows the latest signal, never an older one', async t => {
  const world = new World()
  const row = sessionRow('a', { activeAt: 10 })
  world.sessions.set('a', row)
  world.machines.set('m', {
    ...row,
    id: v.parse(machineId, 'm'),
    metadata: v.parse(sealed, 'm'),
    daemonState: null,
    daemonStateVersion: 0
  })
  world.feed.refresh()
  await world.settle()
  world.link.ephemeral({ type: 'activity', id: row.id, active: true, activeAt: 20, thinking: true })
  world.link.ephemeral({ type: 'activity', id: row.id, active: false, activeAt: 15, thinking: false })
  t.match(world.feed.sessions.get(row.id), { active: true, activeAt: 20, thinking: true })
  world.link.ephemeral({ type: 'machine-activity', id: v.parse(machineId, 'm'), active: false, activeAt: 30 })
  t.match(world.feed.machines.get(v.parse(machineId, 'm')), { active: false, activeAt: 30 })
})

t.test('a value this client wrote is accepted, an older version is not', async t => {
  const world = new World()
  await world.settle()
  world.feed.take({ settings: { value: v.parse(sealed, 'two'), version: 2 } })
  world.feed.take({ settings: { value: v.parse(sealed, 'one'), version: 1 } })
  t.strictSame(world.feed.settings, { value: 'two', version: 2 })
  world.link.update({ t: 'update-account', id: v.parse(accountId, 'me'), settings: { value: v.parse(sealed, 'three'), version: 3 } })
  t.equal(world.feed.settings?.version, 3)
})

t.test('an invalid token ends the feed', async t => {
  const world = new World()
  const refusal = new Refused(401, 'Invalid token')
  await turn()
  for (const list of world.lists) list.settle.reject(refusal)
  await turn()
  t.strictSame(world.feed.state, { type: 'ended', refusal })
})
