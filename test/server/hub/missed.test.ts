import { randomUUID } from 'node:crypto'
import { setImmediate as turnEnds } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openLocalBus } from '../../../lib/bus/local.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { lookEveryMs } from '../../../lib/server/hub/clock-watch.ts'
import { Hub } from '../../../lib/server/hub/hub.ts'
import type { StoredRows } from '../../../lib/server/hub/stored-change.ts'
import { announce } from '../../../lib/server/publish.ts'
import { openStore } from '../../../lib/store/open.ts'
import { StoreBusy } from '../../../lib/store/store.ts'
import { failingBus } from '../../bus/failing-bus.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { draft, newAccount, newSession } from '../../store/contract/kit.ts'
import { Ear, emptyStore } from '../ear.ts'

const sealed = (text: string) => v.parse(ids.sealed, text)

/** Two instances on one store; `lost` are all announcements of what is written at the first one, until `arrive`. */
async function openWorld(t: Test, spoil: (store: StoredRows) => Partial<StoredRows> = () => ({})) {
  const store = await openStore('sqlite:afield.db', { dataDirectory: t.testdir(), onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  const account = await newAccount(store, 'ada')
  const session = await newSession(store, account)
  const bus = failingBus()
  const clock = manualClock()
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const asked: number[] = []
  const open = async (name: string, rows: Partial<StoredRows>) => {
    const end = bus.open({ onError })
    const hub = await Hub.open(
      { bus: end, store: { ...emptyStore, ...bound(store), ...rows }, clock, newId: randomUUID, now: () => 9, onError },
      name
    )
    t.teardown(() => hub.close())
    return { hub, end }
  }
  const [here, there] = [
    await open('here', {}),
    await open('there', {
      async changesSince(account, ask) {
        asked.push(ask.since)
        return store.changesSince(account, ask)
      },
      ...spoil(store)
    })
  ]
  const attach = async ({ hub }: typeof here, scope: Ear['scope'] = 'app') => {
    const ear = new Ear(randomUUID(), account)
    ear.scope = scope
    await hub.attach(ear)
    return ear
  }
  const say = (moved: number, change: Parameters<typeof announce>[3]) =>
    announce({ bus: here.end, now: () => 9 }, { account, skip: undefined }, moved, change)
  return {
    ...{ store, account, session, bus, clock, errors, here, there, attach, say },
    /** From which clocks the second instance has read what it missed. */
    asked,
    async append(...texts: string[]) {
      const outcome = await store.appendMessages(
        account,
        session,
        texts.map(text => draft(text)),
        9
      )
      if (typeof outcome === 'string') throw new Error(outcome)
      say(outcome.clock, { type: 'messages-added', session, messages: outcome.added })
    },
    /** Both instances look at the clocks. */
    async look() {
      const { pending } = clock
      clock.advance(lookEveryMs)
      while (clock.pending < pending) await turnEnds()
    }
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

function bound(store: World['store']): StoredRows {
  return {
    readMessages: (...ask) => store.readMessages(...ask),
    findSession: (...ask) => store.findSession(...ask),
    findMachine: (...ask) => store.findMachine(...ask),
    findArtifact: (...ask) => store.findArtifact(...ask),
    readKv: (...ask) => store.readKv(...ask),
    readSettings: (...ask) => store.readSettings(...ask),
    readClocks: accounts => store.readClocks(accounts),
    changesSince: (...ask) => store.changesSince(...ask)
  }
}

const bodies = (ear: Ear) => ear.frames.map(({ body }) => body)
const has = (ear: Ear, body: unknown) => bodies(ear).some(other => JSON.stringify(other) === JSON.stringify(body))

t.test('every kind of change whose announcement was lost is sent from the store, on the connections that are there [M2]', async t => {
  const world = await openWorld(t)
  const { store, account, session, bus, say } = world
  const machine = v.parse(ids.machineId, 'm')
  const artifact = v.parse(ids.artifactId, 'a')
  const key = v.parse(ids.kvKey, 'k')
  const [near, far] = [await world.attach(world.here), await world.attach(world.there)]
  const ofSession = await world.attach(world.there, { of: 'session', id: session })
  const ofMachine = await world.attach(world.there, { of: 'machine', id: machine })
  const settings = { of: 'account', name: 'settings' } as const
  const metadata = { of: 'session', id: session, name: 'metadata' } as const
  const daemonState = { of: 'machine', id: machine, name: 'daemonState' } as const
  const writeCell = async (cell: typeof settings | typeof metadata | typeof daemonState, expected: number) => {
    const outcome = await store.writeCell(account, cell, expected, sealed(`after ${expected}`), 9)
    if (outcome === 'missing' || !outcome.written) throw new Error('a conflict')
    say(outcome.clock, { type: 'cell-written', cell, now: { version: outcome.version, value: sealed(`after ${expected}`) } })
  }
  const changes: [what: string, write: () => Promise<void>][] = [
    ['messages', () => world.append('one', 'two')],
    ['a cell of a session', () => writeCell(metadata, 0)],
    [
      'receipts',
      async () => {
        const outcome = await store.markReceipts(account, session, { deliveredSeq: 2, readSeq: 1 })
        if (outcome !== 'missing') say(outcome.clock, { type: 'receipts-marked', session, deliveredSeq: 2, readSeq: 1 })
      }
    ],
    [
      'a session',
      async () => {
        const id = v.parse(ids.sessionId, 'another')
        const named = { id, tag: 'another', metadata: sealed('x'), agentState: sealed('y'), dataKey: null, now: 9 }
        const { session, clock } = await store.openSession(account, named)
        say(clock, { type: 'session-opened', session })
      }
    ],
    [
      'a machine',
      async () => {
        const named = { id: machine, metadata: sealed('x'), daemonState: null, dataKey: null, now: 9 }
        const opened = await store.openMachine(account, named)
        say(opened.clock, { type: 'machine-opened', machine: opened.machine })
      }
    ],
    ['a cell of a machine', () => writeCell(daemonState, 0)],
    ['settings', () => writeCell(settings, 0)],
    [
      'an artifact',
      async () => {
        const named = { id: artifact, header: sealed('x'), body: sealed('y'), dataKey: sealed('z'), now: 9 }
        const opened = await store.openArtifact(account, named)
        say(opened.clock, { type: 'artifact-opened', artifact: opened.artifact })
      }
    ],
    [
      'its parts',
      async () => {
        const parts = { header: { expected: 1, value: sealed('x') }, body: { expected: 1, value: sealed('y') } }
        const outcome = await store.writeArtifact(account, artifact, parts, 9)
        if (outcome === 'missing' || !outcome.written) throw new Error('a conflict')
        const { header, body } = outcome
        say(outcome.clock, { type: 'artifact-written', id: artifact, ...(header && { header }), ...(body && { body }) })
      }
    ],
    [
      'a key',
      async () => {
        const outcome = await store.mutateKv(account, [{ key, value: sealed('x'), version: -1 }], 9)
        if (outcome.written) say(outcome.clock, { type: 'kv-written', changes: outcome.changes })
      }
    ],
    [
      'a removed key',
      async () => {
        const outcome = await store.mutateKv(account, [{ key, value: null, version: 0 }], 9)
        if (outcome.written) say(outcome.clock, { type: 'kv-written', changes: outcome.changes })
      }
    ],
    ...(
      [
        { of: 'artifact', id: artifact },
        { of: 'machine', id: machine },
        { of: 'session', id: session }
      ] as const
    ).map(
      row =>
        [
          `a removed ${row.of}`,
          async () => {
            const outcome = await store.remove(account, row)
            if (outcome !== 'missing') say(outcome.clock, { type: 'row-removed', row })
          }
        ] as [string, () => Promise<void>]
    )
  ]
  await world.look()
  for (const [what, write] of changes) {
    const before = near.frames.length
    bus.fates.push('dropped')
    await write()
    const told = bodies(near).slice(before)
    t.ok(told.length > 0, `${what}: told here`)
    await world.look()
    await world.look()
    while (!told.every(body => has(far, body))) await turnEnds()
  }
  t.ok(
    has(
      ofSession,
      bodies(near).find(({ t }) => t === 'update-session')
    ),
    'the process of a session has its own'
  )
  t.same(ofSession.seqs, [1, 2])
  t.same(
    bodies(ofMachine)
      .map(({ t }) => t)
      .slice(0, 2),
    ['update-machine', 'update-machine']
  )
  t.same(far.seqs, [1, 2], 'each message once')
  t.same(
    [near, far, ofSession, ofMachine].map(ear => ear.closedFor),
    [undefined, undefined, undefined, undefined]
  )
  t.same(world.errors, [])
})

t.test('a lost message comes before those after it, and nothing is sent twice [M2] [O4]', async t => {
  const world = await openWorld(t)
  const far = await world.attach(world.there)
  await world.append('1', '2')
  world.bus.fates.push('dropped', 'dropped')
  await world.append('3')
  await world.append('4', '5')
  await world.look()
  t.same(far.seqs, [1, 2], 'it may be on its way')
  await world.look()
  await far.heard(5)
  await world.append('6')
  await far.heard(6)
  t.same(far.seqs, [1, 2, 3, 4, 5, 6])
  for (let looks = 0; looks < 3; looks += 1) await world.look()
  t.equal(world.asked.length, 2, 'once without an epoch, and once with it')
})

t.test('what arrives while the missed changes are read comes after them, once [M2] [O4]', async t => {
  const gate = Promise.withResolvers<void>()
  const world = await openWorld(t, store => ({
    async readMessages(...ask) {
      await gate.promise
      return store.readMessages(...ask)
    }
  }))
  const far = await world.attach(world.there)
  await world.append('1')
  world.bus.fates.push('dropped')
  await world.append('2')
  await world.look()
  await world.look()
  while (world.asked.length < 2) await turnEnds()
  await world.append('3')
  gate.resolve()
  await far.heard(3)
  await world.append('4')
  await far.heard(4)
  t.same(far.seqs, [1, 2, 3, 4])
})

t.test('a loss is found although later changes arrived [M2]', async t => {
  const world = await openWorld(t)
  const { store, account, bus, say } = world
  const far = await world.attach(world.there)
  const cell = { of: 'account', name: 'settings' } as const
  bus.fates.push('dropped')
  const outcome = await store.writeCell(account, cell, 0, sealed('dark'), 9)
  if (outcome !== 'missing' && outcome.written)
    say(outcome.clock, { type: 'cell-written', cell, now: { version: 1, value: sealed('dark') } })
  await world.append('1')
  t.same(
    bodies(far).map(({ t }) => t),
    ['new-message']
  )
  await world.look()
  await world.look()
  while (far.frames.every(({ body }) => body.t !== 'update-account')) await turnEnds()
  t.same(far.seqs, [1])
})

t.test('a lost message from before the first that was sent of its session makes clients reconnect [M2] [O4]', async t => {
  const world = await openWorld(t)
  const { bus, clock } = world
  await world.append('1')
  const far = await world.attach(world.there)
  bus.fates.push('dropped')
  await world.append('2')
  await world.append('3')
  t.same(far.seqs, [3], 'nobody knows yet that another was before it')
  await world.look()
  await world.look()
  while (far.closedFor === undefined) {
    clock.advance(1)
    await turnEnds()
  }
  t.equal(far.closedFor, 'try-again')
})

t.test('a message that comes late, after it was sent as missed, closes nothing [M2]', async t => {
  const world = await openWorld(t)
  await world.append('1')
  const far = await world.attach(world.there)
  world.bus.hold()
  await world.append('2')
  await world.append('3')
  await world.look()
  await world.look()
  await far.heard(2)
  world.bus.release('last first')
  await world.append('4')
  await far.heard(3)
  t.same([far.seqs, far.closedFor], [[2, 3, 4], undefined])
})

t.test('a change on its way and an account that is always written to are not taken for losses [M2]', async t => {
  const world = await openWorld(t)
  const far = await world.attach(world.there)
  await world.append('first')
  for (let round = 0; round < 5; round += 1) {
    world.bus.hold()
    await world.append(`a ${round}`)
    await world.append(`b ${round}`)
    await world.look()
    world.bus.release('last first')
    await world.append(`c ${round}`)
  }
  await far.heard(16)
  await world.look()
  await world.look()
  t.same(world.asked, [])
  t.same(
    far.seqs,
    Array.from({ length: 16 }, (_, at) => at + 1)
  )
})

t.test('what was stored before the first client connected is not missed [M2]', async t => {
  const world = await openWorld(t)
  world.bus.fates.push('dropped')
  await world.append('1')
  await world.attach(world.there)
  for (let looks = 0; looks < 3; looks += 1) await world.look()
  t.same(world.asked, [])
})

t.test('when too much was missed, clients reconnect and read it [M2]', async t => {
  const world = await openWorld(t)
  const far = await world.attach(world.there)
  world.bus.fates.push('dropped')
  await world.append(...Array.from({ length: 1_001 }, (_, at) => `${at}`))
  await world.look()
  await world.look()
  while (far.closedFor === undefined) {
    world.clock.advance(1)
    await turnEnds()
  }
  t.equal(far.closedFor, 'try-again')
  const later = await world.attach(world.there)
  for (let looks = 0; looks < 3; looks += 1) await world.look()
  t.equal(later.closedFor, undefined)
})

t.test('while the database is away connections stay and nothing is reported; what was missed comes after it [M2] [M4]', async t => {
  let isAway = false
  const world = await openWorld(t, store => ({
    async readClocks(accounts) {
      if (isAway) throw new StoreBusy('away')
      return store.readClocks(accounts)
    },
    async readMessages(...ask) {
      if (failures-- > 0) throw new StoreBusy('away')
      return store.readMessages(...ask)
    }
  }))
  let failures = 1
  const far = await world.attach(world.there)
  world.bus.fates.push('dropped')
  await world.append('1')
  isAway = true
  await world.look()
  await world.look()
  isAway = false
  for (let looks = 0; looks < 2; looks += 1) await world.look()
  while (failures > 0) await turnEnds()
  while (far.seqs.length === 0) {
    await world.look()
    await turnEnds()
  }
  t.same(far.seqs, [1])
  t.equal(far.closedFor, undefined)
  t.same(world.errors, [])
})

t.test('clients that connected while nobody could say what is stored reconnect once the database is back [M2] [M4]', async t => {
  let isAway = true
  const world = await openWorld(t, store => ({
    async readClocks(accounts) {
      if (isAway) throw new StoreBusy('away')
      return store.readClocks(accounts)
    }
  }))
  const far = await world.attach(world.there)
  await world.look()
  t.equal(far.closedFor, undefined)
  isAway = false
  await world.look()
  while (far.closedFor === undefined) {
    world.clock.advance(1)
    await turnEnds()
  }
  t.equal(far.closedFor, 'try-again')
  t.same(world.errors, [])
})

t.test('on the bus of a single instance no clock is read and no timer runs', async t => {
  const clock = manualClock()
  const bus = openLocalBus({ onError: error => t.error(error) })
  const readClocks = async () => {
    throw new Error('there is nobody else')
  }
  const deps = { bus, store: { ...emptyStore, readClocks }, clock, newId: randomUUID, onError: (error: unknown) => t.error(error) }
  const hub = await Hub.open(deps, 'only')
  t.teardown(() => hub.close())
  await hub.attach(new Ear())
  t.equal(clock.pending, 0)
  clock.advance(10 * lookEveryMs)
  await turnEnds()
})
