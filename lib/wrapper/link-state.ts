import { Refused } from '../client/refusals.ts'

/**
 * `unlinked`: the token is no longer good. `gone`: the session was deleted. `other-key`: what the server has of the session does not
 * open with its key; nothing is sent, and everything stays on disk. All are final for this process.
 */
export type LinkState = { type: 'connecting' | 'live' | 'unlinked' | 'gone' | 'other-key' } | { type: 'away'; reason: string }

/** How the link of a session stands. */
export interface Link {
  readonly state: LinkState
  /** Rejects once this process cannot deliver any more. */
  readonly cut: Promise<never>
  enter(state: LinkState): void
  /** As a final refusal says; other errors change nothing. */
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
    if (isClosed || state.type === 'gone' || state.type === 'other-key') return
    state = next
    if (next.type === 'gone' || next.type === 'unlinked' || next.type === 'other-key') cut.reject(new Error(next.type))
    onChange()
  }
  return {
    get state() {
      return state
    },
    cut: cut.promise,
    enter,
    giveUp(error) {
      if (error instanceof Refused) enter({ type: error.status === 404 ? 'gone' : 'unlinked' })
    },
    close() {
      isClosed = true
    }
  }
}
