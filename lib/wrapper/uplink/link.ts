import { Refused } from '../../client/link/refusals.ts'

/**
 * `unlinked`: the token is no longer good. `gone`: the session was deleted. `unknown`: the server has no such session, and cannot say
 * whether it was deleted. `other-key`: what the server has of the session does not open with its key; nothing is sent. All are final for
 * this process, and what waits stays on disk in all but `gone`.
 */
export type LinkState = { type: 'connecting' | 'live' | 'unlinked' | 'gone' | 'unknown' | 'other-key' } | { type: 'away'; reason: string }

/** How the link of a session stands. */
export interface Link {
  readonly state: LinkState
  /** Rejects once this process cannot deliver any more. */
  readonly cut: Promise<never>
  enter(state: LinkState): void
  /** After a final refusal of whoever asks; other errors change nothing. */
  giveUp(error: unknown): void
  /** It stays as it is. */
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
 * How long something may wait to be delivered before the line is asked for a sign of life. Each time that it was asked for the
 * same thing in vain it may wait twice as long: a large message on a slow line is not cut off for ever.
 */
export function createStallCheck() {
  let waitsFor: string | undefined
  let since = 0
  let ms = firstMs
  return {
    /** Told again and again what has waited longest, undefined for nothing; `now` in milliseconds. True once for each time it took too long. */
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
