import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { accountVault, cryptoReady } from '../../../../lib/client/index.ts'
import { sealPreview } from '../../../../lib/client/sealed/previews.ts'
import type { NoticePreview } from '../../../../lib/protocol/sealed/preview.ts'
import { listenForPush } from '../../../../web/app/worker/push.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { changeWorkerSettings } from '../../../../web/model/notifications/worker-settings.ts'
import { push as words } from '../../../../web/words/push.ts'
import { push as chinese } from '../../../../web/words/zh/push.ts'
import { permission, question } from './asks.ts'

await cryptoReady()
const secret = new Uint8Array(32).fill(7)
const key = accountVault(secret).newKey()
const account = { secret: Buffer.from(secret).toString('base64'), token: 't1', deviceName: 'Phone', createdAt: 1 }
const db = await deviceDb()

const chrome = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36'
const chromium = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chromium/140.0 Safari/537.36'
const safari = 'Mozilla/5.0 AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15'
const firefox = 'Mozilla/5.0 Gecko/20100101 Firefox/145.0'

interface World {
  readonly signedIn?: object | null
  readonly settings?: Parameters<typeof changeWorkerSettings>[1]
  readonly userAgent?: string
  readonly maxActions?: number | undefined
  readonly takesText?: boolean
  /** A visible page of the app is open. */
  readonly hasPage?: boolean
  readonly hasSync?: boolean
  /** What the server answers. */
  readonly answer?: (token: string) => Promise<number> | number
}

interface Shown {
  readonly title: string
  readonly options: NotificationOptions & { renotify?: boolean; actions?: { action: string; title: string }[] }
}

type Listener = (event: object) => void

/** A browser with the worker, the storage of the device, and the server. */
async function world(t: Test, given: World = {}) {
  const { signedIn = account, settings = { isLocked: false }, userAgent = chrome, maxActions = 3, takesText = false } = given
  await db.erase()
  if (signedIn) await db.write('account', signedIn)
  await changeWorkerSettings(db, settings)

  const state = { answer: given.answer ?? (() => 200) }
  const asked: string[] = []
  const shown: Shown[] = []
  const there: (Shown['options'] & { title: string; close(): void })[] = []
  const acts: unknown[] = []
  const globals = {
    navigator: { userAgent, onLine: true },
    location: { origin: 'https://home.example' },
    Notification: class {
      static readonly maxActions = maxActions
      constructor(_: string, { actions: [button] }: { actions: [{ type: string }] }) {
        if (takesText) String(button.type)
        throw new TypeError('Illegal constructor')
      }
    },
    async fetch(url: string, { method, headers, body }: { method: string; headers: Record<string, string>; body?: string }) {
      const { origin, pathname } = new URL(url)
      const status = await state.answer(headers['authorization'] ?? '')
      asked.push(`${method} ${origin}${pathname} ${headers['authorization']} ${status}${body === undefined ? '' : ` ${body}`}`)
      const says = pathname.endsWith('key') ? { key: 'BAAA' } : { success: true }
      return new Response(JSON.stringify(status === 200 ? says : { error: 'no' }), { status })
    }
  }
  for (const [name, value] of Object.entries(globals)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name)
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
    t.teardown(() => (before ? Object.defineProperty(globalThis, name, before) : Reflect.deleteProperty(globalThis, name)))
  }

  const listeners = new Map<string, Listener>()
  const registration = {
    getNotifications: async ({ tag }: { tag?: string }) => there.filter(each => tag === undefined || each.tag === tag),
    async showNotification(title: string, options: Shown['options']) {
      shown.push({ title, options })
      const each = { ...options, title, close: () => void there.splice(there.indexOf(each), 1) }
      there.splice(0, there.length, ...there.filter(({ tag }) => tag !== options.tag), each)
    },
    ...(given.hasSync !== false && { sync: { register: async (tag: string) => void acts.push(`sync ${tag}`) } }),
    pushManager: {
      getSubscription: async () => null,
      subscribe: async () => ({ toJSON: () => ({ endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } }) })
    }
  }
  const page = {
    visibilityState: 'visible',
    focus: async () => {},
    postMessage(message: unknown, [port]: [MessagePort]) {
      acts.push(message)
      port.postMessage('taken')
    }
  }
  const worker = {
    registration,
    clients: { matchAll: async () => (given.hasPage ? [page] : []), openWindow: async (path: string) => void acts.push(`open ${path}`) },
    addEventListener: (name: string, listener: Listener) => listeners.set(name, listener)
  }
  // Only the members that are used.
  listenForPush(worker as unknown as ServiceWorkerGlobalScope)

  async function tell(name: string, event: object = {}): Promise<void> {
    let work: Promise<unknown> | undefined
    listeners.get(name)?.({ ...event, waitUntil: (done: Promise<unknown>) => (work = done) })
    if (!work) throw new Error(`${name} is not waited for`)
    await work
  }
  return {
    ...{ asked, shown, there, acts, state, tell },
    push: (payload?: object) => tell('push', { data: payload && { json: () => ({ web_push: 8030, notification: payload }) } }),
    async tap(action: string, notification: object | undefined = there[0], reply?: string) {
      await tell('notificationclick', { notification, action, reply })
    }
  }
}

