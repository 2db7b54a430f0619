import { randomUUID } from 'node:crypto'
import { setImmediate as turnEnds } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  type Audience,
  accountTopic,
  type Bus,
  type BusEvent,
  type Change,
  instanceTopic,
  revocationTopic,
  type Signal
} from '../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../lib/bus/local.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { Hub } from '../../../lib/server/hub/hub.ts'
import type { Message, Page } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
import { failingBus } from '../../bus/failing-bus.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { account, Ear, emptyStore } from '../ear.ts'

const session = v.parse(ids.sessionId, 's')
const topic = accountTopic(account)
const apps = 'apps' as const

const message = (seq: number): Message => ({ seq, localId: null, sealed: v.parse(ids.sealed, `${seq}`), createdAt: seq })

interface World {
  hub: Hub
  bus: Bus
  publish(change: Change, more?: Partial<Extract<BusEvent, { type: 'change' }>>): void
  messages(...seqs: number[]): void
  /** What the store answers next; it waits for `release` when `slow`. */
  stored: { upTo: number; slow: boolean; fails: boolean; largestPage: number }
  release(): void
  errors: unknown[]
}

/** A hub as one instance of many has it: events of others may come late, or in another order than they were stored. */
async function openWorld(t: Test): Promise<World> {
  const errors: unknown[] = []
  const bus = openLocalBus({ onError: error => errors.push(error) })
  const stored = { upTo: 0, slow: false, fails: false, largestPage: 500 }
  let gate = Promise.withResolvers<void>()

  const readMessages: Store['readMessages'] = async (_account, _session, page): Promise<Page | 'missing'> => {
    if (stored.slow) await gate.promise
    if (stored.fails) throw new Error('The store is away.')
    const after = 'after' in page ? page.after : 0
    const count = Math.min(page.limit, stored.largestPage, stored.upTo - after)
    return {
      messages: Array.from({ length: Math.max(0, count) }, (_, index) => message(after + 1 + index)),
      more: after + count < stored.upTo
    }
  }
  const hub = await Hub.open(
    { bus, store: { ...emptyStore, readMessages }, clock: manualClock(), newId: randomUUID, onError: error => errors.push(error) },
    'instance'
  )
  t.teardown(() => hub.close())

  const publish: World['publish'] = (change, more = {}) =>
    bus.publish(topic, { type: 'change', clock: 1, at: 1, skip: undefined, audience: apps, change, ...more })
  return {
    hub,
    bus,
    publish,
    messages: (...seqs) => publish({ type: 'messages-added', session, messages: seqs.map(message) }),
    stored,
    errors,
    release() {
      gate.resolve()
      gate = Promise.withResolvers<void>()
    }
  }
}

async function attach({ hub }: World): Promise<Ear> {
  const ear = new Ear()
  await hub.attach(ear)
  return ear
}

t.test('messages are forwarded in the order of their numbers, each once [O4]', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  world.messages(1, 2)
  world.messages(1, 2)
  world.messages(2, 3)
  world.messages(1)
  t.same(ear.seqs, [1, 2, 3])
})

t.test('a subscription starts at the first message it gets', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  world.messages(41, 42)
  t.same(ear.seqs, [41, 42])
})

t.test('a message that the first one overtook closes connections, so that they read it; later ones are whole again [M1] [O4]', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  world.messages(42)
  world.messages(42)
  t.equal(ear.closedFor, undefined, 'a repetition is not one')
  world.messages(41)
  t.equal(ear.closedFor, 'try-again')
  const next = await attach(world)
  world.messages(41)
  world.messages(43)
  t.same([next.closedFor, next.seqs], [undefined, [43]], 'who connects after the first one has read it')
})

t.test('a gap is filled from the store before anything later is forwarded [O4]', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  world.messages(1)
  world.stored.upTo = 6
  world.messages(5, 6)
  await ear.heard(6)
  t.same(ear.seqs, [1, 2, 3, 4, 5, 6])
  world.messages(3, 4)
  t.same(ear.seqs, [1, 2, 3, 4, 5, 6], 'what came late was told already')
})

