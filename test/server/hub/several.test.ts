import { randomUUID } from 'node:crypto'
import { setImmediate as turnEnds } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { accountTopic, type BusEvent, type Change, instanceTopic } from '../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../lib/bus/local.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { Hub } from '../../../lib/server/hub/hub.ts'
import { answerPresentWithinMs } from '../../../lib/server/hub/other-instances.ts'
import type { StoredRows } from '../../../lib/server/hub/stored-change.ts'
import type { Message, RowRef } from '../../../lib/store/rows.ts'
import { failingBus } from '../../bus/failing-bus.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { account, Ear, emptyStore } from '../ear.ts'

const topic = accountTopic(account)
const session = v.parse(ids.sessionId, 's')
const sealed = (text: string) => v.parse(ids.sealed, text)
const long = sealed('x'.repeat(100_000))

/** Instances of one server over one bus and one store. */
async function openInstances(t: Test, count: number, store: Partial<StoredRows> = {}, random = () => 0.5) {
  const bus = failingBus()
  const clock = manualClock()
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const instances = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const end = bus.open({ onError })
      const deps = { bus: end, store: { ...emptyStore, ...store }, clock, newId: randomUUID, random, onError }
      const hub = await Hub.open(deps, `instance${at}`)
      t.teardown(() => hub.close())
      return { hub, end }
    })
  )
  const [here, there] = instances
  if (!here || !there) throw new Error('at least two are opened')
  return { bus, clock, errors, here, there }
}

type Instance = Awaited<ReturnType<typeof openInstances>>['here']

async function attach({ hub }: Instance, scope: Ear['scope'] = 'app'): Promise<Ear> {
  const ear = new Ear()
  ear.scope = scope
  await hub.attach(ear)
  return ear
}

function publish({ end }: Instance, change: Change, more: Partial<Extract<BusEvent, { type: 'change' }>> = {}): void {
  end.publish(topic, { type: 'change', clock: 1, at: 1, audience: 'apps', change, ...more })
}

t.test('a change that is too large for the bus is read from the store, and what follows comes after it [M1] [O4]', async t => {
  const messages: Message[] = Array.from({ length: 5 }, (_, at) => ({ seq: at + 1, localId: null, sealed: long, createdAt: 1 }))
  const asked: unknown[] = []
  const store: Partial<StoredRows> = {
    async readMessages(_account, _session, page) {
      asked.push(page)
      await turnEnds()
      const after = 'after' in page ? page.after : 0
      return { messages: messages.slice(after, after + Math.min(page.limit, 2)), more: true }
    }
  }
  const { here, there } = await openInstances(t, 2, store)
  const ears = [await attach(here), await attach(there)]
  const small = { seq: 6, localId: null, sealed: sealed('x'), createdAt: 1 }
  publish(there, { type: 'messages-added', session, messages }, { clock: 5 })
  publish(there, { type: 'messages-added', session, messages: [small] }, { clock: 6 })
  publish(there, { type: 'row-removed', row: { of: 'session', id: session } }, { clock: 7 })
  while (ears.some(ear => ear.frames.length < 7)) await turnEnds()
  for (const ear of ears) {
    t.same(ear.seqs, [1, 2, 3, 4, 5, 6])
    t.same(
      ear.frames.map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6, 7]
    )
  }
  t.same(asked, [
    { after: 0, limit: 5 },
    { after: 2, limit: 3 },
    { after: 4, limit: 1 }
  ])
})

t.test('messages missing before a large change come before it [M1] [O4]', async t => {
  const stored: Message[] = [1, 2, 3, 4].map(seq => ({ seq, localId: null, sealed: seq === 4 ? long : sealed('x'), createdAt: 1 }))
  const store: Partial<StoredRows> = {
    async readMessages(_account, _session, page) {
      const after = 'after' in page ? page.after : 0
      return { messages: stored.slice(after, after + page.limit), more: false }
    }
  }
  const { bus, here, there } = await openInstances(t, 2, store)
  const ear = await attach(here)
  const add = (seq: number) => publish(there, { type: 'messages-added', session, messages: stored.slice(seq - 1, seq) })
  bus.fates.push('arrives', 'dropped', 'dropped')
  for (const seq of [1, 2, 3, 4]) add(seq)
  await ear.heard(4)
  t.same(ear.seqs, [1, 2, 3, 4])
})