type Asks = NonNullable<NoticePreview['asks']>

function notice(asks: Asks = permission, more: object = {}) {
  const sealed = sealPreview(key, { session: 's1', notice: 'n1' }, { title: 'Pears', asks })
  const data = { notice: 'n1', kind: 'permission', session: 's1', receipt: 'r1', preview: sealed, ...more }
  return { title: 'Your agent needs a decision', body: 'Open the app to decide.', tag: 's1', silent: false, data }
}

const fixed = ['Your agent needs a decision', 'Open the app to decide.']
const says = ({ shown }: { shown: Shown[] }) => shown.map(({ title, options }) => [title, options.body])
const buttons = ({ shown }: { shown: Shown[] }) => shown.at(-1)?.options.actions?.map(({ title }) => title)
const receipt = (id: string, status = 200) => `POST https://home.example/v1/push-receipts Bearer t1 ${status} {"receipt":"${id}"}`

t.test('a push shows what the device can decrypt, and its arrival is reported', async t => {
  const browser = await world(t)
  await browser.push(notice())
  t.same(says(browser), [[words.about(words.asks.execute, 'Pears'), 'npm test']])
  t.same(buttons(browser), [words.open, words.deny, words.snooze])
  t.same(browser.asked, [receipt('r1')])
  t.same(browser.acts, [], 'no page is asked, and nothing is left to do')
})

t.test('what cannot, or may not, be decrypted shows the fixed text', async t => {
  const rows: [string, World, ReturnType<typeof notice>, string[]][] = [
    ['locked', { settings: {} }, notice(), [words.open, words.snooze]],
    ['signed out', { signedIn: null }, notice(), [words.open, words.snooze]],
    ['an account whose sign-in ended', { signedIn: { ...account, token: undefined } }, notice(), [words.open, words.snooze]],
    ['a damaged key', { signedIn: { ...account, secret: 'c2hvcnQ=' } }, notice(), [words.open, words.deny, words.snooze]],
    ['no preview', {}, notice(permission, { preview: undefined }), [words.open, words.deny, words.snooze]],
    ['no session', {}, notice(permission, { session: undefined }), [words.open, words.deny, words.snooze]],
    ['the preview of another session', {}, notice(permission, { session: 's2' }), [words.open, words.deny, words.snooze]],
    ['the preview of another notice', {}, notice(permission, { notice: 'n2' }), [words.open, words.deny, words.snooze]]
  ]
  for (const [what, given, payload, actions] of rows) {
    const browser = await world(t, given)
    await browser.push(payload)
    t.same(says(browser), [fixed], what)
    t.same(buttons(browser), actions, what)
  }
})

t.test('a push is shown after three seconds at the latest, even if the storage hangs', async t => {
  const browser = await world(t)
  t.intercept(db, 'read', { value: () => new Promise(() => {}) })
  const { setTimeout } = globalThis
  const waits: number[] = []
  t.intercept(globalThis, 'setTimeout', {
    value(run: () => void, ms = 0) {
      if (ms < 1_000) return setTimeout(run, ms)
      waits.push(ms)
      return setImmediate(run)
    }
  })
  void browser.push(notice())
  while (browser.shown.length === 0) await new Promise(setImmediate)
  t.same(says(browser), [fixed])
  t.equal(waits[0], 3_000)
})

