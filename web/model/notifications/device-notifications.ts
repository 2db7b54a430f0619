import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { deviceDb } from '../../core/device-db.ts'
import type { Live } from '../account/live.ts'
import { home } from '../home.ts'
import { isMobile, reach, refreshReach, watchReach } from './notification-permission.ts'
import { NoPushService, register, unregister } from './push-subscription.ts'
import { listenToWorker } from './worker-requests.ts'

export { isMobile, type Reach, reach } from './notification-permission.ts'

/** The person's choice on this device: `later` answers the card that asks. */
type Choice = 'on' | 'off' | 'later' | undefined

/** Why notifications are on but do not work here: the browser's push service, or our server, could not be reached. */
export type NotificationProblem = 'push-service' | 'server'

const keptName = 'afield-ringing'
const leftName = 'afield-was-left'
const choiceNow = signal<Choice>(readChoice())
const problemNow = signal<NotificationProblem | undefined>(undefined)
const isBusyNow = signal(false)
const isRefusedNow = signal(false)
const wasLeftNow = signal(localStorage.getItem(leftName) !== null)
/** The link started last and not ended. */
let linkNow: Live | undefined

/** Whether the person wants notifications on this device and the browser allows them. */
export const areNotificationsOn: ReadonlySignal<boolean> = computed(() => wants(choiceNow.value) && reach.value === 'granted')
/** Retried at each start and whenever the app is shown. */
export const notificationProblem: ReadonlySignal<NotificationProblem | undefined> = problemNow
/** True while it is being turned on or off. */
export const areNotificationsChanging: ReadonlySignal<boolean> = isBusyNow

/**
 * Whether Home asks: on a phone without a choice yet, once there is a session or the app was left for the first time. It stays
 * visible right after the browser denied it, so that the way out can be read.
 */
export const shouldAsk: ReadonlySignal<boolean> = computed(() => {
  if (isRefusedNow.value) return true
  if (choiceNow.value !== undefined || !isMobile() || navigator.webdriver) return false
  const mayCome = reach.value === 'undetermined' || reach.value === 'needs-home-screen'
  return mayCome && (home.value.sessions.size > 0 || wasLeftNow.value)
})

/** "Not now": from now on it is only in the settings. */
export function dismissPrompt(): void {
  isRefusedNow.value = false
  choose('later')
}

/** Asks the browser, so call it only from a tap. The result is in `reach`, `areNotificationsOn` and `notificationProblem`. */
export async function turnOn(): Promise<void> {
  // This must come first: browsers require it in the tap itself.
  if (refreshReach() === 'undetermined') await Notification.requestPermission()
  const now = refreshReach()
  if (now === 'undetermined') return
  isRefusedNow.value = now === 'denied'
  choose('on')
  if (now === 'granted') await registerHere()
}

/** Turns notifications off for this device; the other devices of the account are not affected. */
export async function turnOff(): Promise<void> {
  choose('off')
  problemNow.value = undefined
  await inTurn(async () => {
    if (linkNow) await unregister({ rest: linkNow.rest, ...(await here()) }).catch(() => {})
  })
}

/** While this link exists, the server has the current registration of this browser. Returns a function that stops it. */
export function startNotifications(link: Live): () => void {
  linkNow = link
  const stopped = new AbortController()
  const { signal } = stopped
  const again = () => {
    if (areNotificationsOn.peek() && linkNow === link) void registerHere()
  }
  const shown = () => (document.visibilityState === 'visible' ? again() : noteLeft())
  document.addEventListener('visibilitychange', shown, { signal })
  const chosenElsewhere = ({ key }: StorageEvent) => {
    if (key === keptName || key === null) choiceNow.value = readChoice()
  }
  window.addEventListener('storage', chosenElsewhere, { signal })
  const unwatch = watchReach(again)
  const unlisten = listenToWorker()
  // The rest is needed only if notifications are on.
  const stopPage = effect(() => (areNotificationsOn.value ? startPage(link) : undefined))
  again()
  return () => {
    if (linkNow === link) linkNow = undefined
    stopped.abort()
    unwatch()
    unlisten()
    stopPage()
  }
}

function startPage(link: Live): () => void {
  let end: (() => void) | undefined
  let isOver = false
  void Promise.all([import('./page-notifications.ts'), navigator.serviceWorker.ready])
    .then(([{ startPageNotifications }, registration]) => {
      if (!isOver) end = startPageNotifications(link, registration)
    })
    .catch(() => {})
  return () => {
    isOver = true
    end?.()
  }
}

function noteLeft(): void {
  wasLeftNow.value = true
  localStorage.setItem(leftName, 'yes')
}

/** The sign-in of this device is over: it must get no more notifications. The server's registration ends with the sign-in. */
export async function forgetNotifications(): Promise<void> {
  choose(undefined)
  wasLeftNow.value = false
  localStorage.removeItem(leftName)
  await endSubscription()
}

let last: Promise<unknown> = Promise.resolve()

// A phone that was asked once and allowed it is not asked again after a new sign-in; on a desktop only an explicit choice counts.
function wants(choice: Choice): boolean {
  return choice === 'on' || (choice === undefined && isMobile() && !navigator.webdriver)
}

function choose(choice: Choice): void {
  choiceNow.value = choice
  if (choice === undefined) localStorage.removeItem(keptName)
  else localStorage.setItem(keptName, choice)
}

function readChoice(): Choice {
  const kept = localStorage.getItem(keptName)
  return kept === 'on' || kept === 'off' || kept === 'later' ? kept : undefined
}

async function registerHere(): Promise<void> {
  await inTurn(async () => {
    const link = linkNow
    // Turned off, or signed out, while waiting. Without a link, the next one does it.
    if (!link || !areNotificationsOn.peek()) return
    try {
      await register({ rest: link.rest, app: location.origin, ...(await here()) })
      problemNow.value = undefined
    } catch (error) {
      problemNow.value = error instanceof NoPushService ? 'push-service' : 'server'
    }
  })
}

async function endSubscription(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration()
  const subscription = await registration?.pushManager?.getSubscription()
  await subscription?.unsubscribe()
}

async function here() {
  return { registration: await navigator.serviceWorker.ready, db: await deviceDb() }
}

// The last request wins, regardless of how long each takes.
async function inTurn(step: () => Promise<void>): Promise<void> {
  isBusyNow.value = true
  const done = last.then(step)
  last = done.catch(() => {})
  const mine = last
  try {
    await done
  } finally {
    if (mine === last) isBusyNow.value = false
  }
}
