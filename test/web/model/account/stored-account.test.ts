import t from 'tap'
import {
  isKept,
  isSameSignIn,
  isSignedIn,
  keptTokens,
  type SignIn,
  type StoredAccount
} from '../../../../web/model/account/stored-account.ts'
import { memoryDb } from '../../kit/device.ts'

const renewal = { deviceSeed: 'seed', account: 'a', serverKeyId: 'k', expiresAt: 1 }
const signedIn: SignIn = { secret: 'key', token: 't1', renewal, deviceName: 'Phone', createdAt: 1 }
const unlinked: StoredAccount = { secret: 'key', deviceName: 'Phone', createdAt: 1, unlinkedAt: 5 }

t.test('what is stored counts as an account with a key, and as a sign-in with a token', async t => {
  const rows: [unknown, boolean, boolean][] = [
    [undefined, false, false],
    [null, false, false],
    ['key', false, false],
    [{}, false, false],
    [{ secret: 7, token: 't1' }, false, false],
    [{ token: 't1' }, false, false],
    [unlinked, true, false],
    [signedIn, true, true]
  ]
  for (const [kept, isAccount, isSignIn] of rows) t.same([isKept(kept), isSignedIn(kept)], [isAccount, isSignIn], JSON.stringify(kept))
})

t.test('a renewed token is the same sign-in; another key, device or unrenewable token is another one', async t => {
  const bare = { ...signedIn, renewal: undefined }
  const rows: [StoredAccount, StoredAccount, boolean][] = [
    [signedIn, { ...signedIn, token: 't2', renewal: { ...renewal, expiresAt: 9 } }, true],
    [signedIn, { ...signedIn, deviceName: 'Tablet', keyCheckedAt: 3 }, true],
    [signedIn, { ...signedIn, secret: 'other' }, false],
    [signedIn, { ...signedIn, renewal: { ...renewal, deviceSeed: 'other' } }, false],
    [signedIn, bare, false],
    [bare, signedIn, false],
    [bare, { ...bare, deviceName: 'Tablet' }, true],
    [bare, { ...bare, token: 't2' }, false]
  ]
  for (const [one, other, expected] of rows) t.equal(isSameSignIn(one, other), expected, JSON.stringify(other))
})

/** Tokens of a sign-in on a device that has this stored. */
async function tokens(kept: unknown) {
  const db = memoryDb()
  if (kept !== undefined) await db.write('account', kept)
  const changed: unknown[] = []
  const change = async (name: string, next: (kept: unknown) => unknown) => {
    const after = next(await db.read(name))
    if (after !== undefined) await db.write(name, after)
    return after
  }
  const of = keptTokens(
    async () => ({ ...db, change }),
    signedIn,
    () => void db.read('account').then(now => changed.push(now))
  )
  return { ...of, changed, stored: () => db.read('account') }
}

t.test('the token that another tab renewed is used; that of another sign-in is not', async t => {
  const later = { ...renewal, expiresAt: 9 }
  const there = await tokens({ ...signedIn, token: 't2', renewal: later })
  t.same(await there.latest(), { token: 't2', renewal: later })
  for (const kept of [undefined, unlinked, { ...signedIn, secret: 'other' }]) t.equal(await (await tokens(kept)).latest(), undefined)
})

t.test('a renewed token is stored with the rest of the account before others are told, and never over another sign-in', async t => {
  const later = { ...renewal, expiresAt: 9 }
  const here = await tokens({ ...signedIn, keyCheckedAt: 3 })
  await here.onRenewed({ token: 't2', renewal: later })
  const expected = { ...signedIn, keyCheckedAt: 3, token: 't2', renewal: later }
  t.same(await here.stored(), expected)
  t.same(here.changed, [expected])
  for (const kept of [undefined, unlinked, { ...signedIn, secret: 'other' }]) {
    const other = await tokens(kept)
    await other.onRenewed({ token: 't2', renewal: later })
    t.same(await other.stored(), kept)
  }
})