t.test('a gap larger than a page is filled by as many pages as it takes', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  world.messages(1)
  world.stored.largestPage = 3
  world.stored.upTo = 20
  world.messages(20)
  await ear.heard(20)
  t.same(
    ear.seqs,
    Array.from({ length: 20 }, (_, index) => index + 1)
  )
})

t.test('while a gap is being filled everything else waits', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  world.messages(1)
  world.stored.slow = true
  world.stored.upTo = 3
  world.messages(3)
  world.messages(4)
  world.publish({ type: 'row-removed', row: { of: 'session', id: session } })
  t.same(ear.seqs, [1])
  world.release()
  await ear.heard(4)
  t.same(
    ear.frames.map(({ body }) => body.message?.seq ?? body.t),
    [1, 2, 3, 4, 'delete-session']
  )
})

t.test('when a gap cannot be filled, connections are closed to reconnect rather than left with it [O4]', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  world.messages(1)
  world.stored.fails = true
  world.messages(3)
  await ear.heard(3)
  t.equal(ear.closedFor, 'try-again')
  t.same(ear.seqs, [1])
  t.match(world.errors, [{ message: 'The store is away.' }])
})

for (const isBehind of [false, true])
  t.test(`a change ${isBehind ? 'behind a gap ' : ''}that fails is reported, and connections are closed to reconnect [O4]`, async t => {
    const world = await openWorld(t)
    const [failing, ear] = [await attach(world), await attach(world)]
    world.messages(1)
    world.stored.upTo = 3
    if (isBehind) world.messages(3)
    failing.send = () => {
      if (!isBehind || ear.seqs.length === 3) throw new Error('The frame cannot be sent.')
    }
    world.messages(isBehind ? 4 : 2)
    await ear.heard(4)
    t.strictSame([failing.closedFor, ear.closedFor], ['try-again', 'try-again'])
    t.match(world.errors, [{ message: 'The frame cannot be sent.' }])
  })

t.test('when too much waits behind a gap, connections are closed to reconnect, and others continue [B2]', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  world.messages(1)
  world.stored.slow = true
  world.stored.upTo = 3
  world.messages(3)
  const sealed = v.parse(ids.sealed, 'x'.repeat(30 * 1024 * 1024))
  const wait = (seq: number) => world.publish({ type: 'messages-added', session, messages: [{ ...message(seq), sealed }] })
  wait(4)
  wait(5)
  t.equal(ear.closedFor, undefined)
  wait(6)
  await ear.heard(6)
  t.equal(ear.closedFor, 'try-again')
  world.release()
})

t.test('a cell version not above the last announced one is dropped', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  const write = (version: number, name: 'metadata' | 'agentState' = 'metadata', id = session) =>
    world.publish({ type: 'cell-written', cell: { of: 'session', id, name }, now: { version, value: v.parse(ids.sealed, 'x') } })
  write(1)
  write(3)
  write(2)
  write(3)
  write(4)
  write(1, 'agentState')
  write(1, 'metadata', v.parse(ids.sessionId, 'other'))
  t.same(
    ear.frames.map(({ body }) => [body.id, body.metadata?.version ?? 'state']),
    [
      ['s', 1],
      ['s', 3],
      ['s', 4],
      ['s', 'state'],
      ['other', 1]
    ]
  )
})

t.test('a connection excluded from a change still gets the messages missing before it', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  world.messages(1)
  world.stored.upTo = 3
  world.publish({ type: 'messages-added', session, messages: [message(3)] }, { skip: ear.id })
  await ear.heard(2)
  t.same(ear.seqs, [1, 2])
})

t.test('a call delivered twice while in progress runs once [R5]', async t => {
  const world = await openWorld(t)
  const callee = await attach(world)
  const replies: BusEvent[] = []
  const replyTo = instanceTopic('caller')
  await world.bus.subscribe(replyTo, event => replies.push(event))
  const params = v.parse(ids.sealed, 'x')
  const call: BusEvent = { type: 'call', id: '1', replyTo, from: undefined, method: 's:abort', params }
  world.hub.register(callee, 's:abort')
  world.bus.publish(topic, call)
  world.bus.publish(topic, call)
  t.same(callee.asked, [{ method: 's:abort', params: 'x' }])
  callee.answer('done')
  t.same(replies, [
    { type: 'call-taken', id: '1', instance: 'instance' },
    { type: 'call-answered', id: '1', result: { ok: true, value: 'done' } }
  ])
})

