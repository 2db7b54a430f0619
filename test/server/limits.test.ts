import t from 'tap'
import { createLimits, isOfBytes, type LimitName, limits, limitsOf, mostBadTokens, mostTracked, Seats } from '../../lib/server/limits.ts'
import { manualClock } from '../kit/manual-clock.ts'

const tooMany = { name: 'Failure', code: 'too-many-requests' }

const { messageBytes: _, otherBytes: __, socketBytes: ___, socketAnswers: ____, ...counted } = limits

for (const [name, { burst, perSecond }] of Object.entries(counted) as [LimitName, { burst: number; perSecond: number }][]) {
  t.test(`${name}: ${burst} at once, and one more every ${(1 / perSecond).toFixed(3)} s [Q1, A8]`, async t => {
    const clock = manualClock()
    const counter = createLimits({ clock })
    for (let taken = 0; taken < burst; taken += 1) counter.take(name, 'a')
    t.throws(() => counter.take(name, 'a'), { ...tooMany, retryAfterS: Math.ceil(1 / perSecond) }, 'one too many')
    counter.take(name, 'b')

    clock.advance(1000 / perSecond - 1)
    if (perSecond < 100) t.throws(() => counter.take(name, 'a'), tooMany, 'a moment early')
    clock.advance(1)
    counter.take(name, 'a')
    t.throws(() => counter.take(name, 'a'), tooMany, 'what came back was one')

    clock.advance((10 * burst * 1000) / perSecond)
    for (let taken = 0; taken < burst; taken += 1) counter.take(name, 'a')
    t.throws(() => counter.take(name, 'a'), tooMany, 'time saved up is never more than the burst')
  })
}

t.test('a rejected attempt costs nothing: asking again does not prolong the wait [Q1]', async t => {
  const clock = manualClock()
  const counter = createLimits({ clock })
  for (let taken = 0; taken < limits.nonce.burst; taken += 1) counter.take('nonce', 'a')
  for (let asked = 0; asked < 1_000; asked += 1) t.throws(() => counter.take('nonce', 'a'), tooMany)
  clock.advance(1_000)
  t.doesNotThrow(() => counter.take('nonce', 'a'))
})

t.test('one large answer is allowed, and its excess cost delays the next [Q1]', async t => {
  const clock = manualClock()
  const counter = createLimits({ clock })
  counter.charge('messageBytes', 'a', limits.messageBytes.burst + 3 * limits.messageBytes.perSecond)
  t.throws(() => counter.check('messageBytes', 'a'), { ...tooMany, retryAfterS: 4 })
  clock.advance(3_001)
  t.doesNotThrow(() => counter.check('messageBytes', 'a'))
})

t.test('the number of tracked keys is bounded, and the least recently used is forgotten first [Q1]', async t => {
  const counter = createLimits({ clock: manualClock() })
  for (let taken = 0; taken < limits.newKey.burst; taken += 1) counter.take('newKey', 'first')
  for (let number = 0; number < mostTracked - 1; number += 1) counter.take('login', `${number}`)
  t.throws(() => counter.take('newKey', 'first'), tooMany, 'still known')
  counter.take('login', 'one more')
  t.equal(counter.tracked, mostTracked)
  t.doesNotThrow(() => counter.take('newKey', 'first'))
})

t.test("invalid tokens of one network, however many, evict no one's bucket [Q1]", async t => {
  const counter = createLimits({ clock: manualClock() })
  const exhaust = (name: LimitName, key: string) => {
    for (let taken = 0; taken < limits[name].burst; taken += 1) counter.take(name, key)
  }
  exhaust('newKey', 'first')
  exhaust('badToken', 'home stale')
  const before = counter.tracked
  for (let number = 0; number < 110_000; number += 1) counter.take('badToken', `attacker ${number}`)
  t.throws(() => counter.take('newKey', 'first'), tooMany, 'a bucket of another kind')
  t.throws(() => counter.take('badToken', 'home stale'), tooMany, 'a bad token of another network')
  t.equal(counter.tracked, before + mostBadTokens.ofNetwork, 'its own make room')
})

