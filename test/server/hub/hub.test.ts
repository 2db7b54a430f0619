import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { accountTopic, type Bus, type BusEvent, type Change, instanceTopic } from '../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../lib/bus/local.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { Hub } from '../../../lib/server/hub/hub.ts'
import type { Message, Page } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
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
