import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import type { Check } from '../../contracts/check.ts'
import { newAccount, openFor, type StorePlace, sha256, signInAs, tokenDraft, tokenId } from './kit.ts'

export function signInContract(t: Check, place: StorePlace): void {
  t.test('a new key creates an account, and the same key finds it again', async t => {
    const store = await openFor(t, place)
    t.equal(await store.hasAccounts(), false)
    const first = await store.signIn(signInAs('ann', { now: 7 }))
    t.match(first, { result: 'signed-in', account: 'account-ann', created: true })
    t.match(await store.signIn(signInAs('ann', { newAccount: signInAs('other').newAccount })), { account: 'account-ann', created: false })
    t.equal(await store.hasAccounts(), true)
    t.equal(await store.accountCreatedAt(signInAs('ann').newAccount), 7)
    t.equal(await store.accountCreatedAt(signInAs('nobody').newAccount), 'missing')
  })

  t.test('a challenge works once, for any caller [A1]', async t => {
    const open = place(t)
    const ask = signInAs('ann')
    const store = await open()
    const both = await Promise.all([store.signIn(ask), store.signIn({ ...ask, token: () => tokenDraft() })])
    t.same(both.map(({ result }) => result).sort(), ['challenge-used', 'signed-in'])
    await store.close()

    const again = await open()
    t.teardown(() => again.close())
    const late = { ...ask, token: () => tokenDraft('account', 'late') }
    t.same(await again.signIn(late), { result: 'challenge-used' })
    t.equal(await again.findBearer(sha256('late')), 'missing')
  })

  t.test('after two thousand legacy challenges an account can only sign in with nonces [A1]', async t => {
    const store = await openFor(t, place)
    const many = await Promise.all(Array.from({ length: 2_001 }, () => store.signIn(signInAs('ann', { token: () => tokenDraft('named') }))))
    t.equal(many.filter(({ result }) => result === 'signed-in').length, 2_000)
    t.same(many.at(-1), { result: 'legacy-off' })
    t.match(await store.signIn(signInAs('ann', { fresh: true })), { result: 'signed-in', created: false })
    t.match(await store.signIn(signInAs('bob')), { result: 'signed-in' }, 'others are not held up')
  })

  t.test('an unknown key is rejected when no account may be created, and its challenge is used up anyway [A1] [A9]', async t => {
    const store = await openFor(t, place)
    const refused = signInAs('ann', { create: 'never', token: () => tokenDraft('account', 'refused') })
    t.same(await store.signIn(refused), { result: 'unknown-key' })
    t.equal(await store.hasAccounts(), false)
    t.equal(await store.findBearer(sha256('refused')), 'missing')
    t.same(await store.signIn({ ...refused, create: 'always' }), { result: 'challenge-used' })
    t.match(await store.signIn({ ...signInAs('ann'), create: 'always' }), { result: 'signed-in' })
  })

  t.test('only one of several simultaneous first accounts is created when only the first is allowed [A9]', async t => {
    const store = await openFor(t, place)
    const outcomes = await Promise.all(['ann', 'bob', 'eve'].map(name => store.signIn(signInAs(name, { create: 'if-first' }))))
    t.same(
      outcomes.map(({ result }) => result),
      ['signed-in', 'unknown-key', 'unknown-key']
    )
    t.match(await store.signIn(signInAs('ann', { create: 'if-first' })), { result: 'signed-in', created: false })
  })

  t.test('a token is found by its hash until it is revoked [A4]', async t => {
    const store = await openFor(t, place)
    const token = (account: AccountId) => ({ ...tokenDraft('named', 'token-1'), label: `of ${account}` })
    await store.signIn(signInAs('ann', { token }))
    const ann = signInAs('ann').newAccount
    t.same(await store.findBearer(sha256('token-1')), {
      account: ann,
      token: 'token-1',
      kind: 'named',
      scopes: ['read', 'write'],
      device: null,
      expiresAt: null,
      idleMs: null
    })
    t.equal(await store.findBearer(sha256('token-2')), 'missing')

    await store.markTokensUsed([
      { token: tokenId('token-1'), at: 9, from: '10.0.0' },
      { token: tokenId('token-1'), at: 5.5, from: '10.0.1' },
      { token: tokenId('gone'), at: 9, from: '10.0.0' }
    ])
    t.same(await store.listTokens(ann), [
      {
        id: 'token-1',
        label: `of ${ann}`,
        scopes: ['read', 'write'],
        createdAt: 1,
        lastUsedAt: 9,
        lastUsedFrom: '10.0.1',
        expiresAt: null
      }
    ])

    t.equal(await store.revokeToken(ann, tokenId('token-1')), 'revoked')
    t.equal(await store.revokeToken(ann, tokenId('token-1')), 'missing')
    t.equal(await store.findBearer(sha256('token-1')), 'missing')
    t.same(await store.listTokens(ann), [])
  })

  t.test('a member that throws stores nothing, and its neighbours are unaffected [D4]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const broken = signInAs('bob', {
      token: () => {
        throw new Error('no token')
      }
    })
    const [before, failed, after] = await Promise.allSettled([
      store.addPushToken(ann, { id: 'p1', token: 'before', now: 1 }),
      store.signIn(broken),
      store.addPushToken(ann, { id: 'p2', token: 'after', now: 2 })
    ])
    t.same([before.status, failed.status, after.status], ['fulfilled', 'rejected', 'fulfilled'])
    t.equal(await store.accountCreatedAt(broken.newAccount), 'missing')
    t.match(
      await store.signIn({ ...broken, token: () => tokenDraft() }),
      { result: 'signed-in', created: true },
      'its challenge was not spent'
    )
    t.same((await store.listPushTokens(ann)).map(({ token }) => token).sort(), ['after', 'before'])
  })
}
