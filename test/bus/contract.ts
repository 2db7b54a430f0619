import {
  accountTopic,
  type Bus,
  type BusEvent,
  type Change,
  instanceTopic,
  limitsTopic,
  revocationTopic,
  type Topic
} from '../../lib/bus/bus.ts'
import { referenceTo } from '../../lib/bus/reference.ts'
import * as ids from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import type { Check } from '../contracts/check.ts'

/** One bus, made for a test, and what the test does to it. */
export interface BusEnds {
  /**
   * Opens one more instance's end; it is closed with the test. What an end could not deliver to one of its listeners, or could
   * not read, goes to `onError`.
   */
  open(on?: { onError: (error: unknown) => void }): Promise<Bus>
  /** Cuts every open end off from the others. They reconnect by themselves. */
  cut?(): Promise<void>
  /** Sends all ends something on a topic that no end would publish: no event, or one of a later version. */
  send?(topic: Topic, content: string): Promise<void>
}

export type BusPlace = (t: Check) => BusEnds

const topic = accountTopic(v.parse(ids.accountId, 'ada'))
const other = accountTopic(v.parse(ids.accountId, 'grace'))

/** An event that can be told from others by its number. */
const event = (number: number): BusEvent => ({ type: 'call-dropped', id: String(number) })

/**
 * What every bus keeps. `instances` says how many ends of one bus can be open at a time; with `many`, the place must be able to
 * cut and to send.
 */
export function busContract(t: Check, place: BusPlace, { instances }: { instances: 'one' | 'many' }): void {
  t.test('a listener gets what is published on its topic, and nothing else', async t => {
    const bus = await place(t).open()
    const heard = await record(bus, topic)
    bus.publish(other, event(1))
    bus.publish(instanceTopic('ada'), event(2))
    bus.publish(revocationTopic, event(3))
    bus.publish(topic, event(4))
    t.same(await heard.take(1), [event(4)])
    await fence(bus, topic)
    t.same(heard.events, [event(4)])
  })

  t.test('every listener of a topic gets each event once, in the order published', async t => {
    const bus = await place(t).open()
    const one = await record(bus, topic)
    const two = await record(bus, topic)
    const events = Array.from({ length: 500 }, (_, number) => event(number))
    for (const each of events) bus.publish(topic, each)
    t.same(await one.take(500), events)
    t.same(await two.take(500), events)
  })

  t.test('listeners of this instance get an event before publish returns', async t => {
    const bus = await place(t).open()
    const heard = await record(bus, topic)
    bus.publish(topic, event(1))
    t.same(heard.events, [event(1)])
  })

  t.test('once subscribed, no later event is missed', async t => {
    const bus = await place(t).open()
    for (let number = 0; number < 50; number += 1) {
      const heard = await record(bus, topic)
      bus.publish(topic, event(number))
      t.same(await heard.take(1), [event(number)])
      await heard.stop()
    }
  })

  t.test('an unsubscribed listener gets nothing more, and the others continue', async t => {
    const bus = await place(t).open()
    const leaves = await record(bus, topic)
    const stays = await record(bus, topic)
    await leaves.stop()
    bus.publish(topic, event(1))
    await stays.take(1)
    await fence(bus, topic)
    t.same(leaves.events, [])
    t.same(stays.events, [event(1)])
  })

  t.test('unsubscribing twice does not remove another listener', async t => {
    const bus = await place(t).open()
    const leaves = await record(bus, topic)
    await leaves.stop()
    const comes = await record(bus, topic)
    await leaves.stop()
    bus.publish(topic, event(1))
    t.same(await comes.take(1), [event(1)])
  })

  t.test('a throwing listener is reported, does not stop others and does not reach the publisher', async t => {
    const errors: unknown[] = []
    const bus = await place(t).open({ onError: error => errors.push(error) })
    const clumsy = new Error('clumsy')
    await bus.subscribe(topic, () => {
      throw clumsy
    })
    const heard = await record(bus, topic)
    bus.publish(topic, event(1))
    t.same(await heard.take(1), [event(1)])
    t.same(errors, [clumsy])
  })

  t.test('a listener can publish, subscribe and unsubscribe while it is called', async t => {
    const bus = await place(t).open()
    const replies = await record(bus, other)
    const leave = await bus.subscribe(topic, told => {
      bus.publish(other, told)
      void leave()
      void bus.subscribe(topic, () => {})
    })
    bus.publish(topic, event(1))
    bus.publish(topic, event(2))
    t.same(await replies.take(1), [event(1)])
    await fence(bus, other)
    t.same(replies.events, [event(1)], 'the second came after it had left')
  })

  t.test('publishing without listeners, or after closing, is not an error', async t => {
    const bus = await place(t).open()
    bus.publish(topic, event(1))
    await bus.close()
    t.doesNotThrow(() => bus.publish(topic, event(2)))
  })

  t.test('events of every kind arrive as published', async t => {
    const bus = await place(t).open()
    const heard = await record(bus, topic)
    const events = everyKind()
    for (const each of events) bus.publish(topic, each)
    t.same(await heard.take(events.length), events)
  })

  t.test('a bus says whether it may have other instances', async t => {
    t.equal((await place(t).open()).isShared, instances === 'many')
  })

  if (instances === 'many') sharedBusContract(t, place)
}

