import t, { type Test } from 'tap'
import { type BusEvent, limitsTopic } from '../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../lib/bus/local.ts'
import { accountId } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { answerSeatsWithinMs, SocketSeats } from '../../../lib/server/hub/socket-seats.ts'
import { mostSockets } from '../../../lib/server/limits.ts'
import { type FailingBus, failingBus } from '../../bus/failing-bus.ts'
import { type ManualClock, manualClock } from '../../kit/manual-clock.ts'

const ada = v.parse(accountId, 'ada')
const grace = v.parse(accountId, 'grace')
const onError = (error: unknown) => t.error(error)

/** What the clients of an account see of one instance: sockets that are open until they or the instance close them. */
class Instance {
  readonly seats: SocketSeats
  readonly open: (() => void)[] = []

  constructor(bus: FailingBus, clock: ManualClock, name: string) {
    this.seats = new SocketSeats({ bus: bus.open({ onError }), clock, onError }, name, mostSockets)
  }

  /** How many of so many sockets are accepted. */
  connect(count: number, account = ada): number {
    const before = this.open.length
    for (let number = 0; number < count; number += 1) {
      const close = () => {
        leave?.()
        const at = this.open.indexOf(close)
        if (at >= 0) this.open.splice(at, 1)
      }
      const leave = this.seats.take(account, close)
      if (leave) this.open.push(close)
    }
    return this.open.length - before
  }

  disconnect(count: number): void {
    for (const close of this.open.slice(0, count)) close()
  }
}

async function startInstances(t: Test, ...names: string[]) {
  const [bus, clock] = [failingBus(), manualClock()]
  const start = async (name: string) => {
    const instance = new Instance(bus, clock, name)
    await instance.seats.open()
    t.teardown(() => instance.seats.close())
    return instance
  }
  const instances: Instance[] = []
  for (const name of names) instances.push(await start(name))
  const [here, there, third] = instances as [Instance, Instance, Instance]
  return { bus, clock, start, here, there, third }
}

t.test('one instance tells and asks nobody [Q2] [M8]', async t => {
  const clock = manualClock()
  const seats = new SocketSeats({ bus: openLocalBus({ onError }), clock, onError }, 'one', 2)
  await seats.open()
  const first = seats.take(ada, () => {})
  t.type(
    seats.take(ada, () => {}),
    'function'
  )
  t.equal(
    seats.take(ada, () => {}),
    undefined
  )
  t.type(
    seats.take(grace, () => {}),
    'function',
    'each account has its own'
  )
  first?.()
  first?.()
  t.type(
    seats.take(ada, () => {}),
    'function'
  )
  t.equal(
    seats.take(ada, () => {}),
    undefined,
    'one that is released twice is free once'
  )
  t.equal(clock.pending, 0)
  await seats.close()
})

t.test('instances together allow as many sockets of an account as one [Q2] [M8]', async t => {
  const { clock, here, there, third } = await startInstances(t, 'a', 'b', 'c')
  t.equal(here.connect(30), 30)
  clock.advance(200)
  t.equal(there.connect(1), 1)
  clock.advance(400)
  t.equal(there.connect(40), 33)
  clock.advance(200)
  t.equal(here.connect(1), 0)
  t.equal(third.connect(1, grace), 1)
  t.equal(third.connect(1), 1, 'it knows nothing of this account yet')
  clock.advance(400)
  t.equal(third.connect(1), 0)
  here.disconnect(5)
  clock.advance(200)
  t.equal(there.connect(10), 4, 'those that closed are free, less the one too many')
})

t.test('what several instances accept at the same moment is closed again, down to as many as one allows [Q2] [M8]', async t => {
  const { clock, here, there, third } = await startInstances(t, 'a', 'b', 'c')
  for (const instance of [here, there, third]) instance.connect(mostSockets)
  const count = () => here.open.length + there.open.length + third.open.length
  t.equal(count(), 3 * mostSockets)
  clock.advance(200 + answerSeatsWithinMs)
  t.equal(count(), mostSockets)
  t.equal(here.open.length, mostSockets, 'two instances never close for each other')
  clock.advance(60_000)
  t.equal(count(), mostSockets)
})

t.test('the last that came are closed [Q2] [M8]', async t => {
  const { clock, here, there } = await startInstances(t, 'a', 'b')
  here.connect(40)
  there.connect(10)
  const first = there.open.slice()
  there.connect(30)
  clock.advance(200 + answerSeatsWithinMs)
  t.equal(there.open.length, 24)
  t.ok(first.every((close, index) => there.open[index] === close))
})