t.test('a method registered elsewhere later is not answered here [R2]', async t => {
  const world = await openWorld(t)
  const callee = await attach(world)
  world.hub.register(callee, 's:abort')
  const elsewhere = v.parse(ids.connectionId, 'elsewhere')
  world.bus.publish(topic, { type: 'callee-here', method: 's:abort', connection: elsewhere, stamp: 2, heldForMs: 0 })
  const call = { type: 'call', id: '1', replyTo: instanceTopic('caller'), from: undefined, method: 's:abort' } as const
  world.bus.publish(topic, { ...call, params: v.parse(ids.sealed, 'x') })
  t.same(callee.asked, [])
})

t.test('a connection that left gets nothing more', async t => {
  const world = await openWorld(t)
  const [stays, leaves] = [await attach(world), await attach(world)]
  t.equal(world.hub.size, 2)
  world.hub.detach(leaves)
  world.hub.detach(leaves)
  t.equal(world.hub.size, 1)
  world.messages(1)
  t.same([stays.seqs, leaves.seqs], [[1], []])
})

t.test('closing closes every connection with a reason that makes it reconnect', async t => {
  const world = await openWorld(t)
  const ears = [await attach(world), await attach(world)]
  await world.hub.close()
  for (const ear of ears) t.equal(ear.closedFor, 'server-shutdown')
})

t.test('keys and artifact parts never go back, and a partly outdated change is announced in part', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  const keys = (...changes: [key: string, version: number][]) =>
    world.publish({
      type: 'kv-written',
      changes: changes.map(([key, version]) => ({ key: v.parse(ids.kvKey, key), value: null, version }))
    })
  const cell = (version: number) => ({ version, value: v.parse(ids.sealed, `${version}`) })
  const id = v.parse(ids.artifactId, 'a')
  keys(['one', 1])
  keys(['one', 0], ['two', 0])
  keys(['one', 1])
  world.publish({ type: 'artifact-written', id, header: cell(3) })
  world.publish({ type: 'artifact-written', id, header: cell(2), body: cell(2) })
  world.publish({ type: 'artifact-written', id, body: cell(2) })
  t.same(
    ear.frames.map(({ body }) => body),
    [
      { t: 'kv-batch-update', changes: [{ key: 'one', value: null, version: 1 }] },
      { t: 'kv-batch-update', changes: [{ key: 'two', value: null, version: 0 }] },
      { t: 'update-artifact', artifactId: 'a', header: cell(3) },
      { t: 'update-artifact', artifactId: 'a', body: cell(2) }
    ]
  )
})

t.test('a row recreated under its old id is announced from its first versions', async t => {
  const world = await openWorld(t)
  const ear = await attach(world)
  const id = v.parse(ids.machineId, 'laptop')
  for (let life = 0; life < 2; life += 1) {
    world.publish({
      type: 'cell-written',
      cell: { of: 'machine', id, name: 'metadata' },
      now: { version: 2, value: v.parse(ids.sealed, 'x') }
    })
    world.publish({ type: 'row-removed', row: { of: 'machine', id } })
  }
  t.same(
    ear.frames.map(({ body }) => body.t),
    ['update-machine', 'delete-machine', 'update-machine', 'delete-machine']
  )
})

const bob = v.parse(ids.accountId, 'bob')
const machine = v.parse(ids.machineId, 'laptop')

/** A hub as one of several instances, on a bus that a test disturbs. */
async function openShared(t: Test, { instance = 'instance', random }: { instance?: string; random?: () => number } = {}) {
  const errors: unknown[] = []
  const bus = failingBus()
  const onError = (error: unknown) => errors.push(error)
  const [end, other] = [bus.open({ onError }), bus.open({ onError })]
  const clock = manualClock()
  const hub = await Hub.open({ bus: end, store: emptyStore, clock, newId: randomUUID, onError, ...(random && { random }) }, instance)
  t.teardown(() => hub.close())
  const attach = async (scope: Ear['scope'] = 'app', of = account) => {
    const ear = new Ear(undefined, of)
    ear.scope = scope
    await hub.attach(ear)
    return ear
  }
  return { hub, bus, end, other, clock, errors, attach, timers: clock.pending }
}

