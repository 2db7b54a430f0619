import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import type { DeviceRow } from '../../../lib/store/access/devices.ts'
import { renewalGraceMs } from '../../../lib/store/access/tokens.ts'
import type { TokenDraft } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { deviceId, newAccount, openFor, type StorePlace, sha256, signInAs, tokenDraft, tokenId } from './kit.ts'

export function tokenContract(t: Check, place: StorePlace): void {
  t.test('a device is listed as it signed in and found again by its key; without one each sign-in is a new device', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await newAccount(store, 'bob')
    await store.removeDevice(ann, (await store.listDevices(ann))[0]?.id ?? deviceId('none'))
    t.match(await signIn(store, 'one', { id: 'phone', publicKey: 'key' }), { device: { id: 'phone', isNew: true } })
    t.match(await signIn(store, 'two', { id: 'another name', publicKey: 'key' }), { device: { id: 'phone', isNew: false } })
    const laptop = { kind: 'terminal', label: 'a laptop', createdAt: 7, from: '10.0.7' } as const
    t.match(await signIn(store, 'three', { id: 'laptop', publicKey: null }, laptop), { device: { id: 'laptop', isNew: true } })
    t.match(await signIn(store, 'four', { id: 'browser', publicKey: null }), { device: { id: 'browser', isNew: true } })
    t.match(
      await signIn(store, 'five', { id: 'a phone of bob', publicKey: 'key' }, { of: 'bob' }),
      { device: { id: 'a phone of bob', isNew: true } },
      'though another account has one with this key [I1]'
    )
    const seen = { kind: 'account', name: 'a phone', createdAt: 1, lastUsedAt: 1, lastUsedFrom: '10.0.0' }
    t.same(await store.listDevices(ann), [
      { id: 'laptop', kind: 'terminal', name: 'a laptop', renews: false, createdAt: 7, lastUsedAt: 7, lastUsedFrom: '10.0.7' },
      { id: 'browser', renews: false, ...seen },
      { id: 'phone', renews: true, ...seen }
    ])
    t.match(
      [await bearer(store, 'one'), await bearer(store, 'two'), await bearer(store, 'three')],
      [{ account: ann, kind: 'account', device: 'phone' }, { device: 'phone' }, { kind: 'terminal', device: 'laptop' }]
    )
    t.equal(await store.findDeviceOf(ann, tokenId('two')), 'phone')
    t.equal(await store.findDeviceOf(ann, tokenId('five')), 'missing')
    await store.addToken(ann, tokenDraft('named', 'mine'))
    t.equal(await store.findDeviceOf(ann, tokenId('mine')), 'none')
    t.equal(await store.renameDevice(ann, deviceId('phone'), 'my phone'), 'renamed')
    t.equal(await store.renameDevice(ann, deviceId('a phone of bob'), 'x'), 'missing')
    t.match(await store.listDevices(ann), [{ name: 'a laptop' }, { name: 'a phone' }, { name: 'my phone' }])
    t.match(await store.removeDevice(ann, deviceId('phone')), { tokens: { length: 2 } })
    t.equal(await bearer(store, 'two'), 'missing')
    t.match(await bearer(store, 'five'), { device: 'a phone of bob' })
  })

  t.test('where one device is allowed a new one replaces it, and a known one signs in again without replacing any', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await signIn(store, 'one', { id: 'phone', publicKey: 'key', most: 1 })
    t.same(
      (await store.listDevices(ann)).map(({ id }) => id),
      ['phone']
    )
    await signIn(store, 'two', { id: 'laptop', publicKey: 'its key' })
    await signIn(store, 'three', { id: 'phone', publicKey: 'key', most: 1 })
    t.same(
      (await store.listDevices(ann)).map(({ id }) => id),
      ['laptop', 'phone']
    )
  })

  t.test('a renewed token ends the others of its device a little later, except a previous one that is still young', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const half = renewalGraceMs / 2
    await signIn(store, 'first', { id: 'phone', publicKey: 'key' }, { createdAt: 0 })
    await signIn(store, 'elsewhere', { id: 'laptop', publicKey: 'its key' }, { createdAt: 0 })
    const renew = (id: string, now: number, more: object = {}) => {
      const token = ({ id: device, kind, name }: Pick<DeviceRow, 'id' | 'kind' | 'name'>): TokenDraft =>
        tokenDraft(kind, id, `${name} again`, {
          device: { id: device, publicKey: 'key' },
          createdAt: Math.floor(now)
        })
      return store.renewToken({ account: ann, deviceKey: 'key', nonceHash: sha256(`nonce of ${id}`), token, now, ...more })
    }
    const ends = async (...ids: string[]) =>
      Promise.all(
        ids.map(async id => {
          const found = await bearer(store, id)
          return found === 'missing' ? found : found.expiresAt
        })
      )
    t.same(await renew('second', half), { result: 'renewed', device: 'phone' })
    t.same(await ends('first', 'second'), [null, null])
    await renew('third', 4 * half + 0.5)
    t.same(await ends('first', 'second', 'third'), [6 * half, 6 * half, null])
    await renew('fourth', 4 * half + 2)
    t.same(await ends('first', 'second', 'third', 'fourth', 'elsewhere'), [6 * half, 6 * half, null, null, null])
    t.same(await renew('fifth', 9, { nonceHash: sha256('nonce of fourth') }), { result: 'nonce-used' })
    t.same(await renew('sixth', 9, { deviceKey: 'unknown' }), { result: 'unknown-device' })
    t.same(await ends('fifth', 'sixth'), ['missing', 'missing'])
    t.match(await bearer(store, 'fourth'), { device: 'phone', kind: 'account' })
    await signIn(store, 'seventh', { id: 'whatever', publicKey: 'key' }, { now: 9 * half, createdAt: 9 * half })
    t.same(await ends('third', 'fourth', 'seventh'), [11 * half, 11 * half, null], 'so does one of a sign-in with its key')
  })

  t.test('a use postpones the end of a token that may not be idle, and moves when and where its device was seen, never back', async t => {
    const store = await openFor(t, place)
    const [ann, bob] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    const phone = { id: 'phone', publicKey: 'key' }
    await signIn(store, 'one', phone, { expiresAt: 100, idleMs: 50 })
    await signIn(store, 'two', phone, { expiresAt: 70 })
    await signIn(store, 'three', { id: 'a phone of bob', publicKey: 'key' }, { of: 'bob', idleMs: 50 })
    const mark = (token: string, at: number, from: string) => ({ token: tokenId(token), at, from })
    await store.markTokensUsed([])
    await store.markTokensUsed([mark('unknown', 9, 'x')])
    await store.markTokensUsed([mark('one', 90.5, 'here'), mark('two', 80, 'there'), mark('three', 60, 'bobs'), mark('one', 30, 'last')])
    const seen = async (account: AccountId, id: string) => {
      const device = (await store.listDevices(account)).find(device => device.id === id)
      return [device?.lastUsedAt, device?.lastUsedFrom]
    }
    const ends = async () =>
      Promise.all(
        ['one', 'two', 'three'].map(async id => {
          const found = await bearer(store, id)
          return found === 'missing' ? found : found.expiresAt
        })
      )
    t.same(
      [await ends(), await seen(ann, 'phone'), await seen(bob, 'a phone of bob')],
      [
        [140, 70, null],
        [90, 'last'],
        [60, 'bobs']
      ]
    )
    await store.markTokensUsed([mark('one', 40, 'late')])
    t.same(
      [await ends(), await seen(ann, 'phone')],
      [
        [140, 70, null],
        [90, 'late']
      ]
    )
    t.same([await store.endExpiredTokens(139), await store.endExpiredTokens(140)], [['two'], ['one']])
  })

  t.test('named tokens are listed, newest first, and every instance hears of one that was revoked', async t => {
    const store = await openFor(t, place)
    const [ann, bob] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    for (const id of ['one', 'two']) await store.addToken(ann, tokenDraft('named', id, id, { expiresAt: 9 }))
    t.match(await store.listTokens(ann), [{ id: 'two', label: 'two', expiresAt: 9 }, { id: 'one' }])
    t.same(await store.listTokens(bob), [])
    t.equal(await store.revokeToken(bob, tokenId('one')), 'missing')
    t.same(await store.recentRevocations(), [])
    t.equal(await store.revokeToken(ann, tokenId('one')), 'revoked')
    t.same(await store.recentRevocations(), ['one'])
    t.match(await store.listTokens(ann), [{ id: 'two' }])
  })

  t.test('sign-ins with a challenge of the client can be off, allowed once, or held after a restore [A1]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const nobody = signInAs('nobody').newAccount
    const result = async (more: object = {}) => (await store.signIn(signInAs('ann', { now: 50, ...more }))).result
    t.equal(await store.readLegacyLogin(ann), 'on')
    t.equal(await store.setLegacyLogin(ann, 'once'), 'set')
    t.same([await result({ fresh: true }), await store.readLegacyLogin(ann)], ['signed-in', 'once'])
    t.same([await result(), await store.readLegacyLogin(ann)], ['signed-in', 'off'])
    t.same([await result(), await result({ fresh: true })], ['legacy-off', 'signed-in'])
    await store.setLegacyLogin(ann, 'on')
    await store.holdLegacyLogins(60.9)
    await store.holdLegacyLogins(40)
    t.same(
      [await result(), await result({ now: 59.9 }), await result({ fresh: true }), await result({ now: 60 })],
      ['held', 'held', 'signed-in', 'signed-in']
    )
    t.same([await store.readLegacyLogin(nobody), await store.setLegacyLogin(nobody, 'off')], ['missing', 'missing'])
  })
}

interface Device {
  id: string
  publicKey: string | null
  most?: number
}

/** Signs in with a token of this name, of a device. */
function signIn(
  store: Store,
  id: string,
  { id: device, publicKey, most }: Device,
  more: Partial<TokenDraft> & { of?: string; now?: number } = {}
) {
  const { of = 'ann', now = 1, ...token } = more
  return store.signIn(
    signInAs(of, {
      now,
      token: () => tokenDraft('account', id, 'a phone', { device: { id: deviceId(device), publicKey, most }, ...token })
    })
  )
}

function bearer(store: Store, token: string) {
  return store.findBearer(sha256(token))
}
