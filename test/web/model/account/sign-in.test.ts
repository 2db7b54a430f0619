import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { signIn as clientSignIn, createRest, cryptoReady } from '../../../../lib/client/index.ts'
import { toBase64 } from '../../../../lib/crypto/index.ts'
import { startServer } from '../../../kit/server.ts'
import { until } from '../../kit/device.ts'
import { pageGlobals } from '../../kit/page-globals.ts'
import { sessionRow } from '../../kit/session-row.ts'

const browser = { userAgent: '', origin: '', caches: ['app-1', 'app-2'], done: [] as string[] }
const page = pageGlobals(t, {
  location: {
    get origin() {
      return browser.origin
    },
    replace: (path: string) => browser.done.push(`open ${path}`)
  },
  navigator: {
    get userAgent() {
      return browser.userAgent
    },
    onLine: true,
    maxTouchPoints: 0,
    storage: {
      async persist() {
        browser.done.push('persist')
        throw new Error('never asks')
      }
    },
    serviceWorker: {
      getRegistration: async () => undefined,
      getRegistrations: async () => [{ unregister: async () => browser.done.push('unregister') }]
    }
  },
  caches: { keys: async () => browser.caches, delete: async (name: string) => browser.done.push(`delete ${name}`) },
  matchMedia: () => ({ matches: false }),
  isSecureContext: false,
  // A channel of the app stays open as long as its page.
  BroadcastChannel: class extends BroadcastChannel {
    constructor(name: string) {
      super(name)
      const { unref } = this as { unref?: () => void }
      unref?.call(this)
    }
  }
})
Object.assign(localStorage, { clear: () => page.kept.clear() })

const { connection } = await import('../../../../web/core/connection.ts')
const {
  account,
  askForKeyNextWeek,
  noteDeviceName,
  noteKeyChecked,
  noteKeyInFile,
  openAccount,
  remindOfKeyTomorrow,
  shouldCheckKey,
  shouldHomeAskForKey,
  signOut
} = await import('../../../../web/model/account/account.ts')
const { adoptAccount, createAccount, eraseDevice, guessDeviceName, restoreAccount } = await import(
  '../../../../web/model/account/sign-in.ts'
)
const { home, updateHome } = await import('../../../../web/model/home.ts')
const { deviceDb } = await import('../../../../web/core/device-db.ts')

t.before(async () => {
  await cryptoReady()
  await openAccount()
})

const dayMs = 24 * 3600_000
const stored = async () => Object(await (await deviceDb()).read('account'))

/** A device without an account, and a real server. */
async function start(t: Test, options: Parameters<typeof startServer>[1] = {}) {
  const server = await startServer(t, options)
  browser.origin = server.url
  t.teardown(signOut)
  browser.done.length = 0
  return server
}

/** An account that was handed over, on a server. */
async function startAdopted(t: Test) {
  const { url } = await start(t)
  const secret = new Uint8Array(32).fill(9)
  const { token } = await clientSignIn({ server: url, secret, fetch })
  return adoptAccount({ secret: toBase64(secret), token, deviceName: 'Phone' })
}

/** The devices that the server knows of this account, asked by another one. */
async function devicesOf(server: string, secret: string): Promise<string[]> {
  const { token } = await clientSignIn({ server, secret: Buffer.from(secret, 'base64'), fetch, deviceName: 'Laptop' })
  const { devices } = await createRest({ server, token, fetch }).call('listDevices', {})
  return devices.flatMap(({ name }) => (name === 'Laptop' ? [] : String(name)))
}

t.test('a new account is stored, signed in and connected, and leaves nothing behind when the device is erased', async t => {
  const { url } = await start(t)
  t.equal(await createAccount({ deviceName: 'Phone' }), undefined)
  const { secret, token, createdAt, keyCheckedAt, remindAt } = await stored()
  t.equal(Buffer.from(secret, 'base64').length, 32)
  t.match(token, /^afield1-/)
  t.ok(Math.abs(createdAt - Date.now()) < 60_000)
  t.same([keyCheckedAt, remindAt], [undefined, undefined], 'the person is asked to check the key')
  t.match(account.value, { type: 'here', secret, deviceName: 'Phone' })
  t.same(browser.done, ['persist'])
  await until(connection, ({ type }) => type === 'live')
  t.same(await devicesOf(url, secret), ['Phone'])

  page.kept.set('afield-theme', 'dark')
  await eraseDevice()
  t.equal(account.value.type, 'none')
  t.same([await (await deviceDb()).read('account'), page.kept.size], [undefined, 0])
  t.same(browser.done, ['persist', 'delete app-1', 'delete app-2', 'unregister', 'open /'])
  t.same(await devicesOf(url, secret), [], 'the server has ended the sign-in')
})

t.test('a key that the server has not accepted yet is stored before it is sent, and used again', async t => {
  const { setupCode } = await start(t, { signup: 'owner' })
  t.same(await createAccount({ deviceName: 'Phone' }), { type: 'needs-setup-code' })
  const { secret, token } = await stored()
  t.equal(token, undefined)
  t.same(browser.done, [])
  t.equal(await createAccount({ deviceName: 'Tablet', setupCode: setupCode?.code }), undefined)
  t.match(await stored(), { secret, token: String, deviceName: 'Tablet' })
})

t.test('an invite is needed where the server says so', async t => {
  const { setupCode } = await start(t, { signup: 'invite' })
  t.equal(await createAccount({ deviceName: 'Phone', setupCode: setupCode?.code }), undefined)
  await signOut()
  t.same(await createAccount({ deviceName: 'Phone' }), { type: 'needs-invite' })
  t.same(await createAccount({ deviceName: 'Phone', invite: 'never made' }), { type: 'needs-invite' })
})