t.test('each connection is sent what its scope may see, except what it caused itself [O1]', async t => {
  const { hub, end, attach } = await openShared(t)
  const ears = {
    app: await attach(),
    cause: await attach(),
    session: await attach({ of: 'session', id: session }),
    otherSession: await attach({ of: 'session', id: v.parse(ids.sessionId, 'other') }),
    machine: await attach({ of: 'machine', id: machine }),
    machineOfThatId: await attach({ of: 'machine', id: v.parse(ids.machineId, 's') }),
    bob: await attach('app', bob)
  }
  /** Who was sent something since the last call. */
  const told = () => Object.entries(ears).flatMap(([name, ear]) => (ear.frames.splice(0).length > 0 ? [name] : []))
  const write = (audience: Audience, change: Change) =>
    end.publish(topic, { type: 'change', clock: 1, at: 1, skip: ears.cause.id, audience, change })
  write({ of: 'session', id: session }, { type: 'messages-added', session, messages: [message(1)] })
  t.same(told(), ['app', 'session'])
  write({ of: 'machine', id: machine }, { type: 'row-removed', row: { of: 'machine', id: machine } })
  t.same(told(), ['app'], 'some updates are for apps alone')
  const metadata = { of: 'machine', id: machine, name: 'metadata' } as const
  write({ of: 'machine', id: machine }, { type: 'cell-written', cell: metadata, now: { version: 1, value: null } })
  t.same(told(), ['app', 'machine'])
  write(apps, { type: 'cell-written', cell: { of: 'account', name: 'settings' }, now: { version: 1, value: null } })
  t.same(told(), ['app'])
  t.equal(hub.framesSent, 6)
})

t.test('signals go to those who know them, and growing text to those who ask for it', async t => {
  const { end, attach } = await openShared(t)
  const [usual, existing, reader] = [await attach(), await attach(), await attach()]
  existing.readsAfieldEvents = false
  existing.takesPartials = false
  reader.takesPartials = false
  const told = (signal: Signal, skip?: Ear) => {
    end.publish(topic, { type: 'signal', audience: apps, skip: skip?.id, signal })
    return [usual, existing, reader].map(ear => ear.frames.splice(0).length)
  }
  t.same(told({ type: 'presence', row: { of: 'session', id: session }, active: true, at: 1, thinking: false }), [1, 1, 1])
  t.same(told({ type: 'pairing-fetched-twice', at: 1 }), [1, 0, 1])
  t.same(told({ type: 'partial', session, partial: v.parse(ids.sealed, 'x') }), [1, 0, 0])
  t.same(told({ type: 'pairing-fetched-twice', at: 1 }, usual), [0, 0, 1])
  end.publish(topic, {
    type: 'change',
    clock: 1,
    at: 1,
    audience: apps,
    change: { type: 'receipts-marked', session, deliveredSeq: 1, readSeq: 1 }
  })
  t.same([usual.frames.length, existing.frames.length], [1, 0], 'and receipts to those who know them')
})

t.test('each update has an id of its own, which no other instance makes', async t => {
  const made = new Set<string>()
  for (const instance of ['one', 'other']) {
    const { end, attach } = await openShared(t, { instance })
    const ear = await attach()
    const messages = [message(1), message(2)]
    end.publish(topic, { type: 'change', clock: 2, at: 1, audience: apps, change: { type: 'messages-added', session, messages } })
    for (const { id } of ear.frames) made.add(id)
  }
  t.equal(made.size, 4)
})

t.test('an ended token closes its connections, of whichever account [A4]', async t => {
  const { other, attach } = await openShared(t)
  const [ended, stays, ofBob] = [await attach(), await attach(), await attach('app', bob)]
  stays.token = v.parse(ids.tokenId, 'another')
  other.publish(revocationTopic, { type: 'call-dropped', id: 't' })
  t.equal(ended.closedFor, undefined)
  other.publish(revocationTopic, { type: 'token-revoked', token: ended.token })
  t.same([ended.closedFor, stays.closedFor, ofBob.closedFor], ['auth-revoked', undefined, 'auth-revoked'])
})

