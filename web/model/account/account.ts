import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { SignedIn } from '../../../lib/client/index.ts'
import { now } from '../../core/clock.ts'
import { noteLink } from '../../core/connection.ts'
import { type DeviceDb, deviceDb } from '../../core/device-db.ts'
import { forgetLock } from '../../core/lock.ts'
import { onTabs, tellTabs } from '../../core/tabs.ts'
import { home, restoreHome, updateHome } from '../home.ts'
import { type AccountLink, openAccountLink } from './link.ts'
import type { Live } from './live.ts'
import { entry, isKept, isSameSignIn, isSignedIn, type KeptTokens, keptTokens, type SignIn, type StoredAccount } from './stored-account.ts'

/** The account state of this device. */
export type Account =
  | { type: 'opening' }
  | { type: 'none' }
  | ({ type: 'here' } & StoredAccount)
  /** The server ended the sign-in of this device. The account key is still on it. */
  | { type: 'unlinked'; at: number }
  /** This browser cannot store anything. */
  | { type: 'no-storage' }

export type { SignIn, StoredAccount } from './stored-account.ts'

/** The sign-in of an open link, and its callbacks. */
export interface SignInEvents extends KeptTokens {
  /** The server no longer accepts the sign-in. */
  onEnded(): void
  /** The server was restored to an older state: everything that uses the link reads again. */
  onStartedOver(): void
}

/** The environment of one tab. */
interface Tab<Link> {
  db(): Promise<Pick<DeviceDb, 'read' | 'change' | 'clear' | 'erase'>>
  loadLink(): Promise<(signIn: SignIn, events: SignInEvents) => Promise<Link>>
  onLinkFailed(error: unknown, againInMs: number): void
  /** Best effort: tells the server to end the sign-in of this device. */
  endSignIn(link: Link | undefined): Promise<void>
  restoreHome(): Promise<void>
  clearHome(): void
  forgetLock(): void
  /** Makes the other tabs read the stored account again. */
  tellTabs(): void
}

interface AccountOfTab<Link> {
  readonly account: ReadonlySignal<Account>
  /** The link to the server; undefined until it has been loaded and opened, and without an account. */
  readonly live: ReadonlySignal<Link | undefined>
  /** Applies the stored state to this tab. */
  settle(): Promise<void>
  /** Changes the stored state of the current account. Resolves when this tab has applied it. */
  note(noted: Partial<Omit<StoredAccount, keyof SignedIn | 'secret'>>): Promise<void>
  /** The credentials for a sign-in: the existing key, or `fresh`, which is stored before it is sent to the server. */
  keyToSignInWith(fresh: StoredAccount): Promise<StoredAccount>
  /** Stores a sign-in and connects with it. False if the key of another account is here: it is never overwritten. */
  signIn(fresh: SignIn): Promise<boolean>
  /** Ends the sign-in, on the server too if reachable, and erases everything on the device, including the key. Only after a person confirmed it. */
  signOut(): Promise<void>
}

/**
 * The account in one tab, and its link: none, opening, live or leaving. The storage of the device is the source of truth, shared by all tabs. Every change, here, in
 * another tab or on the server, first changes the storage; then each tab applies it, one step after the other. So a message is only a
 * trigger to read, and the account key is erased only when a person signs out.
 */
export function accountOfTab<Link extends { close(): Promise<void> }>(tab: Tab<Link>): AccountOfTab<Link> {
  const account = signal<Account>({ type: 'opening' })
  const live = signal<Link | undefined>(undefined)
  let link: { of: SignIn; line: AccountLink } | undefined
  let lastStep: Promise<unknown> = Promise.resolve()

  function inTurn(step: () => Promise<void>): Promise<void> {
    const done = lastStep.then(step)
    lastStep = done.catch(() => {})
    return done
  }

  const settle = () =>
    inTurn(async () => {
      let kept: unknown
      try {
        kept = await (await tab.db()).read(entry)
      } catch {
        account.value = { type: 'no-storage' }
        return
      }
      if (isSignedIn(kept)) return enter(kept)
      const at = isKept(kept) ? kept.unlinkedAt : undefined
      await leave(at === undefined ? { type: 'none' } : { type: 'unlinked', at })
      // Another tab may have signed in meanwhile.
      await (await tab.db()).clear(entry, isSignedIn)
    })

  async function enter(kept: SignIn): Promise<void> {
    if (link && !isSameSignIn(link.of, kept)) await closeLink()
    await tab.restoreHome()
    account.value = { type: 'here', ...kept }
    link ??= { of: kept, line: openLink(kept) }
  }

  async function leave(to: Account): Promise<void> {
    account.value = to
    await closeLink()
  }

  async function closeLink(): Promise<void> {
    live.value = undefined
    tab.clearHome()
    const leaving = link
    link = undefined
    if (!leaving) return
    await leaving.line.close()
    // While it closed, the server may have sent something more.
    tab.clearHome()
  }

  function openLink(of: SignIn): AccountLink {
    const events: SignInEvents = {
      // Not a separate step: a closing link may renew its token, and the step that closes it waits for that.
      ...keptTokens(tab.db, of, seeChange),
      onEnded() {
        const over = { token: undefined, renewal: undefined, unlinkedAt: Date.now() }
        void change(kept => (isSameSignIn(kept, of) ? { ...kept, ...over } : undefined))
      },
      onStartedOver() {
        const before = live.peek()
        // A new object for the same link, so that every screen that depends on it reads again.
        if (before) live.value = { ...before }
      }
    }
    return openAccountLink<Link>({
      load: async () => {
        const open = await tab.loadLink()
        return () => open(of, events)
      },
      onLive: opened => {
        live.value = opened
      },
      onFailed: tab.onLinkFailed
    })
  }

  /** Undefined changes nothing. Every tab then applies the stored state. */
  async function change(next: (kept: StoredAccount) => StoredAccount | undefined): Promise<void> {
    await (await tab.db()).change(entry, kept => (isKept(kept) ? next(kept) : undefined))
    seeChange()
  }

  function seeChange(): void {
    tab.tellTabs()
    void settle()
  }

  return {
    account,
    live,
    settle,

    async note(noted) {
      const here = account.peek()
      if (here.type !== 'here') return
      await change(kept => (kept.secret === here.secret ? { ...kept, ...noted } : undefined))
      await settle()
    },

    async keyToSignInWith(fresh) {
      const kept = await (await tab.db()).change(entry, before => (isKept(before) ? undefined : fresh))
      return isKept(kept) ? kept : fresh
    },

    async signIn(fresh) {
      const kept = await (await tab.db()).change(entry, before => (isKept(before) ? signedInAgain(before, fresh) : fresh))
      tab.tellTabs()
      await settle()
      return isKept(kept) && kept.secret === fresh.secret
    },

    async signOut() {
      await inTurn(async () => {
        await tab.endSignIn(live.peek())
        await leave({ type: 'none' })
        await (await tab.db()).erase()
        tab.forgetLock()
      })
      tab.tellTabs()
    }
  }
}