t.test('a server that cannot be reached says so', async t => {
  await start(t)
  browser.origin = 'http://127.0.0.1:1'
  t.same(await restoreAccount({ secret: toBase64(new Uint8Array(32)), deviceName: 'Phone' }), { type: 'unreachable' })
  t.equal(account.value.type, 'none')
})

t.test('a key that was typed in counts as checked, and never replaces that of another account', async t => {
  await start(t)
  const secret = toBase64(new Uint8Array(32).fill(7))
  t.equal(await restoreAccount({ secret, deviceName: 'Phone' }), undefined)
  const { keyCheckedAt } = await stored()
  t.ok(Math.abs(keyCheckedAt - Date.now()) < 60_000)
  browser.done.length = 0
  t.same(await restoreAccount({ secret: toBase64(new Uint8Array(32).fill(8)), deviceName: 'Phone' }), { type: 'has-account' })
  t.match(await stored(), { secret })
  t.same(browser.done, [])
})

t.test('an account from another device is adopted, and its key asked for tomorrow', async t => {
  t.equal(await startAdopted(t), true)
  const { remindAt, createdAt, keyCheckedAt } = await stored()
  t.ok(Math.abs(remindAt - createdAt - dayMs) < 1000)
  t.ok(Math.abs(createdAt - Date.now()) < 60_000)
  t.equal(keyCheckedAt, undefined)
  t.equal(await adoptAccount({ secret: 'other', token: 't', deviceName: 'Phone' }), false)
})

t.test('the default name of a device is its browser and its system', async t => {
  const rows = [
    ['Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36', 'Chrome on Android'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1',
      'Safari on iPhone'
    ],
    ['Mozilla/5.0 (iPad; CPU OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Safari/604.1', 'Safari on iPad'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Mac'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0', 'Edge on Windows'],
    ['Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36', 'Chrome on ChromeOS'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux']
  ] as const
  for (const [agent, expected] of rows) {
    browser.userAgent = agent
    t.equal(guessDeviceName(), expected)
  }
})

t.test('a key is asked for after a day, on Home once a week, until the person has shown that they have it', async t => {
  await startAdopted(t)
  const asks = () => [shouldCheckKey.value, shouldHomeAskForKey.value]
  const near = (at: number, expected: number) => t.ok(Math.abs(at - expected) < 60_000)
  t.same(asks(), [false, false], 'it has just arrived')
  const db = await deviceDb()
  await db.change('account', kept => ({ ...Object(kept), remindAt: 5 }))
  await noteKeyInFile()
  t.same(asks(), [true, true])
  t.match(await stored(), { isKeyInFile: true })
  await askForKeyNextWeek()
  t.same(asks(), [true, false])
  near((await stored()).homeAsksAt, Date.now() + 7 * dayMs)
  await db.change('account', kept => ({ ...Object(kept), homeAsksAt: 5 }))
  await noteDeviceName('Tablet')
  t.same(asks(), [true, true])
  t.match(account.value, { deviceName: 'Tablet' })
  await remindOfKeyTomorrow()
  t.same(asks(), [false, false])
  near((await stored()).remindAt, Date.now() + dayMs)
  await db.change('account', kept => ({ ...Object(kept), remindAt: 5 }))
  await noteKeyChecked()
  t.same(asks(), [false, false])
  near((await stored()).keyCheckedAt, Date.now())
})

t.test('what another tab has seen, pinned or changed applies in this one too', async t => {
  await startAdopted(t)
  const other = new BroadcastChannel('afield')
  t.teardown(() => other.close())
  updateHome({ type: 'session', session: { ...sessionRow, id: 's1', seq: 9, metadata: undefined } })
  other.postMessage({ type: 'seen', id: 's1', seq: 7 })
  await until(home, ({ seenSeq }) => seenSeq.get('s1') === 7)
  other.postMessage({ type: 'pinned', ids: ['s1'], isPinned: true })
  await until(home, ({ pinned }) => pinned.has('s1'))
  const told: unknown[] = []
  other.onmessage = ({ data }: MessageEvent) => told.push(data)
  await (await deviceDb()).change('account', kept => ({ ...Object(kept), deviceName: 'Watch' }))
  other.postMessage({ type: 'account-changed' })
  await until(account, now => now.type === 'here' && now.deviceName === 'Watch')
  await noteDeviceName('Laptop')
  await new Promise(setImmediate)
  t.same(told, [{ type: 'account-changed' }], 'and the other tab hears of a change here')
})

t.test('a server that is gone is shown as silent, with the time of the next attempt', async t => {
  await startAdopted(t)
  t.intercept(console, 'error', { value() {} })
  browser.origin = 'not an address'
  await signOut()
  await adoptAccount({ secret: toBase64(new Uint8Array(32)), token: 't', deviceName: 'Phone' })
  const found = await until(connection, ({ type }) => type === 'silent')
  t.ok(found.type === 'silent' && found.nextTryAt !== undefined && Math.abs(found.nextTryAt - Date.now() - 5000) < 2000)
})

t.test('signing out ends the notifications of this device and empties the screen', async t => {
  await startAdopted(t)
  page.kept.set('afield-ringing', 'on')
  updateHome({ type: 'session', session: { ...sessionRow, id: 's1', metadata: undefined } })
  await signOut()
  t.equal(page.kept.has('afield-ringing'), false)
  t.equal(home.value.sessions.size, 0)
})