t.test("a dead instance's seats are free within seconds after somebody needs them [Q2] [M8]", async t => {
  const { bus, clock, here, there } = await startInstances(t, 'a', 'b')
  here.connect(1)
  there.connect(60)
  clock.advance(400)
  bus.disconnect(1)
  clock.advance(3_600_000)
  t.equal(here.connect(10), 3)
  clock.advance(200 + answerSeatsWithinMs)
  t.equal(here.connect(100), 60)
  t.equal(here.connect(1), 0, 'its own count')
})

t.test('an instance that is alive keeps its seats however often it is asked [Q2] [M8]', async t => {
  const { clock, here, there } = await startInstances(t, 'a', 'b')
  there.connect(60)
  here.connect(1)
  clock.advance(400)
  here.connect(3)
  for (let round = 0; round < 10; round += 1) {
    t.equal(here.connect(1), 0)
    clock.advance(1_000)
  }
  t.equal(here.open.length, 4)
})

t.test('no socket is closed for those of a dead instance [Q2] [M8]', async t => {
  const { bus, clock, here, there, third } = await startInstances(t, 'a', 'b', 'c')
  here.connect(40)
  third.connect(20)
  clock.advance(400)
  bus.disconnect(0)
  there.connect(30)
  clock.advance(60_000)
  t.equal(third.open.length, 20)
  t.equal(there.open.length, 30)
})

t.test('what an event was lost of is known again when somebody needs it [Q2] [M8]', async t => {
  const { bus, clock, here, there } = await startInstances(t, 'a', 'b')
  here.connect(1)
  there.connect(60)
  clock.advance(400)
  bus.hold()
  there.disconnect(40)
  clock.advance(200)
  bus.drop()
  t.equal(here.connect(10), 3)
  clock.advance(200 + answerSeatsWithinMs)
  t.equal(here.connect(100), 40)
})

t.test('an instance that closes gives its seats back at once [Q2] [M8]', async t => {
  const { clock, here, there } = await startInstances(t, 'a', 'b')
  here.connect(1)
  there.connect(60)
  clock.advance(400)
  there.disconnect(60)
  await there.seats.close()
  t.equal(here.connect(100), 63)
})

t.test('few sockets are told to nobody [M8]', async t => {
  const { bus, clock, here, there } = await startInstances(t, 'a', 'b')
  const told: string[] = []
  await bus.open({ onError }).subscribe(limitsTopic, ({ type }) => told.push(type))
  for (let round = 0; round < 20; round += 1) {
    here.connect(3)
    there.connect(3)
    clock.advance(200)
    here.disconnect(2)
    there.disconnect(2)
    clock.advance(200)
    here.disconnect(1)
    there.disconnect(1)
  }
  t.same([...new Set(told)], ['seats-asked'])
  here.connect(8)
  clock.advance(200)
  here.disconnect(8)
  clock.advance(200)
  t.same(told.slice(-2), ['seats-held', 'seats-held'])
})

/** One instance whose events are seen by another end of the bus, which can also speak for others. */
async function openOne(t: Test, most = 20) {
  const [bus, clock] = [failingBus(), manualClock()]
  const [end, other] = [bus.open({ onError }), bus.open({ onError })]
  const seats = new SocketSeats({ bus: end, clock, onError }, 'm', most)
  t.teardown(() => seats.close())
  await seats.open()
  const heard: BusEvent[] = []
  let spoken: BusEvent | undefined
  await other.subscribe(limitsTopic, event => event !== spoken && heard.push(event))
  const speak = (event: BusEvent) => {
    spoken = event
    other.publish(limitsTopic, event)
  }
  const said = (ms = 200) => {
    clock.advance(ms)
    return heard.splice(0)
  }
  const open: (() => void)[] = []
  const given: number[] = []
  const take = (count: number, account = ada) => {
    let seated = 0
    for (let number = 0; number < count; number += 1) {
      const leave = seats.take(account, () => given.push(number))
      if (!leave) continue
      open.push(leave)
      seated += 1
    }
    return seated
  }
  const hold = (instance: string, sockets: number) => speak({ type: 'seats-held', instance, seats: [{ account: ada, sockets }] })
  const ask = (instance: string, ...accounts: (typeof ada)[]) => speak({ type: 'seats-asked', instance, accounts })
  return { bus, clock, seats, said, take, open, given, hold, ask, heard }
}
const asked = (...accounts: string[]) => ({ type: 'seats-asked', instance: 'm', accounts })
const held = (sockets: number) => ({ type: 'seats-held', instance: 'm', seats: [{ account: 'ada', sockets }] })

