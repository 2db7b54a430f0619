import type { Renewal } from '../../../lib/client/index.ts'
import { keyToSignInWith, signIn, signOut, tomorrow } from './account.ts'
import type { SignInProblem } from './sign-in-problem.ts'

/**
 * Creates an account and signs in, or signs in again with the existing key. A new key is stored on this device before it is sent: a lost
 * answer cannot lose the account.
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

/** Signs in with a key that was typed in: `keyCheckedAt` is now, since the person obviously has it. */
export async function restoreAccount(draft: { secret: string; deviceName: string }): Promise<SignInProblem | undefined> {
  return signInWith({ ...draft, keyCheckedAt: Date.now() })
}

/** Adopts an account that another device handed over. False if the key of another account is here. */
export function adoptAccount(given: {
  secret: string
  token: string
  renewal?: Renewal | undefined
  deviceName: string
}): Promise<boolean> {
  return signIn({ ...given, createdAt: Date.now(), remindAt: tomorrow() })
}

/** Signs out and erases all of Afield from this browser: settings and the app itself too. */
export async function eraseDevice(): Promise<void> {
  await signOut()
  localStorage.clear()
  await Promise.all((await caches.keys()).map(name => caches.delete(name)))
  const workers = await navigator.serviceWorker?.getRegistrations()
  await Promise.all(workers?.map(worker => worker.unregister()) ?? [])
  location.replace('/')
}

/** The default name of this device. */
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
  // Asks the browser to keep the key when the disk is full; its answer changes nothing here.
  void navigator.storage.persist?.().catch(() => {})
  return undefined
}

function newSecret(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))
}