function sharedBusContract(t: Check, place: BusPlace): void {
  const openTwo = async (t: Check) => {
    const { open } = place(t)
    return [await open(), await open()] as const
  }

  t.test("an instance gets events of the others as it gets its own, each publisher's in order", async t => {
    const [here, there] = await openTwo(t)
    const heard = await record(here, topic)
    for (let number = 0; number < 200; number += 1) there.publish(topic, event(number))
    t.same(
      await heard.take(200),
      Array.from({ length: 200 }, (_, number) => event(number))
    )
  })

  t.test('an instance gets its own events once, although the bus carries them to others', async t => {
    const [here, there] = await openTwo(t)
    const [own, others] = [await record(here, topic), await record(there, topic)]
    here.publish(topic, event(1))
    await others.take(1)
    // Whatever came back of the first would have come before the answer.
    there.publish(topic, event(2))
    t.same(await own.take(2), [event(1), event(2)])
    t.same(own.events, [event(1), event(2)])
  })

  t.test('once subscribed, no later event of another instance is missed', async t => {
    const [here, there] = await openTwo(t)
    for (let number = 0; number < 50; number += 1) {
      const heard = await record(here, topic)
      there.publish(topic, event(number))
      t.same(await heard.take(1), [event(number)])
      await heard.stop()
    }
  })

  t.test('a topic that everyone left and someone subscribed to again at once arrives', async t => {
    const [here, there] = await openTwo(t)
    for (let number = 0; number < 50; number += 1) {
      const leaves = await record(here, topic)
      const left = leaves.stop()
      const heard = await record(here, topic)
      await left
      there.publish(topic, event(number))
      t.same(await heard.take(1), [event(number)])
      await heard.stop()
    }
  })

  t.test('events of every kind reach other instances as published', async t => {
    const [here, there] = await openTwo(t)
    const heard = await record(here, topic)
    const events = everyKind()
    for (const each of events) there.publish(topic, each)
    t.same(await heard.take(events.length), events)
  })

  t.test('a large change reaches this instance whole and others whole or by reference, in order with what follows', async t => {
    const [here, there] = await openTwo(t)
    const [own, others] = [await record(there, topic), await record(here, topic)]
    for (const large of largeChanges()) {
      there.publish(topic, large)
      there.publish(topic, event(1))
      t.same(own.events.splice(0), [large, event(1)])
      const [first, second] = await others.take(2)
      others.events.splice(0)
      if (first?.type === 'change') t.same(first, large)
      else t.same(first, referenceTo(large))
      t.same(second, event(1))
    }
  })

  t.test('large calls and answers reach other instances, in order with what follows', async t => {
    const [here, there] = await openTwo(t)
    const heard = await record(here, topic)
    const events: BusEvent[] = [
      { type: 'call', id: '1', replyTo: instanceTopic('i'), method: 's:read', params: long },
      { type: 'call-answered', id: '1', result: { ok: true, value: v.parse(ids.sealed, long) } },
      event(1)
    ]
    for (const each of events) there.publish(topic, each)
    t.same(await heard.take(3), events)
  })

  t.test('a large signal may be dropped on the way to other instances, and what follows arrives', async t => {
    const [here, there] = await openTwo(t)
    const [own, others] = [await record(there, topic), await record(here, topic)]
    const partial = { type: 'partial', session: v.parse(ids.sessionId, 's'), partial: v.parse(ids.sealed, long) } as const
    const signal: BusEvent = { type: 'signal', audience: 'apps', signal: partial }
    there.publish(topic, signal)
    there.publish(topic, event(1))
    t.same(own.events, [signal, event(1)])
    const [first] = await others.take(1)
    if (first?.type === 'signal') t.same(await others.take(2), [signal, event(1)])
    else t.same(first, event(1))
  })

  t.test('what is no event is reported and dropped, and what follows arrives', async t => {
    const errors: unknown[] = []
    const ends = place(t)
    const [here, there] = [await ends.open({ onError: error => errors.push(error) }), await ends.open({ onError() {} })]
    const heard = await record(here, topic)
    const contents = ['', '{', 'null', '[]', '{"type":"unheard-of"}', '{"type":"call-dropped"}', '{"type":"call-dropped","id":{}}']
    for (const content of contents) await ends.send?.(topic, content)
    there.publish(topic, event(1))
    t.same(await heard.take(1), [event(1)])
    t.equal(errors.length, contents.length)
  })

  t.test('what comes on a topic without a listener is passed over, even if only a later version can read it', async t => {
    const errors: unknown[] = []
    const ends = place(t)
    const [here, there] = [await ends.open({ onError: error => errors.push(error) }), await ends.open({ onError() {} })]
    const left = await record(here, limitsTopic)
    await left.stop()
    const lost = [lossOf(here), lossOf(there)]
    const heard = await record(here, topic)
    await ends.send?.(limitsTopic, '{"type":"unheard-of"}')
    there.publish(limitsTopic, event(1))
    there.publish(topic, event(2))
    t.same(await heard.take(1), [event(2)])
    t.same(errors, [])
    t.ok(!lost.some(({ hasHappened }) => hasHappened()), 'nor does it count as lost')
  })

  t.test('closing one end leaves the others connected', async t => {
    const { open } = place(t)
    const [leaves, here, there] = [await open(), await open(), await open()]
    const heard = await record(here, topic)
    await record(leaves, topic)
    await leaves.close()
    there.publish(topic, event(1))
    t.same(await heard.take(1), [event(1)])
  })

  t.test('ends that were cut off say so once events arrive again, and keep their own clients connected meanwhile', async t => {
    const ends = place(t)
    const [here, there] = [await ends.open({ onError() {} }), await ends.open({ onError() {} })]
    const heard = await record(here, topic)
    const left = await record(here, topic)
    await left.stop()
    const lost = [here, there].map(lossOf)
    const removed = lossOf(here)
    removed.stop()
    await ends.cut?.()
    here.publish(topic, event(1))
    t.same(heard.events, [event(1)], 'at once')
    const late = await record(here, other)
    await Promise.all(lost.map(({ happens }) => happens))
    heard.events.splice(0)
    there.publish(topic, event(2))
    there.publish(other, event(3))
    t.same(await heard.take(1), [event(2)])
    t.same(await late.take(1), [event(3)], 'also where it was subscribed meanwhile')
    t.same(left.events, [])
    t.ok(!removed.hasHappened(), 'a removed listener is not told')
  })
}

