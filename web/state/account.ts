import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Renewal, SignedIn } from '../../lib/client/index.ts'
import { now } from './clock.ts'
import { noteLink } from './connection.ts'
import { deviceDb } from './device-db.ts'
import { home, restoreHome, tellHome } from './home.ts'
import type { Live } from './live.ts'
import { forgetLock } from './lock.ts'
import { onTabs, tellTabs } from './tabs.ts'

/** Whose device this is. */
export type Account =
  | { type: 'opening' }
  | { type: 'none' }
  | ({ type: 'here' } & KeptAccount)
  /** The server ended the sign-in of this device. `hasKey`: the account key was never checked, so it was not thrown away. */
  | { type: 'unlinked'; at: number; hasKey: boolean }
  /** This browser keeps nothing, so nothing can be kept in it. */
  | { type: 'no-storage' }

/** What is kept of the account, sealed, under the name `account`. */
export interface KeptAccount {
  /** base64 */
  secret: string
  /** Absent until the server has accepted the key. */
  token?: string | undefined
  /** With what the token is renewed; absent when it was handed over in the way of existing apps. */
  renewal?: Renewal | undefined
  deviceName: string
  createdAt: number
  /** When the person proved to have the key on paper. */
  keyCheckedAt?: number | undefined
  /** It was saved as a file from here: its owner may never have read its letters. */
  isKeyInFile?: boolean | undefined
  /** Not to ask for that before. */
  remindAt?: number | undefined
  /** Home does not ask for it before that. */
  homeAsksAt?: number | undefined
}

const accountNow = signal<Account>({ type: 'opening' })
const liveNow = signal<Live | undefined>(undefined)

export const account: ReadonlySignal<Account> = accountNow

/** The link to the server; undefined until it has been loaded and opened, and without an account. */
export const live: ReadonlySignal<Live | undefined> = liveNow

/** True when the person should be asked to check the account key: until that is done, after the day they may take for it. */
export const shouldCheckKey: ReadonlySignal<boolean> = computed(() => {
  const here = accountNow.value
  return here.type === 'here' && here.keyCheckedAt === undefined && (here.remindAt ?? 0) < now.value
})

/** True when Home should ask for it, which it does once a week. */
export const shouldHomeAskForKey: ReadonlySignal<boolean> = computed(() => {
  const here = accountNow.value
  return here.type === 'here' && shouldCheckKey.value && (here.homeAsksAt ?? 0) < now.value
})

/** Reads what this device keeps, and goes live with it. */
export async function openAccount(): Promise<void> {
  onTabs(message => {
    if (message.type === 'seen' || message.type === 'pinned') tellHome(message)
    else if (message.type === 'signed-out' || message.type === 'unlinked') void leave({ type: 'none' })
    else if (message.type === 'signed-in' || message.type === 'account-changed') void load()
  })
  await load()
}

/** How an attempt to sign in ended, when it did not succeed. */
export type SignInProblem =
  | { type: 'needs-setup-code' }
  | { type: 'needs-invite' }
  /** The owner of the server has been asked; `fingerprint` are the words to recognise this key by. */
  | { type: 'pending'; fingerprint: string }
  | { type: 'signup-closed' }
  | { type: 'locked'; nextAt: number | undefined }
  | { type: 'unreachable' }
  | { type: 'other'; message: string }

/**
 * Makes a new account and signs in. The key is on this device before the server hears of it: an answer lost on the way costs nobody
 * the account.
 */
export async function createAccount(draft: {
  deviceName: string
  setupCode?: string | undefined
  invite?: string | undefined
}): Promise<SignInProblem | undefined> {
  const db = await deviceDb()
  const pending = await db.read('account')
  const secret = isKept(pending) && pending.token === undefined ? pending.secret : newSecret()
  await db.write('account', { secret, deviceName: draft.deviceName, createdAt: Date.now() } satisfies KeptAccount)
  return signInWith({ secret, ...draft })
}

/** Signs in with a key that somebody wrote down: `keyCheckedAt` is now, as they obviously have it. */
export async function restoreAccount(draft: { secret: string; deviceName: string }): Promise<SignInProblem | undefined> {
  return signInWith({ ...draft, keyCheckedAt: Date.now() })
}

/** Takes over an account that another device handed to this one. */
export async function adoptAccount(kept: {
  secret: string
  token: string
  renewal?: Renewal | undefined
  deviceName: string
}): Promise<void> {
  await keep({ ...kept, createdAt: Date.now(), remindAt: tomorrow() })
  tellTabs({ type: 'signed-in' })
  await load()
}