t.test('every kind of large change arrives as others see it, in the version that is stored [M1]', async t => {
  const times = { createdAt: 2, updatedAt: 3 }
  const life = { active: true, activeAt: 1, ...times }
  const cell = { version: 3, value: long }
  const machine = v.parse(ids.machineId, 'm')
  const artifact = { id: v.parse(ids.artifactId, 'a'), header: cell, body: cell, dataKey: long, seq: 1, ...times }
  const sessionRow = { id: session, metadata: cell, agentState: cell, dataKey: null, lastSeq: 0, deliveredSeq: 0, readSeq: 0, ...life }
  const machineRow = { id: machine, metadata: cell, daemonState: cell, dataKey: null, ...life }
  const [kept, removed] = [v.parse(ids.kvKey, 'kept'), v.parse(ids.kvKey, 'removed')]
  const { here, there } = await openInstances(t, 2, {
    findSession: async () => sessionRow,
    findMachine: async () => machineRow,
    findArtifact: async () => artifact,
    readKv: async () => [{ key: kept, ...cell }],
    readSettings: async () => cell
  })
  const changes: Change[] = [
    { type: 'session-opened', session: sessionRow },
    { type: 'machine-opened', machine: machineRow },
    { type: 'artifact-opened', artifact },
    { type: 'artifact-written', id: artifact.id, body: cell },
    {
      type: 'kv-written',
      changes: [
        { key: removed, value: null, version: 1 },
        { key: kept, ...cell }
      ]
    },
    { type: 'cell-written', cell: { of: 'account', name: 'settings' }, now: cell },
    { type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' }, now: cell },
    { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'daemonState' }, now: cell }
  ]
  const [near, far] = [await attach(there), await attach(here)]
  for (const change of changes) publish(there, change)
  while (far.frames.length < near.frames.length) await turnEnds()
  const bodies = (ear: Ear) => ear.frames.map(({ body }) => body)
  t.equal(near.frames.length, 9)
  t.same(bodies(far), bodies(near))
})

t.test('nothing is told of a large change that is not stored any more, and what follows arrives', async t => {
  const { here, there } = await openInstances(t, 2)
  const ear = await attach(here)
  publish(there, { type: 'messages-added', session, messages: [{ seq: 1, localId: null, sealed: long, createdAt: 1 }] })
  publish(there, { type: 'row-removed', row: { of: 'session', id: session } })
  while (ear.frames.length < 1) await turnEnds()
  t.same(
    ear.frames.map(({ body }) => body.t),
    ['delete-session']
  )
})

t.test('when a large change cannot be read, connections are closed to reconnect [M1]', async t => {
  const readSettings = async () => {
    throw new Error('The store is away.')
  }
  const { here, there, errors } = await openInstances(t, 2, { readSettings })
  const ear = await attach(here)
  publish(there, { type: 'cell-written', cell: { of: 'account', name: 'settings' }, now: { version: 1, value: long } })
  while (ear.closedFor === undefined) await turnEnds()
  t.equal(ear.closedFor, 'try-again')
  t.match(errors, [{ message: 'The store is away.' }])
})

t.test('repeated and reordered events leave what devices see in order [M1] [O4]', async t => {
  const stored: Message[] = Array.from({ length: 6 }, (_, at) => ({ seq: at + 1, localId: null, sealed: sealed('x'), createdAt: 1 }))
  const store: Partial<StoredRows> = {
    async readMessages(_account, _session, page) {
      const after = 'after' in page ? page.after : 0
      return { messages: stored.slice(after, after + page.limit), more: false }
    }
  }
  const { bus, here, there } = await openInstances(t, 2, store)
  const ear = await attach(here)
  const add = (seq: number) => publish(there, { type: 'messages-added', session, messages: stored.slice(seq - 1, seq) })
  add(1)
  bus.hold()
  bus.fates.push('repeated', 'dropped', 'repeated', 'arrives')
  for (const seq of [2, 3, 4, 5]) add(seq)
  bus.release('last first')
  await ear.heard(5)
  add(6)
  await ear.heard(6)
  t.same(ear.seqs, [1, 2, 3, 4, 5, 6])
})

