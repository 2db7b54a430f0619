import t, { type Test } from 'tap'
import { revocationTopic } from '../../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../../lib/bus/local.ts'
import { failure } from '../../../../lib/protocol/wire/failures.ts'
import type { AccountId, TokenId } from '../../../../lib/protocol/wire/ids.ts'
import { everyScope, type Scope } from '../../../../lib/protocol/wire/scopes.ts'
import { hashToken } from '../../../../lib/server/actions/account/tokens.ts'
import { connectionRights, createAuthenticator, mustAllow } from '../../../../lib/server/actions/sign-in/authenticate.ts'
import { type LimitName, unlimited } from '../../../../lib/server/limits.ts'
import type { TokenMark } from '../../../../lib/store/access/tokens.ts'
import type { Bearer } from '../../../../lib/store/rows.ts'
import type { Store } from '../../../../lib/store/store.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const minute = 60_000
const idleMs = 60 * minute
const from = () => '10.0.0'

/** An authenticator on a store with one token, which ends when unused for an hour and was last used at `usedAt`. */
async function withToken(t: Test, { usedAt = 0, isCutOff = false, mayWrite = Promise.resolve() } = {}) {
  const clock = manualClock()
  const row: Bearer = {
    ...{ account: 'ada' as AccountId, token: 'one' as TokenId, kind: 'account', scopes: ['read'], device: null },
    ...{ expiresAt: usedAt + idleMs, idleMs }
  }
  const marks: TokenMark[] = []
  const store: Partial<Store> = {
    findBearer: async hash => (hash === hashToken('text') ? { ...row } : 'missing'),
    async markTokensUsed(given) {
      await mayWrite
      marks.push(...given)
      for (const { at } of given) row.expiresAt = Math.max(row.expiresAt ?? 0, at + idleMs)
    },
    recentRevocations: () => (isCutOff ? Promise.reject(new Error('cut off')) : Promise.resolve([]))
  }
  const { bearer, close } = await createAuthenticator({
    ...{ store: store as Store, bus: openLocalBus({ onError: t.error }), clock, time: clock.now },
    ...{ limits: unlimited, log: { info() {} }, mayRemove: () => false, onMissed() {} }
  })
  t.teardown(close)
  const passMinutes = (count: number) => clock.advance(count * minute)
  const turnEnds = () => new Promise(resolve => setImmediate(resolve))
  return { use: () => bearer('text', from), marks, passMinutes, turnEnds, close }
}

t.test('a token is marked as used once its last use is minutes ago, so not right after the sign-in that made it', async t => {
  const { use, marks, passMinutes, turnEnds } = await withToken(t, { usedAt: 20 * minute })
  passMinutes(20)
  await turnEnds()
  t.ok(await use())
  passMinutes(4)
  await turnEnds()
  t.ok(use())
  passMinutes(1)
  await turnEnds()
  t.same(marks, [])
  passMinutes(1)
  t.ok(use())
  passMinutes(1)
  await turnEnds()
  t.same(marks, [{ token: 'one', at: 26 * minute, from: '10.0.0' }])
})

t.test('a token whose expiry is beyond its idle time is marked at its first use', async t => {
  const { use, marks, passMinutes, turnEnds } = await withToken(t, { usedAt: 30 * minute })
  passMinutes(6)
  await turnEnds()
  t.ok(await use())
  passMinutes(1)
  await turnEnds()
  t.match(marks, [{ token: 'one', at: 6 * minute }])
})

t.test('a use that is not written yet keeps a token valid that is read from the store again', async t => {
  const { use, marks, passMinutes } = await withToken(t, { isCutOff: true })
  passMinutes(55)
  t.ok(await use(), 'with five minutes left')
  passMinutes(10)
  t.same(marks, [], 'the use is not written')
  t.ok(await use(), 'nothing cached counts any more')
  t.match(marks, [{ token: 'one', at: 55 * minute }])
  passMinutes(61)
  t.notOk(await use(), 'it was not used for an hour')
})

t.test('each use prolongs a known token that ends when unused', async t => {
  const { use, passMinutes, turnEnds } = await withToken(t)
  await use()
  for (let minutes = 1; minutes <= 120; minutes += 1) {
    passMinutes(1)
    await turnEnds()
    const bearer = use()
    t.match(bearer, { token: 'one' }, `known at once after ${minutes} minutes`)
  }
})

t.test('closing waits until the last use of a token is written', async t => {
  const { promise: mayWrite, resolve: write } = Promise.withResolvers<void>()
  const { use, marks, passMinutes, turnEnds, close } = await withToken(t, { usedAt: 20 * minute, mayWrite })
  passMinutes(26)
  await use()
  let isClosed = false
  const closing = close().then(() => {
    isClosed = true
  })
  await turnEnds()
  t.notOk(isClosed)
  write()
  await closing
  t.match(marks, [{ token: 'one' }])
})

