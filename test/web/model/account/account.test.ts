import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { type DeviceDb, openDeviceDb } from '../../../../web/core/device-db.ts'
import { type Account, accountOfTab, type SignIn, type SignInEvents, type StoredAccount } from '../../../../web/model/account/account.ts'

const day = 24 * 3600_000
const renewal = { deviceSeed: 'seed', account: 'a', serverKeyId: 'k', expiresAt: day }
let devices = 0
const signedIn: SignIn = { secret: 'key', token: 't1', renewal, deviceName: 'Phone', createdAt: 1 }

t.test('messages from the server and other tabs never erase the account key, checked or not [H11]', async t => {
  for (const keyCheckedAt of [undefined, 5]) {
    const { openTab, kept, db } = await device(t, { ...signedIn, keyCheckedAt })
    await db.write('home', 'sessions')
    const [one, other] = [openTab(), openTab()]
    await Promise.all([one.isLive(), other.isLive()])
    one.events().onEnded()
    await Promise.all([one.is('unlinked'), other.is('unlinked')])
    other.events().onEnded()
    await Promise.all([one.settle(), other.settle()])
    t.match(await kept(), { secret: 'key', keyCheckedAt, unlinkedAt: Number })
    t.equal((await kept())?.token, undefined)
    t.equal(await db.read('home'), undefined, 'everything else is gone')
    t.same([one.links, other.links], [['closed'], ['closed']])
    await openTab().is('unlinked')
  }
})

t.test('signing out in one tab signs out all of them, and a late message changes nothing [H11]', async t => {
  const { openTab, kept } = await device(t, signedIn)
  const [one, other] = [openTab(), openTab()]
  await Promise.all([one.isLive(), other.isLive()])
  await one.signOut()
  await other.is('none')
  t.equal(await kept(), undefined)
  t.equal(await one.signIn({ ...signedIn, secret: 'new', token: 't9', renewal: { ...renewal, deviceSeed: 'other' } }), true)
  other.events().onEnded()
  await other.isLive()
  t.match(await kept(), { secret: 'new', token: 't9' })
})

t.test('the key of another account is never overwritten, by any path', async t => {
  const { openTab, kept } = await device(t, { ...signedIn, token: undefined, renewal: undefined, unlinkedAt: 5 })
  const tab = openTab()
  await tab.is('unlinked')
  t.equal(await tab.signIn({ ...signedIn, secret: 'other' }), false)
  t.match(await kept(), { secret: 'key' })
  t.match(await tab.keyToSignInWith({ ...signedIn, secret: 'fresh' }), { secret: 'key' })
  t.equal(await tab.signIn({ ...signedIn, token: 't2' }), true)
  await tab.isLive()
  t.match(await kept(), { secret: 'key', token: 't2' })
})

t.test('a change received while the link opens does not start a second one', async t => {
  const { openTab } = await device(t, signedIn, { opensAtOnce: false })
  const tab = openTab()
  await tab.opening()
  await Promise.all([tab.settle(), tab.settle(), openTab().note({ deviceName: 'Tablet' })])
  tab.open()
  await tab.isLive()
  t.same(tab.links, ['live'])
})

t.test('an account that is left while its link opens never goes live', async t => {
  const { openTab, kept } = await device(t, signedIn, { opensAtOnce: false })
  const tab = openTab()
  await tab.opening()
  const left = tab.signOut()
  tab.open()
  await left
  t.same(tab.links, ['closed'])
  t.equal(tab.live.value, undefined)
  t.equal(tab.account.value.type, 'none')
  t.equal(await kept(), undefined)
})

