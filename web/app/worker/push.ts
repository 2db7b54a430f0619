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

/** Notifications: shown, answered and closed, with or without the app. Each push shows something, whatever else fails. */
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
  // Where the browser has it: once it is online again, also without any page.
  worker.addEventListener('sync' as 'push', event => {
    event.waitUntil(acknowledge(worker, []))
  })
}

/** A device that does not open in time is shown the fixed words. */
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
  // Told once more although it was answered here: what came of that stays, and is all that there is to show.
  if (last && data.notice !== undefined && aboutOf(last)?.answered === data.notice)
    return registration.showNotification(last.title, { ...plainOf(last), silent: true })
  // A test is there to see whether notifications come, also by who looks at the app.
  const isAlerted =
    data.kind !== 'test' && (await alertInPage(clients, { type: 'alert', title, body, path: data.path, isSilent: silent === true }))
  if (isAlerted && !mustShow()) return
  const quiet: Shown['options'] = { ...options, renotify: false, ...(isAlerted && { silent: true }) }
  await registration.showNotification(title, isAlerted || isSame ? quiet : options)
  if (!isAlerted) return
  for (const each of await registration.getNotifications(tag === undefined ? {} : { tag })) each.close()
}

/** Of what is shown already. */
function plainOf({ body, tag, data, icon }: Notification): NotificationOptions {
  return { body, tag, data, icon, badge }
}

// WebKit takes back the right to push from who shows nothing, also while the app is looked at.
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

/** With the app lock on nothing is opened: who holds a locked device is nobody. */
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

// A browser that knows buttons for text asks each button whether it is one.
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
    // A worker may not make one; it reads first what it is to be like.
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
