import { accountTopic, type Bus, type BusEvent, instanceTopic, revocationTopic } from '../../lib/bus/bus.ts'
import * as ids from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import type { Check } from '../contracts/check.ts'

/**
 * Opens one more instance's end of the same bus; it is closed with the test. What an end could not deliver to one of its
 * listeners goes to `onError`.
 */
export type BusPlace = (t: Check) => (on?: { onError: (error: unknown) => void }) => Promise<Bus>

const topic = accountTopic(v.parse(ids.accountId, 'ada'))
const other = accountTopic(v.parse(ids.accountId, 'grace'))

/** An event that can be told from others by its number. */
const event = (number: number): BusEvent => ({ type: 'call-dropped', id: String(number) })

/** What every bus keeps. `instances` says how many ends of one bus can be open at a time. */
export function busContract(t: Check, place: BusPlace, { instances }: { instances: 'one' | 'many' }): void {
  t.test('a listener gets what is published on its topic, and nothing else', async t => {
    const bus = await place(t)()
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
    const bus = await place(t)()
    const one = await record(bus, topic)
    const two = await record(bus, topic)
    const events = Array.from({ length: 500 }, (_, number) => event(number))
    for (const each of events) bus.publish(topic, each)
    t.same(await one.take(500), events)
    t.same(await two.take(500), events)
  })

  t.test('listeners of this instance get an event before publish returns', async t => {
    const bus = await place(t)()
    const heard = await record(bus, topic)
    bus.publish(topic, event(1))
    t.same(heard.events, [event(1)])
  })

  t.test('once subscribed, no later event is missed', async t => {
    const bus = await place(t)()
    for (let number = 0; number < 50; number += 1) {
      const heard = await record(bus, topic)
      bus.publish(topic, event(number))
      t.same(await heard.take(1), [event(number)])
      await heard.stop()
    }
  })

  t.test('an unsubscribed listener gets nothing more, and the others continue', async t => {
    const bus = await place(t)()
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
    const bus = await place(t)()
    const leaves = await record(bus, topic)
    await leaves.stop()
    const comes = await record(bus, topic)
    await leaves.stop()
    bus.publish(topic, event(1))
    t.same(await comes.take(1), [event(1)])
  })

  t.test('a throwing listener is reported, does not stop others and does not reach the publisher', async t => {
    const errors: unknown[] = []
    const bus = await place(t)({ onError: error => errors.push(error) })
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
    const bus = await place(t)()
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
    const bus = await place(t)()
    bus.publish(topic, event(1))
    await bus.close()
    t.doesNotThrow(() => bus.publish(topic, event(2)))
  })

  t.test('events of every kind arrive as published', async t => {
    const bus = await place(t)()
    const heard = await record(bus, topic)
    const events = everyKind()
    for (const each of events) bus.publish(topic, each)
    t.same(await heard.take(events.length), events)
  })

  if (instances === 'one') return

  t.test("an instance gets events of the others as it gets its own, each publisher's in order", async t => {
    const open = place(t)
    const [here, there] = [await open(), await open()]
    const heard = await record(here, topic)
    for (let number = 0; number < 200; number += 1) there.publish(topic, event(number))
    t.same(
      await heard.take(200),
      Array.from({ length: 200 }, (_, number) => event(number))
    )
  })
}

interface Record {
  readonly events: BusEvent[]
  /** The first events once there are that many. */
  take(count: number): Promise<BusEvent[]>
  stop(): Promise<void>
}

async function record(bus: Bus, topic: Parameters<Bus['subscribe']>[0]): Promise<Record> {
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
async function fence(bus: Bus, topic: Parameters<Bus['subscribe']>[0]): Promise<void> {
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  const stop = await bus.subscribe(topic, () => resolve())
  bus.publish(topic, { type: 'call-taken', id: 'fence' })
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
  const change = { type: 'change', clock: 12, at: 13, skip: undefined } as const
  const connection = v.parse(ids.connectionId, 'c')
  return [
    { ...change, audience: 'apps', change: { type: 'session-opened', session: sessionRow } },
    { ...change, audience: { of: 'machine', id: machine }, change: { type: 'machine-opened', machine: machineRow } },
    { ...change, audience: 'apps', change: { type: 'row-removed', row: { of: 'session', id: session } } },
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
      skip: undefined,
      signal: { type: 'presence', row: { of: 'session', id: session }, active: true, at: 1, thinking: false }
    },
    { type: 'signal', audience: 'apps', skip: connection, signal: { type: 'partial', session, partial: sealed } },
    { type: 'token-revoked', token: v.parse(ids.tokenId, 't') },
    { type: 'callee-here', method: 's:abort', connection, stamp: 7, heldForMs: 0.5 },
    { type: 'call', id: '1', replyTo: instanceTopic('i'), from: connection, method: 's:abort', params: sealed },
    { type: 'call-taken', id: '1' },
    { type: 'call-dropped', id: '1' },
    { type: 'call-answered', id: '1', result: { ok: true, value: sealed } },
    { type: 'call-answered', id: '1', result: { ok: false, why: 'callee-gone' } }
  ]
}