t.test('an instance asks about an account with its first socket, and tells of it from the eighth on [M8]', async t => {
  const { said, take, open } = await openOne(t)
  take(1)
  t.strictSame(said(199), [])
  t.strictSame(said(1), [asked('ada')])
  take(6)
  t.strictSame(said(), [])
  take(1)
  t.strictSame(said(), [held(8)])
  t.strictSame(said(), [], 'once')
  take(1)
  t.strictSame(said(), [held(9)])
  open.pop()?.()
  open.pop()?.()
  t.strictSame(said(), [held(0)], 'below eight it counts as none')
})

t.test('the sockets of all instances together decide whether one tells of its own [M8]', async t => {
  const { said, take, hold, ask, open } = await openOne(t)
  take(3)
  said()
  hold('other', 4)
  t.strictSame(said(), [])
  hold('other', 5)
  t.strictSame(said(), [held(3)])
  for (const leave of open.splice(1)) leave()
  hold('other', 7)
  t.strictSame(said(), [held(1)])
  ask('other', ada)
  t.strictSame(said(), [held(1)], 'a single one may be the last')
  hold('other', 0)
  t.strictSame(said(), [held(0)])
})

t.test('an instance that is asked answers what it holds or what it said before, and nothing of accounts that it has not [M8]', async t => {
  const { said, take, ask, open } = await openOne(t)
  take(8)
  said()
  ask('other', grace)
  t.strictSame(said(), [])
  ask('m', ada)
  t.strictSame(said(), [], 'it does not answer itself')
  ask('other', ada)
  t.strictSame(said(), [held(8)])
  // It has said eight, and has fewer by the time it is asked.
  open.pop()?.()
  ask('other', ada)
  t.strictSame(said(), [held(0)])
  ask('other', ada)
  t.strictSame(said(), [])
})

t.test('sockets held elsewhere take seats, until that instance says less or does not answer [M8]', async t => {
  const { clock, said, take, hold } = await openOne(t)
  take(1)
  hold('other', 19)
  t.equal(take(1), 0)
  t.strictSame(said().at(-1), held(1))
  hold('other', 18)
  t.equal(take(2), 1)
  t.strictSame(said(), [held(2)], 'it has just answered')
  clock.advance(answerSeatsWithinMs)
  t.equal(take(1), 0)
  t.strictSame(said(), [asked('ada')], 'whether it still holds them is asked again')
  clock.advance(answerSeatsWithinMs)
  t.equal(take(30), 18, 'it has not answered, and its sockets count no longer')
})

t.test('of instances that took the last seats at once those close sockets whose id comes later, the newest first [M8]', async t => {
  const { clock, given, said, take, hold } = await openOne(t)
  t.equal(take(15), 15)
  said()
  hold('z', 20)
  hold('a', 7)
  clock.advance(answerSeatsWithinMs - 200)
  hold('a', 7)
  hold('z', 20)
  t.same(given, [])
  clock.advance(200)
  t.same(given, [13, 14])
})

t.test('an instance without limits tells and asks nobody [M8]', async t => {
  const { clock, bus, heard, seats, take, ask } = await openOne(t, Number.POSITIVE_INFINITY)
  t.equal(take(100), 100)
  ask('other', ada)
  t.equal(clock.pending, 0)
  t.equal(bus.listeners(limitsTopic), 1, 'the test itself')
  await seats.close()
  t.strictSame(heard, [])
})

t.test('an instance that closes says what is left, and leaves nothing behind [M8]', async t => {
  const { bus, clock, heard, seats, take, open } = await openOne(t)
  take(8)
  clock.advance(200)
  heard.length = 0
  for (const leave of open.splice(0)) leave()
  await seats.close()
  t.strictSame(heard, [held(0)])
  t.equal(clock.pending, 0)
  t.equal(bus.listeners(limitsTopic), 1)
})

t.test('sockets that closed before anything was told of them are told as none [M8]', async t => {
  const { said, take, open } = await openOne(t)
  take(8)
  for (const leave of open.splice(0)) leave()
  t.strictSame(said(), [asked('ada'), held(0)])
})

t.test('what is told of many accounts comes in events of at most 64 [M8]', async t => {
  const { said, take } = await openOne(t)
  for (let number = 0; number < 65; number += 1) take(8, v.parse(accountId, `account ${number}`))
  const events = said() as { type: string; accounts?: unknown[]; seats?: unknown[] }[]
  t.same(
    events.map(({ type, accounts, seats }) => [type, (accounts ?? seats)?.length]),
    [
      ['seats-asked', 64],
      ['seats-asked', 1],
      ['seats-held', 64],
      ['seats-held', 1]
    ]
  )
})