t.test('connections are counted by what they may see', async t => {
  const { hub, attach } = await openShared(t)
  await attach()
  await attach('app', bob)
  for (let times = 0; times < 3; times += 1) await attach({ of: 'session', id: session })
  await attach({ of: 'machine', id: machine })
  t.same(hub.connections(), { app: 2, session: 3, machine: 1 })
  t.equal(hub.size, 6)
})

t.test('an account is listened to while it has connections, or one is on its way', async t => {
  const { hub, bus, attach } = await openShared(t)
  const [first, second] = [await attach(), await attach()]
  t.equal(bus.listeners(topic), 1)
  hub.detach(first)
  await turnEnds()
  t.equal(bus.listeners(topic), 1)
  const third = new Ear()
  const attaching = hub.attach(third)
  hub.detach(second)
  await attaching
  await turnEnds()
  t.equal(bus.listeners(topic), 1)
  hub.detach(third)
  await turnEnds()
  t.equal(bus.listeners(topic), 0)
})

t.test('a failed subscription is told to who waited for it, and the next connection has its own', async t => {
  const { hub, bus, end, errors, attach } = await openShared(t)
  bus.subscriptions.push('fails')
  const waiting = [attach(), attach()]
  for (const one of waiting) await t.rejects(one, { message: 'The bus takes no listener.' })
  t.equal(hub.size, 0)
  const ear = await attach()
  end.publish(topic, { type: 'signal', audience: apps, signal: { type: 'pairing-fetched-twice', at: 1 } })
  t.equal(ear.frames.length, 1)
  hub.detach(ear)
  await turnEnds()
  t.equal(bus.listeners(topic), 0)
  t.same(errors, [])
})

t.test('a bus that does not answer in time has failed, and what it still does later is undone', async t => {
  const { hub, bus, clock, attach } = await openShared(t)
  bus.subscriptions.push('hangs')
  const attaching = attach()
  clock.advance(10_000)
  await t.rejects(attaching, { name: 'DeadlineExceeded' })
  await attach()
  bus.endHanging()
  await turnEnds()
  t.equal(bus.listeners(topic), 1)
  t.equal(hub.size, 1)
})

t.test('a listener that the bus does not let go is reported', async t => {
  const { hub, bus, errors, attach } = await openShared(t)
  bus.leavingFails = true
  hub.detach(await attach())
  await turnEnds()
  t.match(errors, [{ message: 'The bus lets nobody go.' }])
  bus.leavingFails = false
})

t.test('connections whose events were lost close once, spread over two milliseconds for each, and ten seconds at most [M2]', async t => {
  const { hub, bus, clock, attach, timers } = await openShared(t, { random: () => 0.5 })
  const ears = [await attach(), await attach(), await attach('app', bob)]
  bus.lose(topic)
  bus.lose(topic)
  t.equal(clock.pending, timers + 2)
  clock.advance(1)
  t.same(
    ears.map(ear => ear.closedFor),
    [undefined, undefined, undefined]
  )
  clock.advance(1)
  t.same(
    ears.map(ear => ear.closedFor),
    ['try-again', 'try-again', undefined]
  )
  for (const ear of ears.slice(0, 2)) hub.detach(ear)
  const crowd: Ear[] = []
  for (let number = 0; number < 6_000; number += 1) crowd.push(await attach())
  hub.reconnectAll()
  clock.advance(4_999)
  t.notOk(crowd.some(ear => ear.closedFor))
  clock.advance(1)
  t.ok(crowd.every(ear => ear.closedFor === 'try-again'))
  t.equal(ears[2]?.closedFor, 'try-again', 'of every account')
})

t.test('of those that reconnect not all do so at once, and one that left by itself is forgotten [M2]', async t => {
  const { hub, bus, clock, attach, timers } = await openShared(t)
  const ears: Ear[] = []
  for (let number = 0; number < 500; number += 1) ears.push(await attach())
  const left = await attach()
  bus.lose()
  hub.detach(left)
  t.equal(clock.pending, timers + 500)
  clock.advance(500)
  const closed = ears.filter(ear => ear.closedFor === 'try-again').length
  t.ok(closed > 0 && closed < 500, `${closed} of them`)
  clock.advance(502)
  t.ok(ears.every(ear => ear.closedFor === 'try-again'))
  t.equal(left.closedFor, undefined)
})