t.test('an unreadable push shows something, and reports nothing', async t => {
  const browser = await world(t, { settings: { isLocked: false, language: 'zh' } })
  await browser.push()
  t.same(says(browser), [['Afield', chinese.unreadable]])
  t.same(browser.asked, [])
})

t.test('the buttons follow the settings, and what the browser can show', async t => {
  const rows: [World, Asks, string[]][] = [
    [{ settings: { isLocked: false, mayAllow: true } }, permission, [words.allow, words.deny, words.snooze]],
    [{ maxActions: 2 }, permission, [words.open, words.deny]],
    [{ maxActions: 0 }, permission, []],
    [{}, question, [words.open, words.snooze]],
    [{ takesText: true }, question, [words.reply, words.open, words.snooze]],
    [{ settings: { isLocked: false, language: 'zh' } }, permission, [chinese.open, chinese.deny, chinese.snooze]]
  ]
  for (const [given, asks, titles] of rows) {
    const browser = await world(t, given)
    await browser.push(notice(asks))
    t.same(buttons(browser), titles, JSON.stringify(given))
  }
})

t.test('a notice sent again alerts once, and a new one alerts again', async t => {
  const browser = await world(t)
  for (const more of [{}, {}, { notice: 'n2' }]) await browser.push(notice(permission, more))
  t.same(
    browser.shown.map(({ options }) => [options.renotify, options.silent]),
    [
      [true, false],
      [false, false],
      [true, false]
    ]
  )
  t.equal(browser.there.length, 1)
})

t.test('a notice that was answered here and is sent again leaves the outcome on screen', async t => {
  const browser = await world(t)
  const outcome = { body: words.applied.deny, tag: 's1', icon: '/icon-192.png', data: { path: '/s/s1', answered: 'n1' } }
  browser.there.push({ title: 'Pears', ...outcome, close: () => {} })
  await browser.push(notice())
  t.strictSame(browser.shown, [{ title: 'Pears', options: { ...outcome, badge: '/badge-96.png', silent: true } }])
  await browser.push(notice(permission, { notice: 'n2' }))
  t.same(says(browser).slice(1), [fixed], 'another notice replaces it')
})

t.test('a visible page shows it in place of a notification', async t => {
  for (const userAgent of [chrome, chromium, firefox]) {
    const browser = await world(t, { hasPage: true, userAgent })
    await browser.push({ ...notice(), silent: true })
    const [title, body] = [words.about(words.asks.execute, 'Pears'), 'npm test']
    t.strictSame(browser.acts, [{ type: 'alert', title, body, path: '/s/s1', isSilent: true }])
    t.same(browser.shown, [])
    t.same(browser.asked, [receipt('r1')])
  }
})

t.test('WebKit, which wants every push shown, shows it without a sound and closes it at once', async t => {
  const browser = await world(t, { hasPage: true, userAgent: safari })
  const other = { title: 'Other', tag: 's2', data: null, close: () => t.fail('not this one') }
  browser.there.push(other)
  await browser.push(notice())
  t.match(browser.acts, [{ type: 'alert', isSilent: false }])
  t.match(browser.shown, [{ options: { silent: true, renotify: false } }])
  t.same(browser.there, [other])
  await browser.push()
  t.same(browser.shown.at(-1)?.title, 'Afield')
  t.same(browser.there, [other], 'also one that could not be read')
})

t.test('a test is shown even over the visible app', async t => {
  const browser = await world(t, { hasPage: true })
  await browser.push(notice(permission, { kind: 'test', preview: undefined, session: undefined }))
  t.same(browser.acts, [])
  t.same(says(browser), [fixed])
  t.equal(browser.there.length, 1)
})