t.test('after lost events connections are closed to reconnect, spread over time, and later ones stay [M2]', async t => {
  let asked = 0
  // The first is asked for first, and so on.
  const random = () => (asked++ % 100) / 100
  const { bus, clock, here, there } = await openInstances(t, 2, {}, random)
  const ears = await Promise.all(Array.from({ length: 100 }, () => attach(here)))
  const elsewhere = await attach(there)
  bus.lose()
  bus.lose()
  const later = await attach(here)
  const [left] = ears
  if (left) here.hub.detach(left)
  const closed = () => ears.filter(({ closedFor }) => closedFor === 'try-again').length
  clock.advance(2)
  t.equal(elsewhere.closedFor, 'try-again', 'a single one need not wait')
  t.ok(closed() < 5, 'not all at once')
  clock.advance(98)
  t.ok(closed() > 45 && closed() < 55, 'half of them after half of the time')
  clock.advance(100)
  t.equal(closed(), 99)
  t.equal(left?.closedFor, undefined, 'it had left')
  t.equal(later.closedFor, undefined)
})

t.test('lost events of one account close its connections only [M2]', async t => {
  const { bus, clock, here } = await openInstances(t, 2)
  const ear = await attach(here)
  bus.lose(accountTopic(v.parse(ids.accountId, 'grace')))
  clock.advance(1_000)
  t.equal(ear.closedFor, undefined)
  bus.lose(topic)
  clock.advance(1_000)
  t.equal(ear.closedFor, 'try-again')
})

t.test('an app in use counts at every instance, until it is no longer in use [M1]', async t => {
  const { clock, here, there } = await openInstances(t, 2)
  const ear = await attach(here)
  const isWatched = async (hub: Hub) => {
    const answer = hub.isWatched(account)
    await turnEnds()
    clock.advance(answerPresentWithinMs)
    return answer
  }
  t.same([await isWatched(here.hub), await isWatched(there.hub)], [false, false])
  ear.watchedUntil = Number.POSITIVE_INFINITY
  t.equal(await there.hub.isWatched(account), true, 'without waiting')
  t.equal(await here.hub.isWatched(account), true)
  here.hub.detach(ear)
  t.equal(await isWatched(there.hub), false)
})

t.test('a process connected to another instance counts as connected, its own instance and other rows do not [M1]', async t => {
  const { clock, here, there } = await openInstances(t, 2)
  const row: RowRef = { of: 'machine', id: v.parse(ids.machineId, 'm') }
  await attach(here, row)
  const isElsewhere = async (hub: Hub, of: RowRef) => {
    const answer = hub.isElsewhere(account, of)
    await turnEnds()
    clock.advance(answerPresentWithinMs)
    return answer
  }
  t.equal(await isElsewhere(there.hub, row), true)
  t.equal(await isElsewhere(here.hub, row), false)
  t.equal(await isElsewhere(there.hub, { of: 'session', id: session }), false)
})

t.test('where there is only one instance, nobody is waited for', async t => {
  const clock = manualClock()
  const bus = openLocalBus({ onError: error => t.error(error) })
  const hub = await Hub.open({ bus, store: emptyStore, clock, newId: randomUUID, onError: error => t.error(error) }, 'only')
  t.teardown(() => hub.close())
  const asked: BusEvent[] = []
  await bus.subscribe(topic, event => asked.push(event))
  await bus.subscribe(instanceTopic('only'), event => asked.push(event))
  t.equal(await hub.isWatched(account), false)
  t.equal(await hub.isElsewhere(account, { of: 'session', id: session }), false)
  t.same(asked, [])
})
