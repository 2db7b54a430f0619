import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { isDev } from './dev.ts'

const waitingNow = signal<ServiceWorker | undefined>(undefined)

/** True if a newer app is installed on this device and waits to take over. */
export const isNewerReady: ReadonlySignal<boolean> = computed(() => waitingNow.value !== undefined)

/** Caches the app on this device, so that it opens offline, and notices when the server has a newer one. */
export function startUpdates(): void {
  if (!('serviceWorker' in navigator)) return
  if (isDev) {
    void dropKept().catch(() => {})
    return
  }
  // Without it everything works except opening offline.
  keepApp().catch(() => {})
}

/** Activates the newer app and reloads. */
export function reloadIntoNewer(): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true })
  waitingNow.peek()?.postMessage('take-over')
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

// The only text that the page trusts as a script is this constant.
function workerUrl(): string {
  const url = '/worker.js'
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  return trustedTypes?.createPolicy('afield-worker', { createScriptURL: () => url }).createScriptURL(url) ?? url
}

/** Caches from an earlier time would answer instead of the server. */
async function dropKept(): Promise<void> {
  for (const registration of await navigator.serviceWorker.getRegistrations()) await registration.unregister()
}

async function keepApp(): Promise<void> {
  const registration = await navigator.serviceWorker.register(workerUrl())
  waitingNow.value = registration.waiting ?? undefined
  registration.addEventListener('updatefound', () => {
    const arriving = registration.installing
    arriving?.addEventListener('statechange', () => {
      // The very first one replaces nothing.
      if (arriving.state === 'installed' && navigator.serviceWorker.controller) waitingNow.value = arriving
    })
  })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void registration.update().catch(() => {})
  })
}
