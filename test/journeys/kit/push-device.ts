import { setTimeout as pause } from 'node:timers/promises'
import type { CDPSession, Worker } from 'playwright-core'
import type { Test } from 'tap'
import { formatBackupKey } from '../../../lib/crypto/index.ts'
import type { NotificationSettings } from '../../../lib/protocol/wire/notifications.ts'
import type { Device, openDevices } from '../../kit/browser.ts'
import { browser as receiver, type StandIn } from '../../server/push/stand-in.ts'

export interface Notified {
  title: string
  body: string
  actions: string[]
}

/** A device with a stand-in push service: its pushes are decrypted as a browser would, and delivered to its service worker. */
export interface PushDevice {
  readonly device: Device
  /** Sends a request to the server with the token of this device's account. */
  ask(method: string, path: string, body?: unknown): Promise<unknown>
  choose(settings: Partial<NotificationSettings>): Promise<void>
  /** The next push of this kind for this device, decrypted. */
  next(kind: string): Promise<string>
  /** Delivers the next push of this kind to the worker. */
  deliver(kind: string): Promise<void>
  /** Delivers a push with any content. */
  push(data: string): Promise<void>
  notified(): Promise<Notified[]>
  /** Resolves once the shown notifications match. */
  until(isSo: (all: Notified[]) => boolean): Promise<Notified[]>
  /** Taps a button of the only notification or, without `action`, the notification itself. Some buttons take a reply. */
  tap(action?: string, reply?: string): Promise<void>
  /** How many subscriptions the app has ended. */
  ended(): number
  /** Gives the subscription another endpoint, as a push service may; resolves once the server has only that one. */
  renewSubscription(): Promise<void>
  /** Puts the app in the background. */
  leave(): Promise<void>
}

/** The person at a phone or desk, who answers the browser's prompt for notifications. */
export interface Owner {
  readonly device: 'phone' | 'desk'
  answer: NotificationPermission
}

/** Signed in with this account; without an owner the browser permits notifications from the start. */
export async function openPushDevice(
  t: Test,
  devices: Awaited<ReturnType<typeof openDevices>>,
  { url, service, secret, name, owner }: { url: string; service: StandIn; secret: Uint8Array; name: string; owner?: Owner }
): Promise<PushDevice> {
  const { keys, open } = receiver()
  let path = `/push/${name}`
  const device = await devices.open(t, url)
  const { page, context } = device
  page.setDefaultTimeout(20_000)
  await context.grantPermissions(['notifications'], { origin: url })
  if (owner) {
    await context.exposeFunction('ownerAnswers', () => owner.answer)
    await context.addInitScript(standInForOwner, owner.device)
  }
  await context.addInitScript(standInForPushService, { endpoint: `${service.url}${path}`, keys })
  let ended = 0
  await context.exposeFunction('subscriptionEnded', () => {
    ended += 1
  })
  let bearer = ''
  page.on('request', request => {
    bearer = request.headers()['authorization'] ?? bearer
  })
  const cdp = await context.newCDPSession(page)
  const registrationId = registrationOf(cdp)

  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(secret))
  await device.press('Restore')
  await device.see('Live')
  let handedOn = 0

  const worker = (): Worker => {
    const [first] = context.serviceWorkers()
    if (!first) throw new Error('There is no worker.')
    return first
  }
  const phone: PushDevice = {
    device,
    async ask(method, asked, body) {
      const init = { method, headers: { authorization: bearer, 'content-type': 'application/json' } }
      const answer = await fetch(`${url}${asked}`, body === undefined ? init : { ...init, body: JSON.stringify(body) })
      return answer.json()
    },
    async choose(settings) {
      await phone.ask('PUT', '/v1/notifications', { settings })
    },
    async next(kind) {
      for (;;) {
        const mine = () => service.requests.filter(request => request.path === path)
        while (mine().length <= handedOn) await service.came(service.requests.length + 1)
        const opened = JSON.stringify(open(mine()[handedOn++]?.body ?? Buffer.alloc(0)))
        if (opened.includes(`"kind":"${kind}"`)) return opened
      }
    },
    deliver: async kind => phone.push(await phone.next(kind)),
    async push(data) {
      await cdp.send('ServiceWorker.deliverPushMessage', { origin: url, registrationId: await registrationId, data })
    },
    notified: () => worker().evaluate(readNotified),
    async until(isSo) {
      for (;;) {
        const all = await phone.notified()
        if (isSo(all)) return all
        await pause(50)
      }
    },
    async tap(action = '', reply = '') {
      await worker().evaluate(tapIn, { action, reply })
    },
    ended: () => ended,
    async renewSubscription() {
      const before = await phone.ask('GET', '/v1/push-tokens')
      path = `${path}-renewed`
      handedOn = 0
      await worker().evaluate(standInForPushService, { endpoint: `${service.url}${path}`, keys })
      await worker().evaluate(() => void self.dispatchEvent(new Event('pushsubscriptionchange')))
      for (let now = before; !isOther(before, now); now = await phone.ask('GET', '/v1/push-tokens')) await pause(50)
    },
    async leave() {
      await page.goto('about:blank')
    }
  }
  return phone
}

