import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { SignedIn } from '../../../lib/client/index.ts'
import { now } from '../../core/clock.ts'
import { noteLink } from '../../core/connection.ts'
import { type DeviceDb, deviceDb } from '../../core/device-db.ts'
import { forgetLock } from '../../core/lock.ts'
import { onTabs, tellTabs } from '../../core/tabs.ts'
import { home, restoreHome, tellHome } from '../home.ts'
import { entry, isKept, isSameSignIn, isSignedIn, type KeptAccount, type KeptTokens, keptTokens, type SignIn } from './kept-account.ts'
import { type AccountLink, openAccountLink } from './link.ts'
import type { Live } from './live.ts'

/** Whose device this is. */
export type Account =
  | { type: 'opening' }
  | { type: 'none' }
  | ({ type: 'here' } & KeptAccount)
  /** The server ended the sign-in of this device. The account key is still on it. */
  | { type: 'unlinked'; at: number }
  /** This browser keeps nothing, so nothing can be kept in it. */
  | { type: 'no-storage' }

export type { KeptAccount, SignIn } from './kept-account.ts'

/** What an open link wants to know of its sign-in, and has to tell. */
export interface SignInEvents extends KeptTokens {
  /** The server no longer knows the sign-in. */
  onEnded(): void
  /** The server was put back to an older state: whatever hangs on the link reads anew. */
  onStartedOver(): void
}

/** What one tab of a device brings along. */
interface Tab<Link> {
  db(): Promise<Pick<DeviceDb, 'read' | 'change' | 'clear' | 'erase'>>
  loadLink(): Promise<(signIn: SignIn, events: SignInEvents) => Promise<Link>>
  onLinkFailed(error: unknown, againInMs: number): void
  /** Best effort: tells the server that the sign-in of this device is over. */
  endSignIn(link: Link | undefined): Promise<void>
  restoreHome(): Promise<void>
  clearHome(): void
  forgetLock(): void
  /** Has the other tabs look again at what is kept. */
  tellTabs(): void
}

interface AccountOfTab<Link> {
  readonly account: ReadonlySignal<Account>
  /** The link to the server; undefined until it has been loaded and opened, and without an account. */
  readonly live: ReadonlySignal<Link | undefined>
  /** Brings this tab in line with what is kept. */
  settle(): Promise<void>
  /** Keeps something else about the account that stands here. Resolves when this tab shows it. */
  note(noted: Partial<Omit<KeptAccount, keyof SignedIn | 'secret'>>): Promise<void>
  /** With what to ask for a sign-in: the key that is here, else `fresh`, which is kept before the server hears of it. */
  keyToSignInWith(fresh: KeptAccount): Promise<KeptAccount>
  /** Keeps a sign-in and goes live with it. False when the key of another account is here: it is not written over. */
  signIn(fresh: SignIn): Promise<boolean>
  /** Ends the sign-in, on the server too when it can be reached, and leaves nothing on the device, the key included. Only where a person confirmed it. */
  signOut(): Promise<void>
}

/**
 * The account in one tab, and its link: none, opening, live or leaving. What the device keeps is the truth, shared by all tabs. Whatever happens, here, in
 * another tab or on the server, first changes what is kept; then each tab settles into it, one step after the other. So a message is never more than a
 * reason to look, and the account key goes only where a person signs out.
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
    await leaving?.line.close()
  }

  function openLink(of: SignIn): AccountLink {
    const events: SignInEvents = {
      // Not a step of its own: a link that is being closed may renew, and the step that closes it waits for it.
      ...keptTokens(tab.db, of, seeChange),
      onEnded() {
        const over = { token: undefined, renewal: undefined, unlinkedAt: Date.now() }
        void change(kept => (isSameSignIn(kept, of) ? { ...kept, ...over } : undefined))
      },
      onStartedOver() {
        const before = live.peek()
        // Another link in all but what it is made of: every screen that hangs on it opens its things anew.
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

  /** Undefined leaves things as they are. Every tab settles into what is kept then. */
  async function change(next: (kept: KeptAccount) => KeptAccount | undefined): Promise<void> {
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
function signedInAgain(before: KeptAccount, fresh: SignIn): SignIn | undefined {
  if (before.secret === fresh.secret)
    return { ...before, unlinkedAt: undefined, ...fresh, keyCheckedAt: fresh.keyCheckedAt ?? before.keyCheckedAt }
  // No server ever took that one, so nobody has an account with it.
  return before.token === undefined && before.unlinkedAt === undefined ? fresh : undefined
}

const dayMs = 24 * 3600_000
/** From when on to ask that a key be checked which came to this device just now. */
export const tomorrow = () => Date.now() + dayMs

const here = accountOfTab<Live>({
  db: deviceDb,
  // The crypto, the protocol and the socket come in a chunk of their own, after the first paint.
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
    await import('../notifications/ringing.ts').then(({ forgetRinging }) => forgetRinging()).catch(() => {})
    const { currentDevice } = await import('./devices.ts')
    await link?.rest.call('removeDevice', { params: { id: currentDevice } }).catch(() => {})
  },
  async restoreHome() {
    // Without what was kept the server tells it again.
    if (home.peek().asOf === undefined) await restoreHome().catch(() => {})
  },
  clearHome: () => tellHome({ type: 'cleared' }),
  forgetLock,
  tellTabs: () => tellTabs({ type: 'account-changed' })
})

export const { account, live, keyToSignInWith, signIn, signOut } = here

function deviceNameNow(): string | undefined {
  const now = account.peek()
  return now.type === 'here' ? now.deviceName : undefined
}

/** Reads what this device keeps, and goes live with it. */
export async function openAccount(): Promise<void> {
  onTabs(message => {
    if (message.type === 'seen' || message.type === 'pinned') tellHome(message)
    else if (message.type === 'account-changed') void here.settle()
  })
  await here.settle()
}

/** True when the person should be asked to check the account key: until that is done, after the day they may take for it. */
export const shouldCheckKey: ReadonlySignal<boolean> = computed(() => {
  const kept = account.value
  return kept.type === 'here' && kept.keyCheckedAt === undefined && (kept.remindAt ?? 0) < now.value
})

/** True when Home should ask for it, which it does once a week. */
export const shouldHomeAskForKey: ReadonlySignal<boolean> = computed(() => {
  const kept = account.value
  return kept.type === 'here' && shouldCheckKey.value && (kept.homeAsksAt ?? 0) < now.value
})

export const noteKeyChecked = () => here.note({ keyCheckedAt: Date.now() })
export const noteKeyInFile = () => here.note({ isKeyInFile: true })
export const remindOfKeyTomorrow = () => here.note({ remindAt: tomorrow() })
export const askForKeyNextWeek = () => here.note({ homeAsksAt: Date.now() + 7 * dayMs })
/** Under this name the device answers from now on. */
export const noteDeviceName = (deviceName: string) => here.note({ deviceName })