t.test('closing leaves no connection, timer or listener, and nothing is begun afterwards', async t => {
  const { hub, bus, clock, attach } = await openShared(t)
  const ear = await attach()
  const replies = instanceTopic('instance')
  t.same([bus.listeners(revocationTopic), bus.listeners(replies)], [1, 1])
  bus.lose()
  await hub.close()
  t.equal(ear.closedFor, 'server-shutdown')
  t.equal(clock.pending, 0)
  t.same([bus.listeners(revocationTopic), bus.listeners(replies)], [0, 0])
  bus.lose()
  t.equal(clock.pending, 0)
})

t.test('an event that cannot be sent is reported, and all of the account reconnect [O4]', async t => {
  const { end, errors, attach } = await openShared(t)
  const [failing, ear, ofBob] = [await attach(), await attach(), await attach('app', bob)]
  failing.send = () => {
    throw new Error('The frame cannot be sent.')
  }
  end.publish(topic, { type: 'signal', audience: apps, signal: { type: 'pairing-fetched-twice', at: 1 } })
  t.match(errors, [{ message: 'The frame cannot be sent.' }])
  t.same([failing.closedFor, ear.closedFor, ofBob.closedFor], ['try-again', 'try-again', undefined])
})

t.test('the process of a row and an app in use are known here, and told to other instances that ask [M1]', async t => {
  const { hub, other, clock, attach } = await openShared(t)
  const row = { of: 'session', id: session } as const
  t.equal(hub.hasOwn(account, row), false)
  const [process, app] = [await attach(row), await attach()]
  process.isPresent = false
  t.equal(hub.hasOwn(account, row), false, 'a read-only one makes nobody look active')
  process.isPresent = true
  t.equal(hub.hasOwn(account, row), true)
  t.equal(hub.hasOwn(account, { of: 'machine', id: v.parse(ids.machineId, 's') }), false)
  t.equal(hub.hasOwn(bob, row), false)

  const answers: BusEvent[] = []
  await other.subscribe(instanceTopic('other'), event => answers.push(event))
  const ask = (id: string, of: Extract<BusEvent, { type: 'present-asked' }>['of'], replyTo = instanceTopic('other')) => {
    other.publish(topic, { type: 'present-asked', id, replyTo, of })
    return answers.splice(0)
  }
  t.same(ask('1', row), [{ type: 'present', id: '1' }])
  t.same(ask('2', { of: 'machine', id: machine }), [])
  t.same(ask('3', 'watching-app'), [])
  app.watchedUntil = clock.now() + 1
  process.watchedUntil = clock.now() + 1_000
  t.same(ask('4', 'watching-app'), [{ type: 'present', id: '4' }])
  t.equal(await hub.isWatched(account), true)
  clock.advance(1)
  t.same(ask('5', 'watching-app'), [], 'not any more, and a process is no app')
  await other.subscribe(instanceTopic('instance'), event => answers.push(event))
  t.same(ask('6', row, instanceTopic('instance')), [], 'an instance does not answer itself')
})

t.test('who registers and unregisters a method is told so, and one that is not connected registers nothing', async t => {
  const { hub, other, attach } = await openShared(t)
  const announced: string[] = []
  await other.subscribe(topic, event => {
    if (event.type === 'callee-here') announced.push(event.method)
  })
  const stranger = new Ear(undefined, bob)
  hub.register(stranger, 's:abort')
  t.same([announced, stranger.frames], [[], []])
  const ear = await attach({ of: 'session', id: session })
  hub.register(ear, 's:abort')
  t.same(announced, ['s:abort'])
  t.strictSame(ear.told('rpc-registered'), [{ method: 's:abort' }])
  hub.unregister(ear, 's:abort')
  t.strictSame(ear.told('rpc-unregistered'), [{ method: 's:abort' }])
  hub.unregister(stranger, 's:abort')
  t.strictSame(stranger.told('rpc-unregistered'), [{ method: 's:abort' }])
})
