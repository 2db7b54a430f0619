import { Refused } from '../../client/link/refusals.ts'

/**
 * `unlinked`: the token is no longer valid. `gone`: the session was deleted. `unknown`: the server has no such session, and cannot say
 * whether it was deleted. `other-key`: the data on the server does not decrypt with the key of the session; nothing is sent. All are final for
 * this process, and queued messages stay on disk in all but `gone`.
 */
export type LinkState = { type: 'connecting' | 'live' | 'unlinked' | 'gone' | 'unknown' | 'other-key' } | { type: 'away'; reason: string }

/** The connection state of a session. */
export interface Link {
  readonly state: LinkState
  /** Rejects once this process can no longer deliver. */
  readonly cut: Promise<never>
  enter(state: LinkState): void
  /** Records a final refusal of a request; other errors change nothing. */
  giveUp(error: unknown): void
  /** The state becomes final. */
  close(): void
}

export function createLink(onChange: () => void): Link {
  const cut = Promise.withResolvers<never>()
  cut.promise.catch(() => {})
  let state: LinkState = { type: 'connecting' }
  let isClosed = false

  function enter(next: LinkState): void {
    if (isClosed || isSettled(state)) return
    state = next
    if (isSettled(next) || next.type === 'unlinked') cut.reject(new Error(next.type))
    onChange()
  }
  return {
    get state() {
      return state
    },
    cut: cut.promise,
    enter,
    giveUp(error) {
      if (error instanceof Refused) enter({ type: 'unlinked' })
    },
    close() {
      isClosed = true
    }
  }
}

function isSettled({ type }: LinkState): boolean {
  return type === 'gone' || type === 'unknown' || type === 'other-key'
}

const firstMs = 6_000
const longestMs = 120_000

/**
 * How long something may wait for delivery before the connection is probed. The wait doubles each time it is probed for the
 * same item without progress, so that a large message on a slow connection is not cut off forever.
 */
export function createStallCheck() {
  let waitsFor: string | undefined
  let since = 0
  let ms = firstMs
  return {
    /** Called repeatedly with the longest-waiting item, or undefined; `now` in milliseconds. Returns true once per overdue wait. */
    isStalled(oldest: string | undefined, now: number): boolean {
      if (oldest === undefined || oldest !== waitsFor) {
        waitsFor = oldest
        since = now
        ms = firstMs
        return false
      }
      if (now - since < ms) return false
      since = now
      ms = Math.min(2 * ms, longestMs)
      return true
    }
  }
}
