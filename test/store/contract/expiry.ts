import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import { deviceIdleMs } from '../../../lib/store/access/tokens.ts'
import type { TokenDraft } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { deviceId, newAccount, openFor, type StorePlace, sha256, signInAs, tokenDraft } from './kit.ts'

export function expiryContract(t: Check, place: StorePlace): void {
  t.test('an expired token ends once, every instance hears of it, and other tokens stay [A4]', async t => {
    const { store, ann, signIn } = await withAnn(t, place)
    await signIn('short', { expiresAt: 100 })
    await signIn('long', { expiresAt: 101 })
    await store.addToken(ann, tokenDraft('named', 'program', 'a program', { expiresAt: 100 }))
    await store.addToken(ann, tokenDraft('named', 'endless'))
    t.same(await store.countExpired(99), { tokens: 0, devices: 0, pushTokens: 0 })
    t.same(await store.endExpiredTokens(99), [])
    t.match(await store.findBearer(sha256('short')), { account: ann, token: 'short' })
    t.same(await store.recentRevocations(), [])

    t.same(await store.countExpired(100), { tokens: 2, devices: 1, pushTokens: 0 })
    t.same((await store.endExpiredTokens(100)).toSorted(), ['program', 'short'])
    t.same((await store.recentRevocations()).toSorted(), ['program', 'short'])
    t.same(await store.endExpiredTokens(100), [])
    for (const id of ['short', 'program']) t.equal(await store.findBearer(sha256(id)), 'missing')
    for (const id of ['long', 'endless']) t.match(await store.findBearer(sha256(id)), { token: id })
    t.same(await devicesOf(store, ann), ['device of long', 'first'])
  })

  t.test('a device goes with the last of its tokens, and its push tokens with it', async t => {
    const { store, ann, signIn } = await withAnn(t, place)
    await signIn('phone', { expiresAt: 100 })
    await signIn('tablet', { expiresAt: 100, device: { id: deviceId('tablet'), publicKey: 'key of a tablet' } })
    await signIn('tablet again', { expiresAt: 200, device: { id: deviceId('unused'), publicKey: 'key of a tablet' } })
    for (const [id, device] of Object.entries({ one: 'device of phone', two: 'device of phone', three: 'tablet', four: 'first' }))
      await store.addPushToken(ann, { id, token: `token ${id}`, device: deviceId(device), now: 1 })
    t.same(await store.countExpired(100), { tokens: 2, devices: 1, pushTokens: 2 })
    await store.endExpiredTokens(100)
    t.same(await devicesOf(store, ann), ['first', 'tablet'])
    t.same((await store.listPushTokens(ann)).map(({ id }) => id).toSorted(), ['four', 'three'])
  })

  t.test('a device with a key of its own outlives its tokens, until it was not used for half a year', async t => {
    const { store, ann, signIn } = await withAnn(t, place)
    const device = { id: deviceId('tablet'), publicKey: 'key of a tablet' }
    await signIn('tablet', { createdAt: 10, expiresAt: 100, device })
    await store.addPushToken(ann, { id: 'p', token: 'expo', device: device.id, now: 1 })
    const end = 10 + deviceIdleMs
    await signIn('program', { expiresAt: end, device: null })
    await signIn('another', { expiresAt: end + 1, device: null })
    t.same(await store.countExpired(100), { tokens: 1, devices: 0, pushTokens: 0 })
    await store.endExpiredTokens(100)
    t.same(await devicesOf(store, ann), ['first', 'tablet'])
    t.same(await store.countExpired(end), { tokens: 1, devices: 0, pushTokens: 0 })
    await store.endExpiredTokens(end)
    t.same(await devicesOf(store, ann), ['first', 'tablet'])
    t.same(await store.countExpired(end + 1), { tokens: 1, devices: 1, pushTokens: 1 })
    await store.endExpiredTokens(end + 1)
    t.same(await devicesOf(store, ann), ['first'])
    t.same(await store.listPushTokens(ann), [])
  })
}

/** An account whose first device has a token that never expires. */
async function withAnn(t: Check, place: StorePlace) {
  const store = await openFor(t, place)
  await newAccount(store, 'eve')
  const ann = signInAs('ann').newAccount
  const signIn = async (id: string, more: Partial<TokenDraft> = {}) => {
    const token = () => tokenDraft(more.device === null ? 'named' : 'account', id, `a device of ${id}`, more)
    t.match(await store.signIn(signInAs('ann', { token })), { result: 'signed-in', account: ann })
  }
  await signIn('endless one', { device: { id: deviceId('first'), publicKey: null } })
  return { store, ann, signIn }
}

async function devicesOf(store: Store, account: AccountId): Promise<string[]> {
  return (await store.listDevices(account)).map(({ id }) => String(id)).toSorted()
}
