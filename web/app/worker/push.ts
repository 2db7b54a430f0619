import { withDeadline } from '../../../lib/async/deadline.ts'
import { accountVault, openPreview } from '../../../lib/client/index.ts'
import type { NoticePreview } from '../../../lib/protocol/sealed/preview.ts'
import { sendReceipts } from '../../model/notifications/push-receipts.ts'
import { isRegistered, register } from '../../model/notifications/push-subscription.ts'
import type { WorkerSettings } from '../../model/notifications/worker-settings.ts'
import { push as english, type PushWords } from '../../words/push.ts'
import { push as chinese } from '../../words/zh/push.ts'
import { act } from './actions.ts'
import { type Known, nothingKnown, openDevice, readDevice } from './device.ts'
import { aboutOf, badge, notificationOf, type Shown, type Ways } from './notification.ts'
import { alertInPage, openInPage } from './pages.ts'
import { type Payload, type Pushed, readPayload } from './payload.ts'

/** Notifications: shown, answered and closed, with or without an open page. Every push shows something, even if all else fails. */
export function listenForPush(worker: ServiceWorkerGlobalScope): void {
  worker.addEventListener('push', event => {
    event.waitUntil(show(worker, event))
  })
  worker.addEventListener('notificationclick', event => {
    event.waitUntil(tapped(worker, event))
  })
  worker.addEventListener('pushsubscriptionchange', event => {
    ;(event as ExtendableEvent).waitUntil(subscribeAgain(worker))
  })
  // In browsers with background sync: once the device is online again, even without a page.
  worker.addEventListener('sync' as 'push', event => {
    event.waitUntil(acknowledge(worker, []))
  })
}

/** If the device data cannot be decrypted in time, a fixed text is shown. */
const opensWithinMs = 3_000
const syncTag = 'afield-receipts'

async function show(worker: ServiceWorkerGlobalScope, event: Pushed): Promise<void> {
  const payload = readPayload(event)
  const known = await withDeadline(opensWithinMs, readDevice).catch(() => nothingKnown)
  const shown = notificationOf(payload, payload && previewIn(payload, known), waysOf(known))
  await tell(worker, shown)
  if (payload) await acknowledge(worker, [payload.data.receipt])
}

async function tell({ registration, clients }: ServiceWorkerGlobalScope, shown: Shown): Promise<void> {
  const { title, options } = shown
  const { tag, body = '', silent, data } = options
  const before = await registration.getNotifications(tag === undefined ? {} : { tag })
  const last = before.at(-1)
  const isSame = data.notice !== undefined && aboutOf(last)?.notice === data.notice
  // Sent again although it was answered here: the outcome stays on screen.
  if (last && data.notice !== undefined && aboutOf(last)?.answered === data.notice)
    return registration.showNotification(last.title, { ...plainOf(last), silent: true })
  // A test shows whether notifications arrive, so it is shown even while the app is visible.
  const isAlerted =
    data.kind !== 'test' && (await alertInPage(clients, { type: 'alert', title, body, path: data.path, isSilent: silent === true }))
  if (isAlerted && !mustShow()) return
  const quiet: Shown['options'] = { ...options, renotify: false, ...(isAlerted && { silent: true }) }
  await registration.showNotification(title, isAlerted || isSame ? quiet : options)
  if (!isAlerted) return
  for (const each of await registration.getNotifications(tag === undefined ? {} : { tag })) each.close()
}

/** The options of a notification that is already shown. */
function plainOf({ body, tag, data, icon }: Notification): NotificationOptions {
  return { body, tag, data, icon, badge }
}

// WebKit revokes the push permission of apps that show nothing for a push, even while the app is visible.
function mustShow(): boolean {
  return /AppleWebKit/.test(navigator.userAgent) && !/Chrom(e|ium)\//.test(navigator.userAgent)
}

async function tapped(worker: ServiceWorkerGlobalScope, { notification, action, reply }: TapEvent): Promise<void> {
  const about = aboutOf(notification) ?? { path: '/' }
  if (action === '' || action === 'open') {
    notification.close()
    return openInPage(worker.clients, about.path)
  }
  const known = await readDevice().catch(() => nothingKnown)
  const isOpened = await act({ worker, known, words: wordsIn(known.choices) }, { notification, about, action, reply: reply ?? '' })
  if (!isOpened) await openInPage(worker.clients, about.path)
}

interface TapEvent {
  readonly notification: Notification
  readonly action: string
  readonly reply?: string | null
}

/** With app lock on nothing is decrypted: the person holding the device may not be its owner. */
function previewIn({ data }: Payload, { device, choices }: Known): NoticePreview | undefined {
  const { preview, session, notice } = data
  if (!device || choices.isLocked || preview === undefined || session === undefined) return undefined
  try {
    return openPreview(accountVault(device.secret()), preview, { session, notice })?.preview
  } catch {
    return undefined
  }
}

function waysOf({ device, choices }: Known): Ways {
  const { maxActions = 0 } = Notification as { maxActions?: number }
  const mayAnswer = device !== undefined && !choices.isLocked
  return { words: wordsIn(choices), mayAllow: choices.mayAllow, mayAnswer, maxActions, takesText: takesText() }
}

function wordsIn({ language }: WorkerSettings): PushWords {
  return language === 'zh' ? chinese : english
}

// A browser that supports text buttons reads the `type` of each button.
function takesText(): boolean {
  let isAsked = false
  const button = {
    action: '',
    title: '',
    get type() {
      isAsked = true
      return 'button'
    }
  }
  try {
    new Notification('', { actions: [button] } as NotificationOptions)
  } catch {
    // Workers may not call the constructor, but it reads the options before it throws.
  }
  return isAsked
}

async function acknowledge({ registration }: ServiceWorkerGlobalScope, receipts: readonly string[]): Promise<void> {
  const device = await openDevice().catch(() => undefined)
  if (!device || (await sendReceipts(device, receipts).catch(() => false))) return
  const { sync } = registration as { sync?: { register(tag: string): Promise<void> } }
  await sync?.register(syncTag).catch(() => {})
}

async function subscribeAgain({ registration }: ServiceWorkerGlobalScope): Promise<void> {
  const device = await openDevice()
  if (device && (await isRegistered(device.db))) await register({ ...device, registration, app: location.origin })
}