t.test('a renewal and a checked key do not overwrite each other in any order, in one tab or in two', async t => {
  const { openTab, kept } = await device(t, signedIn)
  const [one, other] = [openTab(), openTab()]
  await Promise.all([one.isLive(), other.isLive()])
  await Promise.all([
    one.events().onRenewed({ token: 't2', renewal: { ...renewal, expiresAt: 2 * day } }),
    one.note({ keyCheckedAt: 5 }),
    other.note({ deviceName: 'Tablet' }),
    other.note({ remindAt: 7 })
  ])
  await Promise.all([one.settle(), other.settle()])
  const all = { token: 't2', renewal: { expiresAt: 2 * day }, keyCheckedAt: 5, deviceName: 'Tablet', remindAt: 7 }
  t.match(await kept(), all)
  t.match(one.account.value, all)
  t.match(other.account.value, all)
  t.match(await one.events().latest(), { token: 't2' })
  t.same([one.links, other.links], [['live'], ['live']], 'and no link is reopened')
})

t.test('a late renewal does not restore a sign-in, and a late sign-out does not end a newer one', async t => {
  const { openTab, kept } = await device(t, signedIn)
  const tab = openTab()
  await tab.isLive()
  const old = tab.events()
  await tab.signOut()
  await old.onRenewed({ token: 't2', renewal })
  t.equal(await kept(), undefined)

  await tab.signIn({ ...signedIn, token: 't5', renewal: { ...renewal, deviceSeed: 'newer' } })
  await tab.isLive()
  old.onEnded()
  await old.onRenewed({ token: 't6', renewal })
  await tab.settle()
  t.match(await kept(), { token: 't5', renewal: { deviceSeed: 'newer' } })
  t.equal(await old.latest(), undefined)
  t.equal(tab.account.value.type, 'here')
})

t.test('a key that is signed in is never replaced, and one that no server ever accepted is', async t => {
  const { openTab, kept } = await device(t, signedIn)
  const tab = openTab()
  await tab.isLive()
  t.equal(await tab.signIn({ ...signedIn, secret: 'other' }), false)
  t.match(await kept(), { secret: 'key', token: 't1' })

  const unused = await device(t, { ...signedIn, token: undefined, renewal: undefined })
  const other = unused.openTab()
  await other.is('none')
  t.match(await other.keyToSignInWith({ ...signedIn, secret: 'fresh' }), { secret: 'key' }, 'a lost answer loses no account')
  t.equal(await other.signIn({ ...signedIn, secret: 'typed in' }), true)
  t.match(await unused.kept(), { secret: 'typed in' })
})

t.test('signing in again keeps what was noted of the key, and what ended is over', async t => {
  const { openTab, kept } = await device(t, {
    ...signedIn,
    token: undefined,
    renewal: undefined,
    unlinkedAt: 5,
    keyCheckedAt: 3,
    remindAt: 7
  })
  const tab = openTab()
  await tab.is('unlinked')
  await tab.signIn(signedIn)
  t.match(await kept(), { keyCheckedAt: 3, remindAt: 7, token: 't1', unlinkedAt: undefined })
  await tab.signIn({ ...signedIn, keyCheckedAt: 9 })
  t.match(await kept(), { keyCheckedAt: 9 })
})

t.test('a sign-in and a sign-out here reach the other tabs, and the screen has only what belongs to the account', async t => {
  const { openTab } = await device(t, { ...signedIn, token: undefined, renewal: undefined })
  const [one, other] = [openTab(), openTab()]
  await Promise.all([one.is('none'), other.is('none')])
  one.did.length = 0
  await one.signIn(signedIn)
  t.same([one.account.value.type, one.did], ['here', ['restore']])
  await Promise.all([one.isLive(), other.isLive()])
  const before = one.live.value
  one.events().onStartedOver()
  t.ok(one.live.value && one.live.value !== before, 'everything that uses the link reads again')
  one.did.length = 0
  await one.signOut()
  await other.is('none')
  t.same(one.did, ['end sign-in', 'clear', 'close', 'clear', 'forget lock'], 'nothing stays of what came until the link was closed')
  t.same([one.live.value, one.links, other.links], [undefined, ['closed'], ['closed']])
  one.did.length = 0
  await one.signOut()
  t.same(one.did, ['end sign-in without a link', 'clear', 'forget lock'])
})

