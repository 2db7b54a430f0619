import t, { type Test } from 'tap'
import { limitsTopic } from '../../../lib/bus/bus.ts'
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
