import { connection } from '../../core/connection.ts'
import { lockChoice } from '../../core/lock.ts'
import { confirming, isOn, theme } from '../../core/preferences.ts'
import { language } from '../../words/language.ts'
import { home } from '../home.ts'
import { account, live } from './account.ts'

/** Inserted by the build. */
declare const VERSION: string | undefined

export const appVersion = typeof VERSION === 'undefined' ? 'from source' : VERSION

/** What the server publishes about itself. */
export interface ServerFacts {
  readonly version: string | undefined
  /** The prefix of Afield commands, depending on how the server was installed: most likely the same on the computer with the agents. */
  readonly program: string
  /** The next account will be the first one of the server. */
  readonly needsSetupCode: boolean
  /** False if it rejects every new account. */
  readonly acceptsAccounts: boolean
}

export async function askServer(): Promise<ServerFacts> {
  const said: unknown = await (await fetch('/health')).json()
  const { version, program, needsSetupCode, acceptsAccounts } = Object(said)
  return {
    version: typeof version === 'string' ? version : undefined,
    program: typeof program === 'string' ? program : 'afield',
    needsSetupCode: needsSetupCode === true,
    acceptsAccounts: acceptsAccounts !== false
  }
}

export const serverVersion = async () => (await askServer()).version

/** A report for troubleshooting: versions, states and counts, in English. It identifies no person and no content. */
export async function diagnose(server: string | undefined): Promise<string> {
  const link = live.peek()
  const { sessions, machines, asOf } = home.peek()
  const readable = [...sessions.values()].filter(({ metadata }) => metadata !== undefined).length
  const facts: Record<string, string | number | boolean | undefined> = {
    app: appVersion,
    kept: (await caches.keys()).join(' ') || 'nothing',
    worker: navigator.serviceWorker?.controller?.state ?? 'none',
    server,
    browser: navigator.userAgent,
    language,
    languages: navigator.languages.join(' '),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    time: new Date().toISOString(),
    screen: `${innerWidth}x${innerHeight} at ${devicePixelRatio}`,
    installed: matchMedia('(display-mode: standalone)').matches,
    online: navigator.onLine,
    account: account.peek().type,
    connection: connection.peek().type,
    socket: link?.socket.state.type,
    feed: link?.feed.state.type,
    'dropped frames': link?.socket.droppedFrames,
    'messages waiting': link?.outbox.pending.length,
    sessions: sessions.size,
    'sessions that open': readable,
    machines: machines.size,
    'last listed': asOf === undefined ? 'never' : new Date(asOf).toISOString(),
    ...(await storage()),
    theme: theme.peek(),
    confirming: confirming.peek(),
    lock: lockChoice.peek(),
    'less data': isOn('lowData'),
    notifications: typeof Notification === 'undefined' ? 'none' : Notification.permission
  }
  return ['Afield diagnostics', ...Object.entries(facts).map(([name, value]) => `${name}: ${value ?? 'not known'}`)].join('\n')
}

async function storage(): Promise<Record<string, string | number | boolean | undefined>> {
  const { usage, quota } = await navigator.storage.estimate()
  return { 'bytes kept': usage, 'bytes allowed': quota, 'kept for good': await navigator.storage.persisted() }
}
