import t, { type Test } from 'tap'
import { limitsTopic } from '../../lib/bus/bus.ts'
import { openLocalBus } from '../../lib/bus/local.ts'
import { createLimits, type LimitName, limits } from '../../lib/server/limits.ts'
import { shareLimits } from '../../lib/server/shared-limits.ts'
import { failingBus } from '../bus/failing-bus.ts'
import { manualClock } from '../kit/manual-clock.ts'

const tooMany = { name: 'Failure', code: 'too-many-requests' }
const onError = (error: unknown) => t.error(error)

/** The limits of so many instances on one bus, whose clocks start at different times and move together. */
async function startInstances(t: Test, count: number) {
  const bus = failingBus()
  const started = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const clock = manualClock()
      clock.advance(index * 1_000_000)
      const counted = createLimits({ clock })
      const time = () => 1e12 + clock.now() - index * 1_000_000
      const sharing = await shareLimits({ bus: bus.open({ onError }), clock, time, onError }, counted, `instance ${index}`)
      t.teardown(() => sharing.close())
      return { clock, counted, sharing }
    })
  )
  const pass = (ms: number) => {
    for (const { clock } of started) clock.advance(ms)
  }
  return { bus, pass, instances: started.map(({ counted }) => counted), started }
}

function use(counted: ReturnType<typeof createLimits>, name: LimitName, key: string, times: number): void {
  for (let time = 0; time < times; time += 1) counted.take(name, key)
}

for (const [name, { burst, perSecond }] of Object.entries(limits) as [LimitName, { burst: number; perSecond: number }][]) {
  t.test(`${name}: three instances together allow about as much as one [Q1] [M8]`, async t => {
    const { instances, pass } = await startInstances(t, 3)
    const part = Math.max(burst / 8, 1)
    const [ticks, tickMs] = [60, 200]
    let used = 0
    for (let tick = 0; tick < ticks; tick += 1) {
      for (const counted of instances) {
        try {
          counted.check(name, 'a')
        } catch {
          continue
        }
        counted.charge(name, 'a', part)
        used += part
      }
      pass(tickMs)
    }
    const allowed = burst + (perSecond * ticks * tickMs) / 1000
    t.ok(used > allowed * 0.8 - 1, `${used} of ${allowed}`)
    t.ok(used <= allowed + 3 * part, `${used} of ${allowed}, but for what was on its way`)
    for (const counted of instances) counted.check(name, 'b')
  })
}

t.test('what was used at one instance is available again at the others when it is there [Q1] [M8]', async t => {
  const { instances, pass } = await startInstances(t, 2)
  const [here, there] = instances as [(typeof instances)[number], (typeof instances)[number]]
  use(here, 'nonce', 'a', limits.nonce.burst)
  pass(200)
  t.throws(() => there.take('nonce', 'a'), { ...tooMany, retryAfterS: 1 })
  pass(1_000)
  use(there, 'nonce', 'a', 1)
  t.throws(() => there.take('nonce', 'a'), tooMany)
  pass(60_000)
  use(here, 'nonce', 'a', limits.nonce.burst)
})

t.test('steady use below a limit never adds up at another instance [Q1] [M8]', async t => {
  const { instances, pass } = await startInstances(t, 2)
  const [here, there] = instances as [(typeof instances)[number], (typeof instances)[number]]
  for (let round = 0; round < 600; round += 1) {
    // As much as grows again, in portions that are told each time.
    here.charge('api', 'a', limits.api.perSecond)
    pass(1_000)
  }
  t.ok(there.owedMs('api', 'a') <= 1_000, `${there.owedMs('api', 'a')} ms`)
  use(there, 'api', 'a', 500)
})

t.test('little is told to nobody, and one alone tells nothing [M8]', async t => {
  const { bus, started, instances, pass } = await startInstances(t, 2)
  const [here, there] = instances as [(typeof instances)[number], (typeof instances)[number]]
  let told = 0
  await bus.open({ onError }).subscribe(limitsTopic, () => {
    told += 1
  })
  for (let round = 0; round < 100; round += 1) {
    use(here, 'api', 'a', 3)
    pass(1_000)
  }
  t.equal(told, 0)
  use(here, 'api', 'a', 100)
  pass(1_000)
  t.equal(told, 1)
  pass(60_000)
  t.equal(told, 1)
  t.equal(there.owedMs('api', 'a'), 0)
  t.equal(started.length, 2)
})

t.test('the /48 of many IPv6 networks is counted over all instances too [Q1, A8] [M8]', async t => {
  const { instances, pass } = await startInstances(t, 2)
  const [here, there] = instances as [(typeof instances)[number], (typeof instances)[number]]
  const subnet = (number: number) => `2001:0db8:0001:${number.toString(16).padStart(4, '0')}`
  for (let number = 0; number < 16; number += 1) use(here, 'login', subnet(number), 20)
  pass(200)
  t.throws(() => there.take('login', subnet(100)), tooMany)
  there.take('login', '2001:0db8:0002:0000')
})

t.test('the others count on while the bus is away, and what arrives late has grown again [Q1] [M8]', async t => {
  const { bus, instances, pass } = await startInstances(t, 2)
  const [here, there] = instances as [(typeof instances)[number], (typeof instances)[number]]
  bus.hold()
  use(here, 'nonce', 'a', limits.nonce.burst)
  pass(200)
  use(there, 'nonce', 'a', 1)
  pass(30_000)
  bus.release()
  const owed = there.owedMs('nonce', 'a')
  t.ok(owed > 25_000 && owed < 35_000, `half of it: ${owed} ms`)
  bus.hold()
  use(here, 'nonce', 'b', limits.nonce.burst)
  pass(90_000)
  bus.release()
  t.equal(there.owedMs('nonce', 'b'), 0)
  use(here, 'nonce', 'a', limits.nonce.burst)
  pass(200)
  t.throws(() => there.take('nonce', 'a'), tooMany, 'and all is as before')
})

t.test('many keys are told in events of bounded size, the rest with the next [M8]', async t => {
  const { bus, instances, pass } = await startInstances(t, 2)
  const [here, there] = instances as [(typeof instances)[number], (typeof instances)[number]]
  let largest = 0
  await bus.open({ onError }).subscribe(limitsTopic, event => {
    largest = Math.max(largest, JSON.stringify(event).length)
  })
  for (let number = 0; number < 3_000; number += 1) use(here, 'login', `192.0.${number >> 8}.${number & 255}`, 20)
  pass(200)
  t.ok(there.tracked > 500 && there.tracked < 2_000, `${there.tracked} at once`)
  pass(600)
  t.equal(there.tracked, 3_000)
  t.ok(largest < 7_000, `${largest} bytes`)
})

t.test('a limit that this version does not have is left out, and the others count [L4] [M8]', async t => {
  const { bus, instances } = await startInstances(t, 1)
  const [here] = instances as [(typeof instances)[number]]
  const ms = 20 * 6_000
  const uses = [
    { limit: 'sighs', key: 'a', ms },
    { limit: 'constructor', key: 'a', ms },
    { limit: 'login', key: 'a', ms }
  ]
  bus.send(limitsTopic, JSON.stringify({ type: 'limits-used', instance: 'newer', at: 1e12, uses }))
  t.equal(here.tracked, 1)
  t.throws(() => here.take('login', 'a'), tooMany)
})

t.test('an instance without others has nothing to tell and no timer [M8]', async t => {
  const clock = manualClock()
  const bus = openLocalBus({ onError })
  t.equal(bus.isShared, false)
  const counted = createLimits({ clock })
  use(counted, 'login', 'a', 20)
  t.equal(clock.pending, 0)
})
