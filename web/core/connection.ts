import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { AccountFeedState, SocketState } from '../../lib/client/index.ts'

/** The connection state, as shown to a person. */
export type Connection =
  | { type: 'live' }
  /** Nothing is known yet: the app has just started. */
  | { type: 'starting' }
  | { type: 'catching-up' }
  | { type: 'offline' }
  | { type: 'silent'; nextTryAt: number | undefined }

export interface LinkFacts {
  isOnline: boolean
  socket: SocketState['type'] | 'none'
  nextTryAt: number | undefined
  feed: AccountFeedState['type'] | 'none'
}

/** The actual state, from three things that fail separately: the device's network, the socket, and the data received over it. */
export function connectionOf({ isOnline, socket, nextTryAt, feed }: LinkFacts): Connection {
  if (socket === 'live') return feed === 'live' ? { type: 'live' } : { type: 'catching-up' }
  if (!isOnline) return { type: 'offline' }
  if (socket === 'down') return { type: 'silent', nextTryAt }
  return socket === 'connecting' && feed === 'away' ? { type: 'silent', nextTryAt: undefined } : { type: 'starting' }
}

const lastingNow = signal<Connection>({ type: 'starting' })
const awaySinceNow = signal<number | undefined>(undefined)
const facts = signal<LinkFacts>({ isOnline: true, socket: 'none', nextTryAt: undefined, feed: 'none' })

export const connection: ReadonlySignal<Connection> = computed(() => connectionOf(facts.value))

/** True while the screen may be older than the server's data. */
export const isStale: ReadonlySignal<boolean> = computed(() => connection.value.type !== 'live')

/** Like `connection`, but problems appear only after a while, so that short interruptions stay invisible. */
export const lastingConnection: ReadonlySignal<Connection> = lastingNow

/** Progress of reading messages after a gap. */
export interface Progress {
  readonly done: number
  readonly all: number
}

const progressNow = signal<Progress | undefined>(undefined)
const isSlow = signal(false)
let slow: ReturnType<typeof setTimeout> | undefined

/** For the open session; like all problems, shown only after a while. */
export const lastingProgress: ReadonlySignal<Progress | undefined> = computed(() => (isSlow.value ? progressNow.value : undefined))

export function noteProgress(progress: Progress | undefined): void {
  progressNow.value = progress
  if (progress !== undefined) {
    slow ??= setTimeout(() => {
      isSlow.value = true
    }, lastsAfterMs)
    return
  }
  clearTimeout(slow)
  slow = undefined
  isSlow.value = false
}

/** Since when there has been no connection, in ms since 1970. */
export const awaySince: ReadonlySignal<number | undefined> = awaySinceNow

export function noteLink(change: Partial<LinkFacts>): void {
  facts.value = { ...facts.peek(), ...change }
  settle()
}

/**
 * Watches for events after which the connection may be back, and calls `wake`: network changes, the page becoming visible, a phone waking up.
 * `shown` reports whether the app is visible, and `lost` is called when the device reports that its network is gone.
 */
export function watchDevice(on: { wake(): void; lost(): void; shown(isShown: boolean): void }): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  const network = () => {
    noteLink({ isOnline: navigator.onLine })
    if (navigator.onLine) on.wake()
    else on.lost()
  }
  const visibility = () => {
    on.shown(document.visibilityState === 'visible')
    if (document.visibilityState === 'visible') on.wake()
  }
  const thawed = (event: PageTransitionEvent) => {
    if (event.persisted) on.wake()
  }
  const resumed = () => on.wake()
  addEventListener('online', network, { signal })
  addEventListener('offline', network, { signal })
  addEventListener('pageshow', thawed, { signal })
  document.addEventListener('visibilitychange', visibility, { signal })
  // Chromium freezes background pages, without another visibility change.
  document.addEventListener('resume', resumed, { signal })
  noteLink({ isOnline: navigator.onLine })
  return () => stopped.abort()
}

const lastsAfterMs = 2_000
let settling: ReturnType<typeof setTimeout> | undefined

function settle(): void {
  const now = connection.peek()
  if (now.type === 'live') {
    clearTimeout(settling)
    settling = undefined
    awaySinceNow.value = undefined
    lastingNow.value = now
    return
  }
  if (now.type !== 'starting') awaySinceNow.value ??= Date.now()
  const shown = lastingNow.peek().type
  if (shown !== 'live' && shown !== 'starting') lastingNow.value = now
  else
    settling ??= setTimeout(() => {
      settling = undefined
      lastingNow.value = connection.peek()
    }, lastsAfterMs)
}