t.test('invalid tokens of many networks have a table of their own, which is bounded [Q1]', async t => {
  const counter = createLimits({ clock: manualClock() })
  for (let taken = 0; taken < limits.newKey.burst; taken += 1) counter.take('newKey', 'first')
  for (let number = 0; number < 110_000; number += 1) counter.take('badToken', `${number} token`)
  t.throws(() => counter.take('newKey', 'first'), tooMany)
  t.equal(counter.tracked, 1 + mostBadTokens.networks)
})

const ipv6 = (...groups: number[]) => groups.map(group => group.toString(16).padStart(4, '0')).join(':')

for (const [name, crowd] of [
  ['the /64s of a /48', (number: number) => ipv6(0x2001, 0xdb8, 7 + (number >> 16), number & 0xffff)],
  ['the /48s of a /32', (number: number) => ipv6(0x2001, 0xdb8, number & 0xffff, number >> 16)]
] as const) {
  t.test(`${name} evict no bucket of an account, a key or an address elsewhere [Q1]`, async t => {
    const counter = createLimits({ clock: manualClock() })
    const owners: [LimitName, string][] = [
      ['api', 'ada'],
      ['loginOfKey', 'ADA'],
      ['newKey', '192.0.2.1'],
      ['newKey', ipv6(0x2001, 0xdb9, 1, 1)]
    ]
    for (const [limit, key] of owners) for (let taken = 0; taken < limits[limit].burst; taken += 1) counter.take(limit, key)
    for (let number = 0; number < 110_000; number += 1) counter.charge('nonce', crowd(number), 1)
    for (const [limit, key] of owners) t.throws(() => counter.take(limit, key), tooMany, `${limit} of ${key}`)
    t.ok(counter.tracked <= mostTracked + 2, 'and there is an end to it')
  })
}

t.test('unknown keys evict no bucket of an account [Q1]', async t => {
  const counter = createLimits({ clock: manualClock() })
  for (let taken = 0; taken < limits.approval.burst; taken += 1) counter.take('approval', 'ada')
  for (let number = 0; number < 110_000; number += 1) counter.take('loginOfKey', `${number}`)
  t.throws(() => counter.take('approval', 'ada'), tooMany)
})

t.test('the /64s of one /48 share 16 times the limit of one [Q1, A8]', async t => {
  const clock = manualClock()
  const counter = createLimits({ clock })
  const most = 16 * limits.newKey.burst
  for (let number = 0; number < most; number += 1) counter.take('newKey', ipv6(0x2001, 0xdb8, 7, number))
  t.throws(() => counter.take('newKey', ipv6(0x2001, 0xdb8, 7, most)), { ...tooMany, retryAfterS: 225 })
  counter.take('newKey', ipv6(0x2001, 0xdb8, 8, 0))
  clock.advance(225_000)
  counter.take('newKey', ipv6(0x2001, 0xdb8, 7, most))
})

t.test('a released place can be used again', async t => {
  const seats = new Seats(2)
  t.ok(seats.take('a') && seats.take('a'))
  t.notOk(seats.take('a'))
  t.ok(seats.take('b'), 'each has its own')
  seats.leave('a')
  t.ok(seats.take('a'))
  t.notOk(seats.take('a'))
})

t.test('with a token the bytes of messages are limited, and those of everything else separately [Q1]', async t => {
  t.same((Object.keys(limits) as LimitName[]).filter(isOfBytes), ['messageBytes', 'otherBytes'])
  t.same(limitsOf('readMessages', true), ['messageBytes'])
  t.same(limitsOf('listSessions', true), ['api', 'otherBytes'])
  t.same(limitsOf('listSessions', false), [])
  t.same(limitsOf('signIn', false), ['login', 'everyLogin'])
  t.same(limitsOf('testNotification', true), ['pushTest', 'otherBytes'])
})