function isOther(before: unknown, now: unknown): boolean {
  const tokensIn = (answer: unknown) => (answer as { tokens: { token: string }[] }).tokens.map(({ token }) => token)
  const [old] = tokensIn(before)
  const [only, ...more] = tokensIn(now)
  return only !== undefined && only !== old && more.length === 0
}

function registrationOf(cdp: CDPSession): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    const there = registrations.find(({ isDeleted }) => !isDeleted)
    if (there) resolve(there.registrationId)
  })
  void cdp.send('ServiceWorker.enable')
  return promise
}

// Runs in the page and in the worker: Chromium without Google's services has no push service to subscribe to.
function standInForPushService({ endpoint, keys }: { endpoint: string; keys: object }): void {
  if (typeof PushManager === 'undefined') return
  let subscription: object | null = null
  PushManager.prototype.subscribe = async options => {
    const text = String(options?.applicationServerKey).replaceAll('-', '+').replaceAll('_', '/')
    const key = Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer
    subscription = {
      endpoint,
      options: { applicationServerKey: key, userVisibleOnly: true },
      toJSON: () => ({ endpoint, expirationTime: null, keys }),
      unsubscribe: async () => {
        subscription = null
        Reflect.get(globalThis, 'subscriptionEnded')?.()
        return true
      }
    }
    return subscription as PushSubscription
  }
  PushManager.prototype.getSubscription = async () => subscription as PushSubscription | null
}

// Runs in the page: headless Chromium cannot prompt, and the app does not ask in an automated browser.
function standInForOwner(device: Owner['device']): void {
  const phone = 'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36'
  const kept = 'stand-in-permission'
  let permission = (sessionStorage.getItem(kept) ?? 'default') as NotificationPermission
  Object.defineProperty(navigator, 'webdriver', { get: () => false })
  if (device === 'phone') Object.defineProperty(navigator, 'userAgent', { get: () => phone })
  Object.defineProperty(Notification, 'permission', { get: () => permission })
  Notification.requestPermission = async () => {
    if (!navigator.userActivation.isActive) throw new Error('A browser asks only upon a tap.')
    permission = await Reflect.get(globalThis, 'ownerAnswers')()
    sessionStorage.setItem(kept, permission)
    return permission
  }
}

interface InWorker {
  registration: ServiceWorkerRegistration
  dispatchEvent(event: Event): boolean
  NotificationEvent: new (name: string, about: { notification: Notification; action: string; reply: string }) => Event
}

async function readNotified(): Promise<Notified[]> {
  const { registration } = self as unknown as InWorker
  const all = await registration.getNotifications()
  return all.map(each => {
    const { title, body, actions } = each as Notification & { actions: { action: string }[] }
    return { title, body, actions: actions.map(({ action }) => action) }
  })
}

async function tapIn(tapped: { action: string; reply: string }): Promise<void> {
  const { registration, NotificationEvent, dispatchEvent } = self as unknown as InWorker
  const [notification] = await registration.getNotifications()
  if (!notification) throw new Error('Nothing is shown.')
  dispatchEvent.call(self, new NotificationEvent('notificationclick', { notification, ...tapped }))
}