t.test('an arrival that could not be reported is reported once the device is online', async t => {
  const browser = await world(t, { answer: () => 500 })
  await browser.push(notice())
  t.same([browser.asked, browser.acts], [[receipt('r1', 500)], ['sync afield-receipts']])
  browser.state.answer = () => 200
  await browser.tell('sync')
  t.same([browser.asked.slice(1), browser.acts.length], [[receipt('r1')], 1])

  const without = await world(t, { answer: () => 500, hasSync: false })
  await without.push(notice())
  t.equal(without.shown.length, 1, 'a browser without background sync does not fail')
  const signedOut = await world(t, { signedIn: null, answer: () => 500 })
  await signedOut.push(notice())
  t.same([signedOut.asked, signedOut.acts], [[], []])
})

t.test('a token that a page has renewed meanwhile is used in place of a refused one', async t => {
  const renewal = { deviceSeed: 'seed', account: 'a', serverKeyId: 'k', expiresAt: Date.now() + 24 * 3600_000 }
  const signedIn = { ...account, renewal }
  const browser = await world(t, { signedIn })
  browser.state.answer = async token => {
    if (token === 'Bearer t2') return 200
    await db.write('account', { ...signedIn, token: 't2' })
    return 401
  }
  await browser.push(notice())
  t.same(browser.asked, [receipt('r1', 401), receipt('r1').replace('t1', 't2')])
})

t.test('a tapped notification closes and opens its page', async t => {
  const rows: [string, unknown, string][] = [
    ['', { path: '/s/s1' }, 'open /s/s1'],
    ['open', { path: '/s/s1' }, 'open /s/s1'],
    ['', null, 'open /'],
    ['', undefined, 'open /']
  ]
  for (const [action, data, act] of rows) {
    const browser = await world(t)
    let isClosed = false
    await browser.tap(action, { data, close: () => (isClosed = true) })
    t.same([browser.acts, isClosed], [[act], true])
    t.same(browser.asked, [])
  }
})

t.test('a button acts without a page, unless the app is locked', async t => {
  for (const [settings, language] of [
    [{ isLocked: false }, words],
    [{ isLocked: false, language: 'zh' }, chinese]
  ] as const) {
    const browser = await world(t, { settings })
    await browser.push(notice(question))
    await browser.tap('reply')
    t.same(
      says(browser)
        .slice(1)
        .flatMap(([, body]) => body),
      [language.sending, language.undelivered],
      'an empty reply is not sent'
    )
    t.same(browser.acts, [])
  }
  const locked = await world(t, { settings: {} })
  await locked.push(notice())
  await locked.tap('deny')
  t.same([locked.acts, locked.there, locked.asked.length], [['open /s/s1'], [], 1])
})

t.test('a subscription that the browser replaced is registered again, unless it was turned off', async t => {
  const browser = await world(t)
  await browser.tell('pushsubscriptionchange')
  t.same(browser.asked, [])
  await db.write('push-token', 'before')
  await browser.tell('pushsubscriptionchange')
  t.match(browser.asked[1], /^POST https:\/\/home\.example\/v1\/push-tokens Bearer t1 200 /)
  const [, token = ''] = /WebPush\[(.*)\]/.exec(browser.asked[1] ?? '') ?? []
  t.equal(JSON.parse(Buffer.from(token, 'base64url').toString()).app, 'https://home.example')
  const signedOut = await world(t, { signedIn: null })
  await db.write('push-token', 'before')
  await signedOut.tell('pushsubscriptionchange')
  t.same(signedOut.asked, [])
})

t.test('a reply in words is sent, and an arrival that cannot be looked up is no error', async t => {
  const browser = await world(t, { takesText: true })
  await browser.push(notice(question))
  await browser.tap('reply', browser.there[0], 'the pear tree')
  t.ok(browser.asked.some(line => line.startsWith('POST https://home.example/') && !line.includes('push-receipts')))
  const hanging = await world(t)
  t.intercept(db, 'read', { value: () => Promise.reject(new Error('closed')) })
  await t.resolves(hanging.push(notice()))
  t.same([says(hanging), hanging.asked], [[fixed], []])
})

t.test('two pushes that cannot be read alert twice', async t => {
  const browser = await world(t)
  await browser.push()
  await browser.push()
  t.same(
    browser.shown.map(({ options }) => options.renotify),
    [undefined, undefined]
  )
})
