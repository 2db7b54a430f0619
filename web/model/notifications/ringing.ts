import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { deviceDb } from '../../core/device-db.ts'
import type { Live } from '../account/live.ts'
import { home } from '../home.ts'
import { listenToWorker } from './listening-to-worker.ts'
import { NoPushService, register, unregister } from './push-subscription.ts'
import { isMobile, reach, refreshReach, watchReach } from './ringing-reach.ts'

export { isMobile, type Reach, reach } from './ringing-reach.ts'

/** What the person said on this device: `later` to the card that asks. */
type Choice = 'on' | 'off' | 'later' | undefined

/** Why this device does not ring although it should: the browser's push service, or our server, could not be asked. */
export type RingingProblem = 'push-service' | 'server'

const keptName = 'afield-ringing'
const leftName = 'afield-was-left'
const choiceNow = signal<Choice>(readChoice())
const problemNow = signal<RingingProblem | undefined>(undefined)
const isBusyNow = signal(false)
const isRefusedNow = signal(false)
const wasLeftNow = signal(localStorage.getItem(leftName) !== null)
/** The link that was started last and not ended. */
let linkNow: Live | undefined

/** Whether the person wants notifications on this device and the browser lets them come. */
export const isRingingHere: ReadonlySignal<boolean> = computed(() => wants(choiceNow.value) && reach.value === 'granted')
/** Tried again with each start and whenever the app is shown. */
export const ringingProblem: ReadonlySignal<RingingProblem | undefined> = problemNow
/** True while it is being turned on or off. */
export const isRingingBusy: ReadonlySignal<boolean> = isBusyNow

/**
 * Whether Home asks: on a phone, where nobody said yes or no yet, once a first session is there or the app was left for the first time. It goes
 * on as long as the browser has said no to it just now, so that the way out can be read.
 */
export const shouldAsk: ReadonlySignal<boolean> = computed(() => {
  if (isRefusedNow.value) return true
  if (choiceNow.value !== undefined || !isMobile() || navigator.webdriver) return false
  const mayCome = reach.value === 'undetermined' || reach.value === 'needs-home-screen'
  return mayCome && (home.value.sessions.size > 0 || wasLeftNow.value)
})

/** "Not now": it stands in the settings from now on. */
export function askNoMore(): void {
  isRefusedNow.value = false
  choose('later')
}

/** Asks the browser, so only from a tap. What came of it is in `reach`, `isRingingHere` and `ringingProblem`. */
export async function turnOn(): Promise<void> {
  // Nothing may come before this: browsers want it in the tap itself.
  if (refreshReach() === 'undetermined') await Notification.requestPermission()
  const now = refreshReach()
  if (now === 'undetermined') return
  isRefusedNow.value = now === 'denied'
  choose('on')
  if (now === 'granted') await registerHere()
}

/** Nothing comes to this device any more; the other devices of the account stay as they are. */
export async function turnOff(): Promise<void> {
  choose('off')
  problemNow.value = undefined
  await inTurn(async () => {
    if (linkNow) await unregister({ rest: linkNow.rest, ...(await here()) }).catch(() => {})
  })
}

/** As long as this link is there, the server knows this browser as it is now. Returned is what ends it. */
export function startRinging(link: Live): () => void {
  linkNow = link
  const stopped = new AbortController()
  const { signal } = stopped
  const again = () => {
    if (isRingingHere.peek() && linkNow === link) void registerHere()
  }
  const shown = () => (document.visibilityState === 'visible' ? again() : noteLeft())
  document.addEventListener('visibilitychange', shown, { signal })
  const chosenElsewhere = ({ key }: StorageEvent) => {
    if (key === keptName || key === null) choiceNow.value = readChoice()
  }
  window.addEventListener('storage', chosenElsewhere, { signal })
  const unwatch = watchReach(again)
  const unlisten = listenToWorker()
  // More is needed only where it rings.
  const unring = effect(() => (isRingingHere.value ? ringIn(link) : undefined))
  again()
  return () => {
    if (linkNow === link) linkNow = undefined
    stopped.abort()
    unwatch()
    unlisten()
    unring()
  }
}

function ringIn(link: Live): () => void {
  let end: (() => void) | undefined
  let isOver = false
  void Promise.all([import('./ringing-page.ts'), navigator.serviceWorker.ready])
    .then(([{ startRingingPage }, registration]) => {
      if (!isOver) end = startRingingPage(link, registration)
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

/** The sign-in of this device is over: nothing may come to it any more. What the server knows goes with the sign-in. */
export async function forgetRinging(): Promise<void> {
  choose(undefined)
  wasLeftNow.value = false
  localStorage.removeItem(leftName)
  await endSubscription()
}

let last: Promise<unknown> = Promise.resolve()

// A phone that was asked once and said yes need not be asked again after the account came back; on a desktop only an own choice counts.
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
    // Turned off, or signed out, while it waited for its turn. Without a link the next one does it.
    if (!link || !isRingingHere.peek()) return
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

// What was asked for last is what holds, however long each takes.
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
