import { type ReadonlySignal, signal } from '@preact/signals'
import { isDev } from '../../core/dev.ts'

/**
 * Whether notifications can reach this browser. `needs-home-screen`: iOS delivers them only to an app on the Home Screen. `insecure`:
 * no browser does without HTTPS. `unsupported`: this one cannot.
 */
export type Reach = 'granted' | 'denied' | 'undetermined' | 'needs-home-screen' | 'insecure' | 'unsupported'

const reachNow = signal<Reach>(lookAtReach())

export const reach: ReadonlySignal<Reach> = reachNow

/** The person, or the browser, may have changed it meanwhile. */
export function refreshReach(): Reach {
  reachNow.value = lookAtReach()
  return reachNow.peek()
}

/** Calls back when it is changed elsewhere: in the settings of the browser or the system. Returns a function that stops it. */
export function watchReach(onChange: () => void): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  const look = () => {
    const before = reachNow.peek()
    if (refreshReach() !== before) onChange()
  }
  document.addEventListener('visibilitychange', look, { signal })
  // Not every browser reports changes; the others are checked when the page is shown again.
  navigator.permissions?.query({ name: 'notifications' }).then(
    status => signal.aborted || status.addEventListener('change', look, { signal }),
    () => {}
  )
  return () => stopped.abort()
}

/** A phone or tablet, with the app on its Home Screen or in a browser. */
export function isMobile(): boolean {
  const { userAgentData } = navigator as { userAgentData?: { mobile: boolean } }
  return userAgentData?.mobile === true || /Android|Mobile/.test(navigator.userAgent) || isIos()
}

function lookAtReach(): Reach {
  if (!isSecureContext) return 'insecure'
  if (isIos() && !isInstalled()) return 'needs-home-screen'
  if (isDev || !('serviceWorker' in navigator) || !('PushManager' in globalThis) || !('Notification' in globalThis)) return 'unsupported'
  return Notification.permission === 'default' ? 'undetermined' : Notification.permission
}

// An iPad identifies as a Mac, which has no touch screen.
function isIos(): boolean {
  return /iPhone|iPad|iPod/.test(navigator.userAgent) || (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1)
}

function isInstalled(): boolean {
  return matchMedia('(display-mode: standalone), (display-mode: fullscreen)').matches || Reflect.get(navigator, 'standalone') === true
}