/** Ends the sign-in of this device, on the server too when it can be reached, and leaves nothing on the device. */
export async function signOut(): Promise<void> {
  const { currentDevice } = await import('./devices.ts')
  await liveNow
    .peek()
    ?.rest.call('removeDevice', { params: { id: currentDevice } })
    .catch(() => {})
  await leave({ type: 'none' })
  tellTabs({ type: 'signed-out' })
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

export const noteKeyChecked = () => change({ keyCheckedAt: Date.now() })
export const noteKeyInFile = () => change({ isKeyInFile: true })
export const remindOfKeyTomorrow = () => change({ remindAt: tomorrow() })
export const askForKeyNextWeek = () => change({ homeAsksAt: Date.now() + 7 * dayMs })

const dayMs = 24 * 3600_000
const tomorrow = () => Date.now() + dayMs

/** Under this name the device answers from now on. */
export async function noteDeviceName(deviceName: string): Promise<void> {
  await change({ deviceName })
}

/** What to call this device until somebody says better. */
export function guessDeviceName(): string {
  const agent = navigator.userAgent
  const browser = /Firefox/.test(agent) ? 'Firefox' : /Edg\//.test(agent) ? 'Edge' : /Chrome/.test(agent) ? 'Chrome' : 'Safari'
  const known = [/iPhone/, /iPad/, /Android/, /Mac/, /Windows/, /CrOS/].map(kind => kind.exec(agent)?.[0]).find(name => name !== undefined)
  return `${browser} on ${known === 'CrOS' ? 'ChromeOS' : (known ?? 'Linux')}`
}

async function load(): Promise<void> {
  let kept: unknown
  try {
    kept = await (await deviceDb()).read('account')
  } catch {
    accountNow.value = { type: 'no-storage' }
    return
  }
  if (!isKept(kept) || kept.token === undefined) {
    const was = accountNow.peek()
    accountNow.value = was.type === 'unlinked' ? was : { type: 'none' }
    return
  }
  // Without what was kept the server tells it again.
  if (home.peek().asOf === undefined) await restoreHome().catch(() => {})
  accountNow.value = { type: 'here', ...kept }
  if (!liveNow.peek()) await goLive({ ...kept, token: kept.token })
}

// The crypto, the protocol and the socket come in a chunk of their own, after the first paint.
async function goLive(kept: KeptAccount & { token: string }): Promise<void> {
  try {
    const [{ openLive }, { bytesOf }] = await Promise.all([import('./live.ts'), import('./base64.ts')])
    if (accountNow.peek().type !== 'here' || liveNow.peek()) return
    liveNow.value = await openLive({
      server: location.origin,
      secret: bytesOf(kept.secret),
      kept: { token: kept.token, renewal: kept.renewal },
      latest: latestSignIn,
      onRenewed: change,
      me: deviceNameNow,
      onEnded: () => void unlink(),
      // Another link in all but what it is made of: every screen that hangs on it opens its things anew.
      onStartedOver: () => {
        const link = liveNow.peek()
        if (link) liveNow.value = { ...link }
      }
    })
  } catch (error) {
    // A first visit that lost its network half way has the frame and not the rest.
    console.error(error)
    noteLink({ socket: 'down', feed: 'away', nextTryAt: Date.now() + loadAgainMs })
    setTimeout(() => void goLive(kept), loadAgainMs)
  }
}

const loadAgainMs = 5_000

function deviceNameNow(): string | undefined {
  const here = accountNow.peek()
  return here.type === 'here' ? here.deviceName : undefined
}

// Another tab may have renewed the token that all of them use.
async function latestSignIn(): Promise<SignedIn | undefined> {
  const kept = await (await deviceDb()).read('account')
  return isKept(kept) && kept.token !== undefined ? { token: kept.token, renewal: kept.renewal } : undefined
}

async function signInWith(draft: {
  secret: string
  deviceName: string
  setupCode?: string | undefined
  invite?: string | undefined
  keyCheckedAt?: number
}): Promise<SignInProblem | undefined> {
  const [{ signInProblem }, { signIn, cryptoReady }, { bytesOf }] = await Promise.all([
    import('./sign-in-problem.ts'),
    import('./account-key.ts'),
    import('./base64.ts')
  ])
  await cryptoReady()
  const { secret, deviceName, setupCode, invite, keyCheckedAt } = draft
  try {
    const { token, renewal } = await signIn({
      server: location.origin,
      secret: bytesOf(secret),
      fetch: (url, init) => fetch(url, init),
      setupCode,
      invite,
      deviceName
    })
    await keep({ secret, token, renewal, deviceName, createdAt: Date.now(), keyCheckedAt })
  } catch (error) {
    return signInProblem(error, bytesOf(secret))
  }
  // Asks the browser not to throw the key away when the disk is full; its answer changes nothing here.
  void navigator.storage.persist?.().catch(() => {})
  tellTabs({ type: 'signed-in' })
  await load()
  return undefined
}

// A server that forgot a sign-in must not be able to destroy the only copy of a key, so an unchecked one stays.
async function unlink(): Promise<void> {
  const was = accountNow.peek()
  if (was.type !== 'here') return
  const hasKey = was.keyCheckedAt === undefined
  await leave({ type: 'unlinked', at: Date.now(), hasKey })
  if (hasKey) await keep({ ...was, token: undefined, renewal: undefined })
  tellTabs({ type: 'unlinked' })
}

async function leave(to: Account): Promise<void> {
  const link = liveNow.peek()
  liveNow.value = undefined
  accountNow.value = to
  // A key that stays is shown to nobody else than before.
  if (to.type !== 'unlinked' || !to.hasKey) forgetLock()
  tellHome({ type: 'cleared' })
  await link?.close().catch(() => {})
  await (await deviceDb()).erase()
}

async function keep(kept: KeptAccount): Promise<void> {
  const { secret, token, renewal, deviceName, createdAt, keyCheckedAt, isKeyInFile, remindAt, homeAsksAt } = kept
  const account: KeptAccount = { secret, token, renewal, deviceName, createdAt, keyCheckedAt, isKeyInFile, remindAt, homeAsksAt }
  await (await deviceDb()).write('account', account)
}

async function change(changed: Partial<KeptAccount>): Promise<void> {
  const was = accountNow.peek()
  if (was.type !== 'here') return
  const now = { ...was, ...changed }
  await keep(now)
  accountNow.value = now
  tellTabs({ type: 'account-changed' })
}

function isKept(value: unknown): value is KeptAccount {
  return typeof value === 'object' && value !== null && 'secret' in value && typeof value.secret === 'string'
}

function newSecret(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))
}
