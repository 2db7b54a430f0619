import t, { type Test } from 'tap'
import { SetupLock } from '../../../../lib/server/actions/account/setup-lock.ts'
import { type FailingBus, failingBus } from '../../../bus/failing-bus.ts'
import { type ManualClock, manualClock } from '../../../kit/manual-clock.ts'

const onError = (error: unknown) => t.error(error)

async function openLock(t: Test, bus: FailingBus, clock: ManualClock, name: string) {
  const lock = new SetupLock({ bus: bus.open({ onError }), clock, time: () => 1e12 + clock.now() }, name)
  await lock.open()
  t.teardown(() => lock.close())
  return lock
}

function countWrong(times: number, ...locks: SetupLock[]): void {
  for (let time = 0; time < times; time += 1) locks[time % locks.length]?.countWrong()
}

t.test('ten wrong codes lock all instances, wherever each was tried [A8] [M8]', async t => {
  const [bus, clock] = [failingBus(), manualClock()]
  const [here, there] = [await openLock(t, bus, clock, 'here'), await openLock(t, bus, clock, 'there')]
  for (let round = 0; round < 3; round += 1) {
    countWrong(9, here, there)
    t.same([here.lockedForS, there.lockedForS], [0, 0])
    countWrong(1, there)
    t.same([here.lockedForS, there.lockedForS], [60, 60])
    clock.advance(60_000)
  }
})

t.test('the instance that locks decides for those that counted fewer, and all begin again [A8] [M8]', async t => {
  const [bus, clock] = [failingBus(), manualClock()]
  const here = await openLock(t, bus, clock, 'here')
  countWrong(5, here)
  const late = await openLock(t, bus, clock, 'late')
  countWrong(5, here, late)
  t.same([here.lockedForS, late.lockedForS], [60, 60])
  clock.advance(60_000)
  countWrong(9, here)
  t.same([here.lockedForS, late.lockedForS], [0, 0])
  countWrong(1, late)
  t.same([here.lockedForS, late.lockedForS], [60, 60])
})

t.test('without the bus each instance locks by itself, and a lock that is told late lasts no longer [A8] [M8]', async t => {
  const [bus, clock] = [failingBus(), manualClock()]
  const [here, there] = [await openLock(t, bus, clock, 'here'), await openLock(t, bus, clock, 'there')]
  bus.hold()
  countWrong(10, here)
  t.same([here.lockedForS, there.lockedForS], [60, 0])
  countWrong(9, there)
  t.equal(there.lockedForS, 0)
  clock.advance(40_000)
  bus.release()
  t.same([here.lockedForS, there.lockedForS], [20, 20])
  clock.advance(20_000)
  t.same([here.lockedForS, there.lockedForS], [0, 0])
})