interface Record {
  readonly events: BusEvent[]
  /** The first events once there are that many. */
  take(count: number): Promise<BusEvent[]>
  stop(): Promise<void>
}

async function record(bus: Bus, topic: Topic): Promise<Record> {
  const events: BusEvent[] = []
  let wake = () => {}
  const stop = await bus.subscribe(topic, event => {
    if (event.type === 'call-taken' && event.id === 'fence') return
    events.push(event)
    wake()
  })
  return {
    events,
    stop,
    async take(count) {
      while (events.length < count) {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
      return events.slice(0, count)
    }
  }
}

/** Resolves when everything published on the topic so far was heard: a later event of the same publisher was. */
async function fence(bus: Bus, topic: Topic): Promise<void> {
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  const stop = await bus.subscribe(topic, () => resolve())
  bus.publish(topic, { type: 'call-taken', id: 'fence', instance: 'i' })
  await heard
  await stop()
}

function everyKind(): BusEvent[] {
  const session = v.parse(ids.sessionId, 's')
  const machine = v.parse(ids.machineId, 'm')
  const sealed = v.parse(ids.sealed, 'ünïcödé \u0000 🔐')
  const cell = { version: 3, value: sealed }
  const times = { active: true, activeAt: 1, createdAt: 2, updatedAt: 3 }
  const reached = { lastSeq: 9, deliveredSeq: 4, readSeq: 2 }
  const sessionRow = { id: session, metadata: cell, agentState: { version: 0, value: null }, dataKey: null, ...reached, ...times }
  const machineRow = { id: machine, metadata: cell, daemonState: cell, dataKey: sealed, ...times }
  const message = { seq: 7, localId: null, sealed, createdAt: 5 }
  const key = v.parse(ids.kvKey, 'k')
  const artifactRow = { id: v.parse(ids.artifactId, 'a'), header: cell, body: cell, dataKey: sealed, seq: 1, createdAt: 2, updatedAt: 3 }
  const device = v.parse(ids.deviceId, 'd')
  const signal = { type: 'signal', audience: 'apps' } as const
  const change = { type: 'change', clock: 12, at: 13 } as const
  const connection = v.parse(ids.connectionId, 'c')
  const account = v.parse(ids.accountId, 'ada')
  return [
    { ...change, audience: 'apps', change: { type: 'session-opened', session: sessionRow } },
    { ...change, audience: { of: 'machine', id: machine }, change: { type: 'machine-opened', machine: machineRow } },
    { ...change, audience: 'apps', change: { type: 'row-removed', row: { of: 'session', id: session }, by: null } },
    { ...change, audience: 'apps', change: { type: 'artifact-opened', artifact: artifactRow } },
    { ...change, audience: 'apps', change: { type: 'artifact-written', id: artifactRow.id, header: cell } },
    { ...change, audience: 'apps', change: { type: 'kv-written', changes: [{ key, value: null, version: 2 }] } },
    { ...change, audience: 'apps', change: { type: 'receipts-marked', session, deliveredSeq: 4, readSeq: 2 } },
    {
      ...change,
      skip: connection,
      audience: 'apps',
      change: { type: 'cell-written', cell: { of: 'account', name: 'settings' }, now: cell }
    },
    { ...change, audience: { of: 'session', id: session }, change: { type: 'messages-added', session, messages: [message] } },
    {
      type: 'signal',
      audience: 'apps',
      signal: { type: 'presence', row: { of: 'session', id: session }, active: true, at: 1, thinking: false }
    },
    { type: 'signal', audience: 'apps', skip: connection, signal: { type: 'partial', session, partial: sealed } },
    { ...signal, signal: { type: 'usage', session, key: 'k', at: 1, tokens: { total: 1 }, cost: { total: 0.5 } } },
    { ...signal, signal: { type: 'session-event', session, kind: 'done', title: 't', body: 'b', at: 1 } },
    { ...signal, signal: { type: 'notice', session, notice: 'n', kind: 'settled', at: 1 } },
    { ...signal, signal: { type: 'device-came', device, kind: 'terminal', name: 'd', at: 1 } },
    { ...signal, signal: { type: 'pairing-fetched-twice', at: 1 } },
    { type: 'token-revoked', token: v.parse(ids.tokenId, 't') },
    { type: 'callee-here', method: 's:abort', connection, stamp: 7, heldForMs: 0.5 },
    { type: 'call', id: '1', replyTo: instanceTopic('i'), from: connection, by: device, method: 's:abort', params: sealed },
    { type: 'call', id: '2', replyTo: instanceTopic('i'), method: 's:abort' },
    { type: 'call-taken', id: '1', instance: 'i' },
    { type: 'call-dropped', id: '1' },
    { type: 'call-answered', id: '1', result: { ok: true, value: sealed } },
    { type: 'call-answered', id: '1', result: { ok: false, why: 'callee-gone' } },
    { type: 'present-asked', id: '1', replyTo: instanceTopic('i'), of: 'watching-app' },
    { type: 'present-asked', id: '1', replyTo: instanceTopic('i'), of: { of: 'machine', id: machine } },
    { type: 'present', id: '1' },
    { type: 'instance-asked', replyTo: instanceTopic('i') },
    { type: 'instance-here', instance: 'i' },
    { type: 'limits-used', instance: 'i', at: 14, uses: [{ limit: 'login', key: '2001:db8::/48', ms: 0.5 }] },
    { type: 'seats-held', instance: 'i', seats: [{ account, sockets: 9 }] },
    { type: 'seats-asked', instance: 'i', accounts: [account] },
    { type: 'setup-code-wrong', instance: 'i', at: 14, isLast: true },
    ...largeChanges().flatMap(change => referenceTo(change) ?? [])
  ]
}

const long = 'x'.repeat(2 * 1024 * 1024)

/** Changes that no bus carries as they are, one of each kind that can be that large. */
function largeChanges(): BusEvent[] {
  const sealed = v.parse(ids.sealed, long)
  const [session, artifact] = [v.parse(ids.sessionId, 's'), v.parse(ids.artifactId, 'a')]
  const key = v.parse(ids.kvKey, 'k')
  const message = (seq: number) => ({ seq, localId: null, sealed, createdAt: 5 })
  const cell = { version: 3, value: sealed }
  const times = { createdAt: 2, updatedAt: 3 }
  const life = { active: true, activeAt: 1, ...times }
  const sessionRow = { id: session, metadata: cell, agentState: cell, dataKey: null, lastSeq: 9, deliveredSeq: 4, readSeq: 2, ...life }
  const machineRow = { id: v.parse(ids.machineId, 'm'), metadata: cell, daemonState: cell, dataKey: sealed, ...life }
  const artifactRow = { id: artifact, header: cell, body: cell, dataKey: sealed, seq: 1, ...times }
  const skip = v.parse(ids.connectionId, 'c')
  const changes: Change[] = [
    { type: 'session-opened', session: sessionRow },
    { type: 'machine-opened', machine: machineRow },
    { type: 'artifact-opened', artifact: artifactRow },
    { type: 'artifact-written', id: artifact, body: cell },
    { type: 'kv-written', changes: [{ key, ...cell }] },
    { type: 'cell-written', cell: { of: 'account', name: 'settings' }, now: cell },
    { type: 'messages-added', session, messages: [message(7), message(8)] }
  ]
  return changes.map(change => ({ type: 'change', clock: 12, at: 13, skip, audience: 'apps', change }))
}

/** When an end says that it may have lost anything. */
function lossOf(bus: Bus) {
  const { promise: happens, resolve } = Promise.withResolvers<void>()
  let hasHappened = false
  const stop = bus.onLost(topic => {
    hasHappened = true
    if (topic === undefined) resolve()
  })
  return { happens, stop, hasHappened: () => hasHappened }
}