/** Undefined: the key that is here may be the only copy. */
function signedInAgain(before: StoredAccount, fresh: SignIn): SignIn | undefined {
  if (before.secret === fresh.secret)
    return { ...before, unlinkedAt: undefined, ...fresh, keyCheckedAt: fresh.keyCheckedAt ?? before.keyCheckedAt }
  // No server ever accepted that key, so no account has it.
  return before.token === undefined && before.unlinkedAt === undefined ? fresh : undefined
}

const dayMs = 24 * 3600_000
/** From when to ask for a check of a key that has just arrived on this device. */
export const tomorrow = () => Date.now() + dayMs

const here = accountOfTab<Live>({
  db: deviceDb,
  // Crypto, protocol and socket are in their own chunk, loaded after the first paint.
  async loadLink() {
    const [{ openLive }, { bytesOf }] = await Promise.all([import('./live.ts'), import('../../core/base64.ts')])
    return ({ secret, token, renewal }, events) =>
      openLive({ ...events, server: location.origin, secret: bytesOf(secret), kept: { token, renewal }, me: deviceNameNow })
  },
  onLinkFailed(error, againInMs) {
    console.error(error)
    noteLink({ socket: 'down', feed: 'away', nextTryAt: Date.now() + againInMs })
  },
  async endSignIn(link) {
    await import('../notifications/device-notifications.ts').then(({ forgetNotifications }) => forgetNotifications()).catch(() => {})
    const { currentDevice } = await import('./devices.ts')
    await link?.rest.call('removeDevice', { params: { id: currentDevice } }).catch(() => {})
  },
  async restoreHome() {
    // Without the stored rows the server sends them again.
    if (home.peek().asOf === undefined) await restoreHome().catch(() => {})
  },
  clearHome: () => updateHome({ type: 'cleared' }),
  forgetLock,
  tellTabs: () => tellTabs({ type: 'account-changed' })
})

export const { account, live, keyToSignInWith, signIn, signOut } = here

function deviceNameNow(): string | undefined {
  const now = account.peek()
  return now.type === 'here' ? now.deviceName : undefined
}

/** Reads the storage of this device, and connects. */
export async function openAccount(): Promise<void> {
  onTabs(message => {
    if (message.type === 'seen' || message.type === 'pinned') updateHome(message)
    else if (message.type === 'account-changed') void here.settle()
  })
  await here.settle()
}

/** True if the person should be asked to check the account key: until they have, after a day's grace. */
export const shouldCheckKey: ReadonlySignal<boolean> = computed(() => {
  const kept = account.value
  return kept.type === 'here' && kept.keyCheckedAt === undefined && (kept.remindAt ?? 0) < now.value
})

/** True if Home should ask for it, which it does once a week. */
export const shouldHomeAskForKey: ReadonlySignal<boolean> = computed(() => {
  const kept = account.value
  return kept.type === 'here' && shouldCheckKey.value && (kept.homeAsksAt ?? 0) < now.value
})

export const noteKeyChecked = () => here.note({ keyCheckedAt: Date.now() })
export const noteKeyInFile = () => here.note({ isKeyInFile: true })
export const remindOfKeyTomorrow = () => here.note({ remindAt: tomorrow() })
export const askForKeyNextWeek = () => here.note({ homeAsksAt: Date.now() + 7 * dayMs })
/** Renames this device, as shown with its answers. */
export const noteDeviceName = (deviceName: string) => here.note({ deviceName })
