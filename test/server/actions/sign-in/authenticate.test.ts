import t, { type Test } from 'tap'
import { openLocalBus } from '../../../../lib/bus/local.ts'
import type { AccountId, TokenId } from '../../../../lib/protocol/wire/ids.ts'
import { hashToken } from '../../../../lib/server/actions/account/tokens.ts'
import { createAuthenticator } from '../../../../lib/server/actions/sign-in/authenticate.ts'
import { unlimited } from '../../../../lib/server/limits.ts'
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

t.test('the end waits until the last use of a token is written', async t => {
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