/** An authenticator on a store whose tokens are the texts `token <number>`, and what it does. */
async function openWorld(t: Test, given: { expiresAt?: number | null; scopes?: readonly Scope[] } = {}) {
  const clock = manualClock()
  const bus = openLocalBus({ onError: error => t.error(error) })
  const happened: string[] = []
  const errors: unknown[] = []
  const known = new Map<string, Bearer>()
  const text = (number: number) => `token ${number}`
  const make = (number: number): TokenId => {
    const bearer: Bearer = {
      ...{ account: 'ada' as AccountId, token: `id ${number}` as TokenId, kind: 'named', device: null, idleMs: null },
      ...{ scopes: given.scopes ?? ['read'], expiresAt: given.expiresAt ?? null }
    }
    known.set(hashToken(text(number)), bearer)
    return bearer.token
  }
  const now = { ended: [] as TokenId[], isAway: false, mayRemove: false, expired: 0, beforeAnswer: async () => {} }
  const store: Partial<Store> = {
    async findBearer(hash) {
      happened.push('looked up')
      const bearer = known.get(hash)
      await now.beforeAnswer()
      return bearer ?? 'missing'
    },
    async markTokensUsed() {},
    async recentRevocations() {
      if (now.isAway) throw new Error('The store is away.')
      return now.ended
    },
    countExpired: async () => ({ tokens: now.expired, devices: 0, pushTokens: 0 }),
    async endExpiredTokens(at) {
      happened.push(`removed at ${at}`)
      return []
    }
  }
  const authenticator = await createAuthenticator(
    {
      ...{ store: store as Store, bus, clock, time: clock.now, mayRemove: () => now.mayRemove },
      limits: {
        ...unlimited,
        check: (limit: LimitName, key: string) => void happened.push(`checked ${limit} ${key}`),
        take: (limit: LimitName, key: string) => void happened.push(`took ${limit} ${key}`)
      },
      log: { info: (...said: unknown[]) => void happened.push(JSON.stringify(said)) },
      onMissed: () => void happened.push('missed')
    },
    error => errors.push(error)
  )
  t.teardown(() => authenticator.close())
  return {
    ...{ authenticator, bus, clock, errors, known, make, now, text },
    what: () => happened.splice(0),
    find: async (number: number) => authenticator.bearer(text(number), from),
    revoke: (token: TokenId) => bus.publish(revocationTopic, { type: 'token-revoked', token }),
    /** Lets the store's list of ended tokens be read, so many times. */
    async look(times = 1) {
      for (let time = 0; time < times; time += 1) {
        clock.advance(2_000)
        await new Promise(setImmediate)
      }
    }
  }
}

t.test('a valid token is looked up once, and then known at once', async t => {
  const { authenticator, make, text, what } = await openWorld(t)
  const token = make(1)
  const first = authenticator.bearer(text(1), from)
  t.type(first, Promise)
  t.match(await first, { account: 'ada', token, scopes: ['read'], expiresAt: null })
  t.same(what(), [`checked badToken 10.0.0 ${hashToken(text(1))}`, 'looked up'])
  t.match(authenticator.bearer(text(1)), { token })
  t.same(what(), [])
  await authenticator.bearer('unknown')
  t.match(what()[0], /^checked badToken {2}\w/, 'the network may be unknown')
})

t.test('an unknown token is rejected and counted for its network [Q1]', async t => {
  const { authenticator, what } = await openWorld(t)
  t.equal(await authenticator.bearer('unknown', from), undefined)
  const key = `badToken 10.0.0 ${hashToken('unknown')}`
  t.same(what(), [`checked ${key}`, 'looked up', `took ${key}`])
})

t.test('a text that is too long for a token is not looked up', async t => {
  const { authenticator, what } = await openWorld(t)
  t.equal(authenticator.bearer('x'.repeat(4097), from), undefined)
  t.same(what(), [])
  t.type(authenticator.bearer('x'.repeat(4096), from), Promise)
})

t.test('a token is rejected from the moment its revocation is heard [A4]', async t => {
  const { authenticator, find, known, make, revoke, text, what } = await openWorld(t)
  const [token, other] = [make(1), make(2)]
  await find(1)
  await find(2)
  what()
  t.equal(authenticator.isRevoked(token), false)
  known.delete(hashToken(text(1)))
  revoke(token)
  t.equal(authenticator.isRevoked(token), true)
  t.equal(await find(1), undefined)
  t.equal(what().length, 3, 'it was looked up')
  t.match(await find(2), { token: other })
  t.same(what(), [], 'the other one is still known')
})

t.test('a token that is revoked during its lookup is rejected, now and later [A4]', async t => {
  const { find, make, now, revoke, what } = await openWorld(t)
  const token = make(1)
  now.beforeAnswer = async () => revoke(token)
  t.equal(await find(1), undefined)
  now.beforeAnswer = async () => {}
  t.match(what().at(-1), /^took badToken/)
  t.equal(await find(1), undefined)
})

