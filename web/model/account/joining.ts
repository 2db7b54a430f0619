import type { Renewal } from '../../../lib/client/index.ts'
import { keyToSignInWith, signIn, signOut, tomorrow } from './account.ts'
import type { SignInProblem } from './sign-in-problem.ts'

/**
 * Makes a new account and signs in, or signs in again with the key that is here. A new key is on this device before the server hears of it: an answer
 * lost on the way costs nobody the account.
 */
export async function createAccount(draft: {
  deviceName: string
  setupCode?: string | undefined
  invite?: string | undefined
}): Promise<SignInProblem | undefined> {
  const { deviceName } = draft
  const { secret } = await keyToSignInWith({ secret: newSecret(), deviceName, createdAt: Date.now() })
  return signInWith({ secret, ...draft })
}

/** Signs in with a key that somebody wrote down: `keyCheckedAt` is now, as they obviously have it. */
export async function restoreAccount(draft: { secret: string; deviceName: string }): Promise<SignInProblem | undefined> {
  return signInWith({ ...draft, keyCheckedAt: Date.now() })
}

/** Takes over an account that another device handed to this one. False when the key of another one is here. */
export function adoptAccount(given: {
  secret: string
  token: string
  renewal?: Renewal | undefined
  deviceName: string
}): Promise<boolean> {
  return signIn({ ...given, createdAt: Date.now(), remindAt: tomorrow() })
}

/** Signs out and leaves nothing of Afield in this browser: no settings, and not the app itself. */
export async function eraseDevice(): Promise<void> {
  await signOut()
  localStorage.clear()
  await Promise.all((await caches.keys()).map(name => caches.delete(name)))
  const workers = await navigator.serviceWorker?.getRegistrations()
  await Promise.all(workers?.map(worker => worker.unregister()) ?? [])
  location.replace('/')
}

/** What to call this device until somebody says better. */
export function guessDeviceName(): string {
  const agent = navigator.userAgent
  const browser = /Firefox/.test(agent) ? 'Firefox' : /Edg\//.test(agent) ? 'Edge' : /Chrome/.test(agent) ? 'Chrome' : 'Safari'
  const known = [/iPhone/, /iPad/, /Android/, /Mac/, /Windows/, /CrOS/].map(kind => kind.exec(agent)?.[0]).find(name => name !== undefined)
  return `${browser} on ${known === 'CrOS' ? 'ChromeOS' : (known ?? 'Linux')}`
}

async function signInWith(draft: {
  secret: string
  deviceName: string
  setupCode?: string | undefined
  invite?: string | undefined
  keyCheckedAt?: number
}): Promise<SignInProblem | undefined> {
  const [{ signInProblem }, client, { bytesOf }] = await Promise.all([
    import('./sign-in-problem.ts'),
    import('./key.ts'),
    import('../../core/base64.ts')
  ])
  await client.cryptoReady()
  const { secret, deviceName, setupCode, invite, keyCheckedAt } = draft
  const key = bytesOf(secret)
  const ask = {
    server: location.origin,
    secret: key,
    fetch: (url: string, init?: RequestInit) => fetch(url, init),
    setupCode,
    invite,
    deviceName
  }
  try {
    const { token, renewal } = await client.signIn(ask)
    const isKept = await signIn({ secret, token, renewal, deviceName, createdAt: Date.now(), keyCheckedAt })
    if (!isKept) return { type: 'has-account' }
  } catch (error) {
    return signInProblem(error, key)
  }
  // Asks the browser not to throw the key away when the disk is full; its answer changes nothing here.
  void navigator.storage.persist?.().catch(() => {})
  return undefined
}

function newSecret(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))
}