t.test('another sign-in of the account has a link of its own', async t => {
  const { openTab } = await device(t, signedIn)
  const tab = openTab()
  await tab.isLive()
  await tab.signIn({ ...signedIn, token: 't2' })
  t.same(tab.links, ['live'], 'a renewed token is the same sign-in')
  await tab.signIn({ ...signedIn, renewal: { ...renewal, deviceSeed: 'newer' } })
  await tab.isLive()
  t.same(tab.links, ['closed', 'live'])
})

t.test('nothing is noted without an account, and what is noted is there when it resolves', async t => {
  const { openTab, kept } = await device(t, { ...signedIn, token: undefined, renewal: undefined, unlinkedAt: 5 })
  const tab = openTab()
  await tab.is('unlinked')
  await tab.note({ deviceName: 'Tablet' })
  t.match(await kept(), { deviceName: 'Phone' })
  await tab.signIn(signedIn)
  await tab.note({ deviceName: 'Tablet' })
  t.match(tab.account.value, { deviceName: 'Tablet' })
})

t.test('a browser that cannot store anything is reported', async t => {
  const tab = accountOfTab({
    ...partsOf(() => Promise.reject(new Error('no storage'))),
    tellTabs() {},
    loadLink: () => Promise.reject(new Error('no link'))
  })
  await tab.settle()
  t.equal(tab.account.value.type, 'no-storage')
})

/** A browser profile: its storage, and tabs that receive each other's messages. */
async function device(t: Test, account: StoredAccount, { opensAtOnce = true } = {}) {
  const name = `account-${devices++}`
  const db = await openDeviceDb(name)
  await db.write('account', account)
  return {
    db,
    kept: () => db.read('account') as Promise<StoredAccount | undefined>,
    openTab: () => openTab(t, name, opensAtOnce)
  }
}

function openTab(t: Test, name: string, opensAtOnce: boolean) {
  const channel = new BroadcastChannel(name)
  t.teardown(() => channel.close())
  const opening = Promise.withResolvers<void>()
  const mayOpen = Promise.withResolvers<void>()
  if (opensAtOnce) mayOpen.resolve()
  const links: ('opening' | 'live' | 'closed')[] = []
  let events: SignInEvents | undefined
  const opened = openDeviceDb(name)
  const did: string[] = []
  const tab = accountOfTab({
    ...partsOf(() => opened, did),
    tellTabs: () => channel.postMessage('look'),
    loadLink: async () => async (_signIn: SignIn, told: SignInEvents) => {
      const at = links.push('opening') - 1
      opening.resolve()
      await mayOpen.promise
      events = told
      links[at] = 'live'
      return {
        async close() {
          links[at] = 'closed'
          did.push('close')
        }
      }
    }
  })
  channel.onmessage = () => void tab.settle()
  void tab.settle()
  return {
    ...tab,
    ...{ links, did },
    opening: () => opening.promise,
    open: mayOpen.resolve,
    events() {
      if (!events) throw new Error('no link was opened')
      return events
    },
    isLive: () => until(tab.live, link => link !== undefined),
    is: (type: Account['type']) => until(tab.account, account => account.type === type)
  }
}

function partsOf(db: () => Promise<DeviceDb>, did: string[] = []) {
  return {
    db,
    onLinkFailed: (error: unknown) => {
      throw error
    },
    async endSignIn(link: object | undefined) {
      did.push(link ? 'end sign-in' : 'end sign-in without a link')
    },
    async restoreHome() {
      did.push('restore')
    },
    clearHome() {
      did.push('clear')
    },
    forgetLock() {
      did.push('forget lock')
    }
  }
}

function until<Value>(signal: { subscribe(listener: (value: Value) => void): () => void }, isSo: (value: Value) => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = signal.subscribe(value => isSo(value) && resolve())
  return promise.finally(stop)
}