t.test('a token is rejected from the moment it expires, also where it is known', async t => {
  const { clock, find, known, make, text } = await openWorld(t, { expiresAt: 1_000 })
  make(1)
  t.ok(await find(1))
  clock.advance(999)
  t.ok(await find(1))
  clock.advance(1)
  t.equal(await find(1), undefined)
  const row = known.get(hashToken(text(1)))
  if (row) row.expiresAt = 2_000
  t.ok(await find(1), 'another instance has prolonged it')
})

t.test('tokens revoked elsewhere are read from the store, and announced here once [A4]', async t => {
  const { bus, find, known, look, make, now, text } = await openWorld(t)
  const token = make(1)
  const told: unknown[] = []
  await bus.subscribe(revocationTopic, event => told.push(event))
  await find(1)
  known.delete(hashToken(text(1)))
  now.ended = [token]
  await look(3)
  t.same(told, [{ type: 'token-revoked', token }])
  t.equal(await find(1), undefined)
})

t.test(
  'while the list of ended tokens cannot be read, each use is looked up, and afterwards all who are connected sign in again [A4]',
  async t => {
    const { errors, find, look, make, now, what } = await openWorld(t)
    make(1)
    await look()
    await find(1)
    now.isAway = true
    // Five minutes, since the list reaches back for ten.
    await look(149)
    what()
    t.ok(await find(1))
    t.same(what(), [], 'it is still known')
    t.equal(errors.length, 149)
    await look(2)
    t.ok(await find(1))
    t.ok(await find(1))
    t.equal(what().filter(each => each === 'looked up').length, 2, 'now it is looked up each time')
    now.isAway = false
    await look()
    t.same(what(), ['missed'])
    await look()
    t.same(what(), [], 'once')
    await find(1)
    what()
    await find(1)
    t.same(what(), [], 'and it is known again')
  }
)

t.test('expired tokens are removed where there are some and the clock is reliable', async t => {
  const { look, now, what } = await openWorld(t)
  now.expired = 3
  await look()
  t.same(what(), [])
  now.mayRemove = true
  await look()
  t.same(what(), ['[{"tokens":3,"devices":0,"pushTokens":0},"Removing what has expired"]', 'removed at 4000'])
  now.expired = 0
  await look()
  t.same(what(), [])
})

t.test('once closed, an authenticator hears, reads and reports nothing', async t => {
  const { authenticator, clock, errors, look, make, now, revoke } = await openWorld(t)
  const token = make(1)
  now.isAway = true
  clock.advance(2_000)
  await authenticator.close()
  await look()
  t.same(errors, [])
  t.equal(clock.pending, 0)
  revoke(token)
  t.equal(authenticator.isRevoked(token), false)
})

t.test('the number of remembered tokens is limited, and the oldest is forgotten first', async t => {
  const { find, make, what } = await openWorld(t)
  for (let number = 0; number < 20_000; number += 1) {
    make(number)
    await find(number)
  }
  what()
  await find(0)
  t.same(what(), [])
  make(20_000)
  await find(20_000)
  what()
  await find(1)
  t.same(what(), [])
  await find(0)
  t.equal(what().length, 2)
})

t.test('the number of remembered revocations is limited, and the newer half is kept', async t => {
  const { authenticator, revoke } = await openWorld(t)
  const id = (number: number) => `id ${number}` as TokenId
  for (let number = 0; number < 20_000; number += 1) revoke(id(number))
  t.equal(authenticator.isRevoked(id(0)), true)
  revoke(id(20_000))
  t.same(
    [9_999, 10_000, 20_000].map(number => authenticator.isRevoked(id(number))),
    [false, true, true]
  )
})

t.test('tokens with every permission share their list of them', async t => {
  const all = await openWorld(t, { scopes: [...everyScope] })
  all.make(1)
  t.equal((await all.find(1))?.scopes, everyScope)
  for (const scopes of [everyScope.slice(1), [...everyScope].reverse()]) {
    const some = await openWorld(t, { scopes })
    some.make(1)
    t.strictSame((await some.find(1))?.scopes, scopes)
  }
})

t.test('a token may do what its permissions say, and a connection with it too', async t => {
  t.doesNotThrow(() => mustAllow({ scopes: ['read', 'call'] }, 'call'))
  t.doesNotThrow(() => mustAllow({ scopes: [] }, 'any'))
  t.throws(() => mustAllow({ scopes: ['read'] }, 'write'), failure('scope-missing'))
  t.same(connectionRights({ scopes: ['read', 'call'] }), { mayListen: true, isPresent: false })
  t.same(connectionRights({ scopes: ['write', 'call'] }), { mayListen: false, isPresent: true })
})
